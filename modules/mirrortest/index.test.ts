import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Script, startUpstream, type Upstream } from '../../test/upstream/index.ts'

let main: Upstream
let other: Upstream
let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  main = await startUpstream()
  other = await startUpstream()
  const like = { type: 'openai', api_key: 'sk-test' }
  gateway = await startGateway({
    config: {
      providers: {
        main: { ...like, base_url: main.baseUrl(), models: ['gpt-*'], region: 'eu' },
        other: { ...like, base_url: other.baseUrl(), models: ['rival'], region: 'us' },
      },
      prices: {
        'main/gpt-4o': { input_usd_per_m: 1, output_usd_per_m: 2 },
        'other/rival': { input_usd_per_m: 10, output_usd_per_m: 20 },
      },
      modules: { retrypilot: { enabled: false } },
    },
  })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
})

beforeEach(() => {
  main.reset()
  other.reset()
})

afterAll(async () => {
  await gateway.close()
  await Promise.all([main.close(), other.close()])
})

async function configure(config: Record<string, unknown> = {}): Promise<void> {
  await gateway.module('mirrortest', { enabled: true, config: null })
  await gateway.module('mirrortest', { config: { target: 'rival', percent: 100, ...config } })
}

const question = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hello' }] }

/** The text that the client gets, and the id of its trace. */
async function ask(stream = false, headers: Record<string, string> = {}, request = question) {
  const { data, response } = await client.chat.completions
    .create({ ...request, stream }, { headers })
    .withResponse()
  let text = ''
  if ('choices' in data) text = data.choices[0]!.message.content ?? ''
  else for await (const { choices } of data) text += choices[0]?.delta.content ?? ''
  return { text, id: response.headers.get('x-trace-id')! }
}

/** The comparison that a call led to; waits until there is one. */
const comparisonOf = (id: string) =>
  vi.waitFor(async () => {
    const { body } = await gateway.api('GET', `/api/modules/mirrortest/comparisons?trace_id=${id}`)
    expect(body.comparisons).toHaveLength(1)
    return body.comparisons[0]
  }, 20_000)

const settled = (id: string) =>
  vi.waitFor(async () => {
    const { status } = await gateway.api('GET', `/api/observe/traces/${id}`)
    expect(status).toBe(200)
  }, 20_000)

const report = async () => (await gateway.api('GET', '/api/modules/mirrortest/report')).body

const usage = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
})

describe.each([false, true])('stream: %s', (stream) => {
  test('a copy is compared with the answer that the client got', async () => {
    await configure()
    main.reply({ content: 'The cat sat on the mat.', usage: usage(5, 7) })
    other.reply({ content: 'The cat sat on the sofa.', usage: usage(6, 8) })
    const { text, id } = await ask(stream)
    expect(text).toBe('The cat sat on the mat.')
    expect(await comparisonOf(id)).toMatchObject({
      trace_id: id,
      configuration: 'mirrortest',
      target: 'rival',
      source: { provider: 'main', model: 'gpt-4o', cost_usd: (5 + 2 * 7) / 1e6, output_tokens: 7 },
      mirror: { provider: 'other', model: 'rival', cost_usd: (60 + 20 * 8) / 1e6, output_tokens: 8 },
      problem: null,
      similarity: expect.closeTo(9 / 11, 5),
      length_ratio: expect.closeTo(24 / 23, 5),
      structure: null,
    })
    expect(other.last().body).toMatchObject({ model: 'rival', messages: question.messages })
  })

  test('the client waits for no copy, and neither does the end of its call', async () => {
    await configure()
    const gate = Promise.withResolvers<void>()
    other.reply({ content: 'late', gate: { opened: gate.promise } })
    const { id } = await ask(stream)
    await settled(id)
    await other.received(1)
    gate.resolve()
    expect(await comparisonOf(id)).toMatchObject({ problem: null })
  })

  test.each<[string, Script, Record<string, unknown>]>([
    ['fails', { status: 500, error: { message: 'words of the prompt' } }, {}],
    ['cannot be reached', { drop: true }, {}],
    ['takes too long', { hang: true }, { timeout_s: 0.05 }],
  ])('a mirror that %s changes nothing for the client', async (_, script, config) => {
    await configure(config)
    main.reply({ content: 'as ever' })
    other.reply(script)
    const { text, id } = await ask(stream)
    expect(text).toBe('as ever')
    const comparison = await comparisonOf(id)
    expect(comparison).toMatchObject({ problem: expect.stringMatching(/./), similarity: null })
    expect(comparison.problem).not.toContain('words of the prompt')
  })
})

