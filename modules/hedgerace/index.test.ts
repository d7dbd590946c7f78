import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Dropin, writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Script, startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Keeps the calls of one project out of Brussels. */
const residency: Dropin = {
  manifest: { stage: 'route', failure: 'closed' },
  setup: `return { eligible: ({ region }, { context }) =>
    context.project === 'american' && region !== 'us' ? 'it is in ' + region : undefined }`,
}

let us: Upstream
let eu: Upstream
let gateway: TestGateway
let client: OpenAI
let remove: () => Promise<void>

beforeAll(async () => {
  us = await startUpstream()
  eu = await startUpstream()
  const dropins = await writeDropins({ residency })
  remove = dropins.remove
  const like = { type: 'openai', models: ['gpt-*'], api_key: 'sk-test' }
  const providers = {
    america: { ...like, base_url: us.baseUrl(), region: 'us' },
    brussels: { ...like, base_url: eu.baseUrl(), region: 'eu' },
  }
  const prices = Object.fromEntries(
    ['america/gpt-4o', 'brussels/gpt-4o', 'brussels/gpt-4.1'].map((model, i) => [
      model,
      { input_usd_per_m: 10 ** i, output_usd_per_m: 10 ** i },
    ]),
  )
  gateway = await startGateway({ config: { providers, prices, plugin_dirs: [dropins.folder] } })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
})

beforeEach(() => {
  us.reset()
  eu.reset()
})

afterEach(() => gateway.module('hedgerace', { enabled: false }))

afterAll(async () => {
  await gateway.close()
  await Promise.all([us.close(), eu.close(), remove()])
})

async function configure(config: Record<string, unknown>): Promise<void> {
  await gateway.module('hedgerace', { enabled: true, config: null })
  await gateway.module('hedgerace', { config })
}

const quick = { delay_ms: 10, max_extra_pct: 100 }
const question = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hello' }] }
const ask = (stream = false, headers: Record<string, string> = {}) =>
  client.chat.completions.create({ ...question, stream }, { headers }).asResponse()

const traceOf = (response: { readonly headers: Headers }) =>
  vi.waitFor(async () => {
    const at = `/api/observe/traces/${response.headers.get('x-trace-id')}`
    const { status, body } = await gateway.api('GET', at)
    expect(status).toBe(200)
    return body
  }, 20_000)

describe.each([false, true])('stream: %s', (stream) => {
  test('the second provider answers for one that hangs, whose connection is closed', async () => {
    await configure(quick)
    us.reply({ hang: true })
    eu.reply({ content: ['from Brussels'] })
    const response = await ask(stream)
    expect(await response.text()).toContain('Brussels')
    await us.last().closed
    expect(us.last().aborted).toBe(true)
    const trace = await traceOf(response)
    expect(trace).toMatchObject({
      provider: 'brussels',
      decisions: [{ kind: 'hedge', chosen: 'brussels/gpt-4o' }],
      attempts: [
        { n: 1, provider: 'america', reason_next: expect.stringMatching(/^hedged after \d+ ms$/) },
        { n: 2, provider: 'brussels', status: 200, reason_next: null },
      ],
    })
    // Nothing had come of the first, so all of the cost is that of the second.
    expect(trace.cost_usd).toBeCloseTo(((trace.usage.input + trace.usage.output) * 10) / 1e6, 12)
  })

  test('the first provider answers if it is the first after all, and the second connection is closed', async () => {
    await configure(quick)
    const gate = Promise.withResolvers<void>()
    us.reply({ content: 'from America', gate: { opened: gate.promise } })
    eu.reply({ hang: true })
    const asked = ask(stream)
    await eu.received(1)
    gate.resolve()
    const response = await asked
    await response.text()
    await eu.last().closed
    expect([eu.last().aborted, (await traceOf(response)).provider]).toEqual([true, 'america'])
  })

  test('when both fail, the client gets the error of the first', async () => {
    await configure(quick)
    const gate = Promise.withResolvers<void>()
    us.reply({ status: 400, error: { message: 'not like this' }, gate: { opened: gate.promise } })
    eu.reply({ status: 422 })
    const asked = ask(stream).catch((error) => error)
    await eu.received(1)
    gate.resolve()
    expect(await asked).toMatchObject({ status: 400, message: expect.stringContaining('not like this') })
  })
})

