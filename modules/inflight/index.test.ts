import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { CallStarted } from '#kernel'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Script, startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: OpenAI
let bob: OpenAI
let count = 0
let started = 0

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: {
      prices: { 'openai/gpt-4o-mini': { input_usd_per_m: 1, output_usd_per_m: 2 } },
      modules: { retrypilot: { enabled: false }, inflight: { enabled: true } },
    },
  })
  const clientOf = async (name: string): Promise<OpenAI> =>
    new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: (await gateway.signUp(name)).key, maxRetries: 0 })
  ada = await clientOf('ada')
  bob = await clientOf('bob')
  gateway.kernel.events.on(CallStarted, () => {
    started += 1
  })
})

beforeEach(() => {
  upstream.reset()
  count += 1
  started = 0
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

interface Asked {
  readonly stream?: boolean
  readonly signal?: AbortSignal
  readonly headers?: Record<string, string>
}

const usage = { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 }
const fullCost = (100 + 2 * 50) / 1e6

/** Asks the question of this test. */
const ask = (client: OpenAI, { stream = false, signal, headers = {} }: Asked = {}): Promise<Response> =>
  client.chat.completions
    .create(
      { model: 'gpt-4o-mini', messages: [{ role: 'user', content: `question ${count}` }], stream },
      { headers, ...(signal && { signal }) },
    )
    .asResponse()

/** Answers the question of this test, and no other call: one of those that pass may be the first to arrive. */
const answer = (script: Script): void => upstream.reply({ text: 'question' }, script)

/** Waits until so many calls have come as far as they can. */
async function waiting(calls: number): Promise<void> {
  await expect.poll(() => started).toBe(calls)
  await passing()
}

/** Makes another call: what came to the gateway before it has gone as far as it can. */
async function passing(): Promise<void> {
  upstream.reply({ text: 'bystander' }, { content: 'past' })
  const passed = await bob.chat.completions
    .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: `bystander ${count}` }] })
    .asResponse()
  await passed.text()
}

const askedOf = ({ requests }: Upstream) => requests.filter(({ rawBody }) => rawBody.includes('question'))

function held() {
  const gate = Promise.withResolvers<void>()
  return { opened: gate.promise, open: gate.resolve }
}

const traceOf = ({ headers }: { readonly headers: Headers }) =>
  vi.waitFor(async () => {
    const { status, body } = await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
    expect(status).toBe(200)
    return body
  }, 20_000)

const newestTraces = async (model = 'gpt-4o-mini') =>
  (await gateway.api('GET', `/api/observe/traces?model=${model}&limit=200`)).body.traces

/** Reads a stream until a text has come; returns what reads on. */
async function readUntil(response: Response, text: string) {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let read = ''
  while (!read.includes(text)) read += (await reader.read()).value
  return {
    leave: () => reader.cancel(),
    async rest(): Promise<string> {
      for (;;) {
        const { done, value } = await reader.read()
        if (done) return read
        read += value
      }
    },
  }
}