test('answers in JSON are compared by their fields and types', async () => {
  await configure()
  for (const [content, structure] of [
    ['{"name": "Bern", "people": 134000, "rivers": ["Aare"]}', 'same'],
    ['{"name": "Bern", "people": "many", "rivers": ["Aare"]}', 'different'],
    ['Bern has many people.', 'different'],
  ]) {
    main.reply({ content: '{"people": 1, "rivers": [], "name": "x"}'.replace('[]', '["Rhine", "Ill"]') })
    other.reply({ content: content! })
    expect((await comparisonOf((await ask()).id)).structure).toBe(structure)
  }
})

test('the report sums up by model and target', async () => {
  await configure({ target: 'other/rival' })
  main.reply({ content: 'one two', usage: usage(10, 10), times: 3 })
  other.reply({ content: 'one two', usage: usage(10, 10), times: 2 })
  other.reply({ status: 500 })
  for (let n = 0; n < 3; n += 1) await comparisonOf((await ask()).id)
  const found = (await report()).models.find(({ target }: { target: string }) => target === 'other/rival')
  expect(found).toMatchObject({
    model: 'main/gpt-4o',
    compared: 2,
    failed: 1,
    similarity: 1,
    length_ratio: 1,
    cost_usd: { source: (2 * 30) / 1e6, mirror: (2 * 300) / 1e6 },
    latency_ms: { p50: { source: expect.any(Number), mirror: expect.any(Number) } },
  })
})

test('copies beyond the bound are dropped and counted', async () => {
  await configure({ max_in_flight: 1 })
  const before = (await report()).dropped
  const gate = Promise.withResolvers<void>()
  other.reply({ gate: { opened: gate.promise } })
  const { id } = await ask()
  await other.received(1)
  await settled((await ask()).id)
  await vi.waitFor(async () => expect((await report()).dropped).toBe(before + 1), 10_000)
  gate.resolve()
  await comparisonOf(id)
  expect(other.requests).toHaveLength(1)
})

test('a copy goes to no place where the call itself may not go', async () => {
  await gateway.module('regionroute', { enabled: true, config: { projects: { european: ['eu'] } } })
  await configure()
  const { id } = await ask(false, { 'x-project': 'european' })
  expect((await comparisonOf(id)).problem).toMatch(/bad_request|forbidden/)
  expect([main.requests.length, other.requests.length]).toEqual([1, 0])
  await gateway.module('regionroute', { enabled: false })
})

test('a copy has the text as the guards let it pass', async () => {
  await gateway.module('maskmode', { enabled: true })
  await configure()
  const content = 'Write to ada.lovelace@example.com, please.'
  const { id } = await ask(false, {}, { ...question, messages: [{ role: 'user', content }] })
  await comparisonOf(id)
  expect(other.last().rawBody).toContain('Write to')
  expect(other.last().rawBody).not.toContain('ada.lovelace')
  await gateway.module('maskmode', { enabled: false })
})

test('calls that fail, that name their provider, and calls for embeddings are not copied', async () => {
  await configure()
  await ask(false, { 'x-provider': 'main' })
  main.reply({ status: 400 })
  await expect(ask()).rejects.toThrow()
  await client.embeddings.create({ model: 'gpt-embed', input: 'Hello' })
  const { id } = await ask()
  await comparisonOf(id)
  expect(other.requests).toHaveLength(1)
})