test('a stream that had begun without content is billed for its prompt, by the price of its own provider', async () => {
  await configure(quick)
  us.reply({ content: ['never'], hangAfter: 1 })
  eu.reply({ usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } })
  const response = await ask(true)
  await response.text()
  const { cost_usd, usage, attempts } = await traceOf(response)
  expect(attempts[0].status).toBe(200)
  expect(usage.output).toBe(3 + 1)
  const first = usage.input - 7 + 1
  expect(cost_usd).toBeCloseTo((first * 1 + 10 * 10) / 1e6, 12)
})

test('a failure before the delay is no reason to hedge', async () => {
  await configure({ ...quick, delay_ms: 60_000 })
  us.reply({ status: 400 })
  await expect(ask()).rejects.toThrow('400')
  expect(eu.requests).toHaveLength(0)
})

test('a client that leaves ends both', async () => {
  await configure(quick)
  us.reply({ hang: true })
  eu.reply({ hang: true })
  const left = new AbortController()
  const asked = client.chat.completions.create(question, { signal: left.signal })
  await Promise.all([us.received(1), eu.received(1)])
  left.abort()
  await expect(asked).rejects.toThrow()
  await Promise.all([us.last().closed, eu.last().closed])
  expect([us.last().aborted, eu.last().aborted]).toEqual([true, true])
})

test.each([
  ['that names its provider', { 'x-provider': 'america' }],
  ['that may not leave its region', { 'x-project': 'american' }],
])('a call %s is not hedged', async (_, headers) => {
  await configure(quick)
  us.reply({ content: 'late', delayMs: 100 })
  await (await ask(false, headers)).text()
  expect([us.requests.length, eu.requests.length]).toEqual([1, 0])
})

test('the models to ask second can be listed', async () => {
  await configure({ ...quick, targets: { 'gpt-4*': ['america/gpt-4o', 'brussels/gpt-4.1'] } })
  us.reply({ hang: true })
  await (await ask()).text()
  expect(eu.last().body).toMatchObject({ model: 'gpt-4.1' })
})

/** Asks so many times, by ten callers at once; resolves with the number of answers. */
async function askMany(calls: number): Promise<number> {
  let left = calls
  let answered = 0
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const text = await (await ask()).text()
      if (text.includes('Hello')) answered += 1
    }
  }
  await Promise.all(Array.from({ length: 10 }, caller))
  return answered
}

test('however slow a provider is, there are at most so many extra calls', async () => {
  await configure({ delay_ms: 1, max_extra_pct: 5 })
  us.reply({ content: 'Hello', delayMs: 40, times: Number.POSITIVE_INFINITY })
  expect(await askMany(100)).toBe(100)
  expect(eu.requests.length).toBeGreaterThan(0)
  expect(eu.requests.length).toBeLessThanOrEqual(5)
})

/** Every fiftieth call to the first provider hangs until the gate is opened. */
function hangSometimes(): () => void {
  const gate = Promise.withResolvers<void>()
  const script: Script = { content: 'Hello', gate: { opened: gate.promise } }
  us.reply((request) => request.ordinal % 50 === 0, { ...script, times: 4 })
  us.reply({ content: 'Hello', times: Number.POSITIVE_INFINITY })
  eu.reply({ content: 'Hello', times: Number.POSITIVE_INFINITY })
  return gate.resolve
}

test('with a provider of which 2 % hang, all calls are answered at once, and without it 2 % are not', async () => {
  const open = hangSometimes()
  let answered = 0
  const all = Promise.all(
    Array.from({ length: 200 }, async () => {
      await (await ask()).text()
      answered += 1
    }),
  )
  await vi.waitFor(() => expect(answered).toBe(196), 20_000)
  open()
  await all

  us.reset()
  await configure({ delay_ms: 500 })
  hangSometimes()
  expect(await askMany(200)).toBe(200)
  expect(eu.requests.length).toBeLessThanOrEqual(10)
})

test('the delay is learned from how long a model takes, when that is known', async () => {
  await configure({ max_extra_pct: 100, warmup: 20 })
  us.reply({ content: 'Hello', times: 20 })
  for (let n = 0; n < 20; n += 1) await (await ask()).text()
  const before = eu.requests.length
  us.reply({ hang: true })
  const response = await ask()
  await response.text()
  expect(eu.requests.length).toBe(before + 1)
  expect((await traceOf(response)).provider).toBe('brussels')
})