describe.each([false, true])('stream: %s', (stream) => {
  test('a hundred calls at a time are one for the provider, which the first pays', async () => {
    const gate = held()
    answer({ content: 'Shared.', usage, gate })
    const all = Array.from({ length: 100 }, () => ask(ada, { stream }))
    await waiting(100)
    gate.open()
    const responses = await Promise.all(all)
    const texts = new Set<boolean>()
    for (const response of responses) texts.add((await response.text()).includes('Shared'))
    expect([...texts]).toEqual([true])
    expect(askedOf(upstream)).toHaveLength(1)

    const traces = await Promise.all(responses.map(traceOf))
    const [first, ...none] = traces.filter(({ cost_usd }) => cost_usd > 0)
    expect([first.cost_usd, none]).toEqual([fullCost, []])
    const joined = traces.filter(({ cached }) => cached)
    expect(joined).toHaveLength(99)
    expect(joined[0]).toMatchObject({ status: 'cache_hit', cost_usd: 0, cost: { saved_usd: fullCost } })
    expect(joined[0].attempts).toEqual([])
    expect(JSON.stringify(joined[0])).toContain(first.id)
  })

  test('the first client may leave before the answer: the others get it, and the first pays all of it', async () => {
    const gate = held()
    answer({ content: 'Shared.', usage, gate })
    const leaving = new AbortController()
    const first = ask(ada, { stream, signal: leaving.signal })
    await upstream.received(1)
    const all = Array.from({ length: 5 }, () => ask(ada, { stream }))
    await waiting(6)
    leaving.abort()
    await expect(first).rejects.toThrow()
    await passing()
    gate.open()
    for (const response of await Promise.all(all)) expect(await response.text()).toContain('Shared')
    expect(askedOf(upstream).map(({ aborted }) => aborted)).toEqual([false])
    await expect
      .poll(async () =>
        (await newestTraces()).find(({ status }: { status: string }) => status === 'client_abort'),
      )
      .toMatchObject({ cost_usd: fullCost })
  })

  test('the provider is left when the last client leaves', async () => {
    answer({ hang: true })
    const leaving = new AbortController()
    const all = Array.from({ length: 3 }, () => ask(ada, { stream, signal: leaving.signal }))
    await waiting(3)
    leaving.abort()
    await Promise.allSettled(all)
    const [request] = askedOf(upstream)
    await request!.closed
    expect(request!.aborted).toBe(true)
  })

  test('users share nothing unless that is wanted', async () => {
    const gate = held()
    answer({ content: 'Shared.', gate, times: 2 })
    const all = [ask(ada, { stream }), ask(bob, { stream })]
    await waiting(2)
    expect(askedOf(upstream)).toHaveLength(2)
    gate.open()
    for (const response of await Promise.all(all)) await response.text()

    await gateway.module('inflight', { config: { share: 'everyone' } })
    upstream.reset()
    started = 0
    const next = held()
    answer({ content: 'Shared.', gate: next })
    const shared = [ask(ada, { stream }), ask(bob, { stream })]
    await waiting(2)
    next.open()
    for (const response of await Promise.all(shared)) expect(await response.text()).toContain('Shared')
    expect(askedOf(upstream)).toHaveLength(1)
    await gateway.module('inflight', { config: { share: null } })
  })

  test('a failure of the provider is told to all', async () => {
    const gate = held()
    answer({ status: 422, error: { message: 'not like this' }, gate })
    const all = Array.from({ length: 3 }, () => ask(ada, { stream }).catch((error) => error))
    await waiting(3)
    gate.open()
    const errors = await Promise.all(all)
    expect(errors.map(({ status, error }) => [status, error.module])).toEqual(Array(3).fill([422, undefined]))
    expect(askedOf(upstream)).toHaveLength(1)
  })

  test('a client that wants an answer of its own gets one', async () => {
    const gate = held()
    answer({ content: 'Own.', gate, times: 3 })
    const all = ['no-store', 'no-cache', 'max-age=60'].map((control) =>
      ask(ada, { stream, headers: { 'cache-control': control } }),
    )
    await waiting(3)
    gate.open()
    for (const response of await Promise.all(all)) await response.text()
    expect(askedOf(upstream)).toHaveLength(3)
  })
})

test('who comes late to a stream gets what was sent, and follows', async () => {
  const gate = { ...held(), after: 3 }
  answer({ content: ['one ', 'two ', 'three ', 'four'], gate })
  const early = await readUntil(await ask(ada, { stream: true }), 'one ')
  const late = await readUntil(await ask(ada, { stream: true }), 'one ')
  gate.open()
  for (const text of await Promise.all([early.rest(), late.rest()])) expect(text).toMatch(/four.*\[DONE\]/s)
  expect(askedOf(upstream)).toHaveLength(1)
})

test('the first client may leave in the middle of a stream, and pays all of it', async () => {
  const gate = { ...held(), after: 3 }
  answer({ content: ['one ', 'two ', 'three ', 'four'], usage, gate })
  const response = await ask(ada, { stream: true })
  const first = await readUntil(response, 'one ')
  const second = await readUntil(await ask(ada, { stream: true }), 'one ')
  await first.leave()
  await passing()
  gate.open()
  expect(await second.rest()).toMatch(/four.*\[DONE\]/s)
  expect(await traceOf(response)).toMatchObject({ status: 'client_abort', cost_usd: fullCost })
})

test('a plain call and a stream of the same question are one call', async () => {
  for (const stream of [false, true]) {
    upstream.reset()
    started = 0
    const gate = held()
    answer({ content: 'Shared.', gate })
    const first = ask(ada, { stream })
    await upstream.received(1)
    const second = ask(ada, { stream: !stream })
    await waiting(2)
    gate.open()
    for (const response of await Promise.all([first, second]))
      expect(await response.text()).toContain('Shared')
    expect(askedOf(upstream)).toHaveLength(1)
  }
})

test('a limit that ends the first call ends no other: those that wait begin anew, together', async () => {
  await gateway.module('idlekill', { config: { total_ms: 1500 } })
  answer({ hang: true })
  const first = ask(ada).catch((error) => error)
  await upstream.received(1)
  await gateway.module('idlekill', { config: { total_ms: null } })
  const others = [ask(ada), ask(ada)]
  await waiting(3)
  answer({ content: 'After all.' })
  expect(await first).toMatchObject({ status: 504 })
  for (const response of await Promise.all(others)) expect(await response.text()).toContain('After all.')
  expect(askedOf(upstream)).toHaveLength(2)
})
