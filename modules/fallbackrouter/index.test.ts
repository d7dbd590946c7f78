import OpenAI, { type APIError } from 'openai'
import { Pool } from 'undici'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Occurrence } from '#kernel'
import { Circuits } from '#provider'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let first: Upstream
let second: Upstream
let gateway: TestGateway
let client: OpenAI
let told: Occurrence[]

beforeAll(async () => {
  first = await startUpstream({ apiKey: 'sk-of-the-first' })
  second = await startUpstream({ apiKey: 'sk-of-the-second' })
})

afterAll(async () => {
  await first.close()
  await second.close()
})

beforeEach(async () => {
  first.reset()
  second.reset()
  const providers = {
    a: { type: 'openai', base_url: first.baseUrl(), api_key: 'sk-of-the-first' },
    b: { type: 'openai', base_url: second.baseUrl(), api_key: 'sk-of-the-second' },
  }
  gateway = await startGateway({ config: { providers, modules: { retrypilot: { enabled: false } } } })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  told = []
  gateway.kernel.events.onAny((_, occurrence) => told.push(occurrence))
})

afterEach(() => gateway.close())

const chains = { 'gpt-4o': ['a/gpt-4o', 'b/gpt-4o'] }
const configure = (config: object) => gateway.module('fallbackrouter', { enabled: true, config })
const messages = [{ role: 'user' as const, content: 'Hello' }]
const ask = (model = 'gpt-4o', headers: Record<string, string> = {}) =>
  client.chat.completions.create({ model, messages }, { headers })

/** Asks so many times, by so many callers at once, and counts the answers; the official client takes ten times as long. */
async function askMany(calls: number, callers = 1): Promise<number> {
  const pool = new Pool(gateway.url)
  const headers = { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'gpt-4o', messages })
  let left = calls
  let answered = 0
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const answer = await pool.request({ method: 'POST', path: '/v1/chat/completions', headers, body })
      if ((await answer.body.text()).includes('Hello') && answer.statusCode === 200) answered += 1
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  await pool.close()
  return answered
}

const failureOf = (promise: Promise<unknown>): Promise<APIError> =>
  promise.then(
    () => Promise.reject(new Error('it was answered')),
    (reason: APIError) => reason,
  )
const always = Number.POSITIVE_INFINITY
const counts = (): [number, number] => [first.requests.length, second.requests.length]
const namesTold = (): string[] =>
  told.map(({ type }) => type.name).filter((name) => name.startsWith('circuit.'))

async function streamed(model = 'gpt-4o'): Promise<string> {
  let text = ''
  for await (const { choices } of await client.chat.completions.create({ model, messages, stream: true })) {
    text += choices[0]?.delta.content ?? ''
  }
  return text
}

describe('a chain', () => {
  beforeEach(() => configure({ chains }))

  test.each([
    ['an error of the provider', { status: 500 }],
    ['a limit', { retryAfter: 30 }],
    ['a key that is refused', { status: 401 }],
    ['a connection that breaks', { drop: true }],
    ['an answer that makes no sense', { garbage: 'not JSON' }],
  ])('moves on after %s, whole and streamed', async (_, script) => {
    first.reply({ ...script, times: 2 })
    expect((await ask()).choices[0]?.message.content).toContain('Hello')
    expect(await streamed()).toContain('Hello')
    expect(second.requests).toHaveLength(2)
  })

  test('moves on after a provider that does not answer in time', async () => {
    await gateway.module('idlekill', { enabled: true, config: { first_byte_ms: 100 } })
    first.reply({ hang: true })
    expect((await ask()).choices[0]?.message.content).toContain('Hello')
  })

  test('moves a stream on that breaks before its first content, and the client notices nothing', async () => {
    first.reply({ content: ['lost'], cutAfter: 1 })
    second.reply({ content: ['kept ', 'whole'] })
    expect(await streamed()).toBe('kept whole')
  })

  test('begins no stream anew that breaks after its first content', async () => {
    first.reply({ content: ['one ', 'two ', 'three'], cutAfter: 3, gapMs: 5 })
    await expect(streamed()).rejects.toThrow()
    expect(counts()).toEqual([1, 0])
  })

  test.each([400, 404, 422])('leaves a %s where it is: it is the same everywhere', async (status) => {
    first.reply({ status })
    expect(await failureOf(ask())).toMatchObject({ status })
    expect(counts()).toEqual([1, 0])
  })

  test('ends with what its last target said', async () => {
    first.reply({ status: 500 })
    second.reply({ retryAfter: 7 })
    const error = await failureOf(ask())
    expect(error).toBeInstanceOf(OpenAI.RateLimitError)
    expect(error.headers?.get('retry-after')).toBe('7')
  })

  test('does not move a call that names its provider in X-Provider', async () => {
    first.reply({ status: 500 })
    expect(await failureOf(ask('gpt-4o', { 'X-Provider': 'a' }))).toMatchObject({ status: 502 })
    expect(counts()).toEqual([1, 0])
  })

  test('skips a later target that cannot take the call, and shows a first one that cannot', async () => {
    await configure({
      chains: { 'gpt-4o': ['a/gpt-4o', 'nowhere/gpt-4o', 'b/gpt-4o'], lost: ['nowhere/x', 'b/x'] },
    })
    first.reply({ status: 500 })
    expect((await ask()).choices[0]?.message.content).toContain('Hello')
    expect(await failureOf(ask('lost'))).toMatchObject({ status: 404 })
  })

  test('shares calls by weight, and moves on all the same', async () => {
    const weighted = [
      { model: 'a/gpt-4o', weight: 3 },
      { model: 'b/gpt-4o', weight: 1 },
    ]
    await configure({ chains: { 'gpt-4o': weighted } })
    expect(await askMany(200)).toBe(200)
    expect(first.requests.length).toBeGreaterThan(115)
    expect(first.requests.length).toBeLessThan(185)
    first.reply({ status: 500, times: always })
    expect(await askMany(20)).toBe(20)
  })

  test('of a glob keeps the model that was asked for', async () => {
    await configure({ chains: { '*': ['a/*', 'b/*'] } })
    first.reply({ status: 500, times: 2 })
    await ask('gpt-4.1')
    await ask('a/o3')
    expect(second.requests.map(({ body }) => (body as { model: string }).model)).toEqual(['gpt-4.1', 'o3'])
  })

  test('is told in the trace: the attempts, and why there was another', async () => {
    first.reply({ status: 503 })
    const { response } = await client.chat.completions.create({ model: 'gpt-4o', messages }).withResponse()
    const { body } = await gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
    expect(body.attempts).toMatchObject([
      { provider: 'a', status: 503, reason_next: 'another target' },
      { provider: 'b', status: 200, reason_next: null },
    ])
    expect(JSON.stringify(body)).toContain('a/gpt-4o: status 503')
  })
})

test('with its first target dead a chain answers every call, the dead one is soon left alone, and then comes back', async () => {
  await configure({ chains, open_s: 0.5 })
  first.reply({ drop: true, times: always })
  const calls = 1000
  expect(await askMany(calls, 16)).toBe(calls)
  expect(second.requests).toHaveLength(calls)
  expect(first.requests.length).toBeLessThan(calls / 10)

  first.reset()
  const triedAgain = async (): Promise<boolean> => {
    await ask()
    return first.requests.length > 0
  }
  await expect.poll(triedAgain).toBe(true)
  second.reset()
  await ask()
  expect(second.requests).toEqual([])
  expect(namesTold()).toEqual(['circuit.opened', 'circuit.closed'])
}, 60_000)

describe('a circuit', () => {
  const state = (provider: string, model?: string) => {
    const { services } = gateway.kernel.registry.generation
    return (services.get(Circuits) as { state(provider: string, model?: string): string }).state(
      provider,
      model,
    )
  }
  const fail = async (times: number, model = 'a/gpt-4o'): Promise<void> => {
    first.reply({ status: 500, times })
    for (let n = 0; n < times; n += 1) await failureOf(ask(model))
  }

  test('opens after the threshold, without any chain: nothing is sent, and the client learns when to come back', async () => {
    await configure({ failure_threshold: 3, open_s: 20 })
    await fail(3)
    const error = await failureOf(ask('a/gpt-4o'))
    expect(error).toMatchObject({ status: 503, code: 'circuit_open' })
    expect(Number(error.headers?.get('retry-after'))).toBeGreaterThanOrEqual(19)
    expect(counts()).toEqual([3, 0])
  })

  test('is of one model at one provider, and both can be asked for', async () => {
    await configure({ failure_threshold: 3, open_s: 20 })
    await fail(3)
    await ask('a/gpt-4.1')
    await ask('b/gpt-4o')
    expect([state('a'), state('a', 'gpt-4o'), state('a', 'gpt-4.1'), state('b')]).toEqual([
      'open',
      'open',
      'closed',
      'closed',
    ])
    const { body } = await gateway.api('GET', '/api/proxy/providers/a')
    expect(body.circuit).toBe('open')
  })

  test('is told once when it opens, by both names, and in the events of the module', async () => {
    await configure({ failure_threshold: 3, open_s: 20 })
    await fail(3)
    await failureOf(ask('a/gpt-4o'))
    const opened = told.filter(({ type }) => type.name === 'circuit.opened')
    expect(opened).toMatchObject([
      { type: { alias: 'circuit_open' }, data: { provider: 'a', model: 'gpt-4o', failures: 3, open_s: 20 } },
    ])
    const { body } = await gateway.api('GET', '/api/proxy/modules/fallbackrouter/events')
    expect(body.events).toContainEqual(
      expect.objectContaining({ kind: 'circuit opened', detail: expect.stringContaining('a/gpt-4o') }),
    )
  })

  test("stays closed for callers' mistakes, limits and refused keys", async () => {
    await configure({ failure_threshold: 2 })
    await gateway.module('keypool', { enabled: false })
    for (const status of [400, 404, 422, 429, 401, 403]) {
      first.reply({ status, times: 3 })
      for (let n = 0; n < 3; n += 1) await failureOf(ask('a/gpt-4o'))
    }
    expect(state('a')).toBe('closed')
    expect(first.requests).toHaveLength(18)
  })

  test('stays closed while answers come between the failures', async () => {
    await configure({ failure_threshold: 3 })
    for (let n = 0; n < 4; n += 1) {
      await fail(2)
      await ask('a/gpt-4o')
    }
    expect(state('a')).toBe('closed')
  })

  test('opens for streams that break before their first content; one that began was an answer', async () => {
    await configure({ failure_threshold: 2, open_s: 20 })
    first.reply({ content: ['one ', 'two ', 'three'], cutAfter: 3, gapMs: 5, times: 2 })
    for (let n = 0; n < 2; n += 1) await expect(streamed('a/gpt-4o')).rejects.toThrow()
    expect(state('a')).toBe('closed')
    first.reply({ content: ['lost'], cutAfter: 1, times: 2 })
    for (let n = 0; n < 2; n += 1) await expect(streamed('a/gpt-4o')).rejects.toThrow()
    expect(state('a')).toBe('open')
  })

  test('lets one call through when its time is over, and closes when that one is answered', async () => {
    await configure({ failure_threshold: 2, open_s: 0.3 })
    await fail(2)
    await expect.poll(() => state('a')).toBe('half_open')
    await ask('a/gpt-4o')
    expect(state('a')).toBe('closed')
    expect(namesTold()).toEqual(['circuit.opened', 'circuit.closed'])
  })

  test('opens again when that one fails, and says so only once', async () => {
    await configure({ failure_threshold: 2, open_s: 0.3 })
    await fail(2)
    await expect.poll(() => state('a')).toBe('half_open')
    await fail(1)
    expect(state('a')).toBe('open')
    expect(namesTold()).toEqual(['circuit.opened'])
  })

  test('keeps its state when the module is reconfigured', async () => {
    await configure({ failure_threshold: 2, open_s: 20 })
    await fail(2)
    await configure({ chains })
    expect(state('a')).toBe('open')
    await ask()
    expect(counts()).toEqual([2, 1])
  })

  test('of every target open, the call is refused with the soonest time', async () => {
    await configure({ chains, failure_threshold: 1, open_s: 20 })
    first.reply({ status: 500 })
    second.reply({ status: 500 })
    await failureOf(ask())
    const error = await failureOf(ask())
    expect(error).toMatchObject({ status: 503, code: 'circuit_open' })
    expect(error.message).toContain('a kept failing')
    expect(counts()).toEqual([1, 1])
  })
})

test('a project can have chains and circuits of its own, told together unless they are only tried in shadow', async () => {
  await configure({ failure_threshold: 100 })
  const bindings = '/api/proxy/modules/fallbackrouter/bindings'
  const config = { chains, failure_threshold: 1, open_s: 60 }
  const bound = { name: 'docs', config, when: { projects: ['docs'] } }
  expect((await gateway.api('POST', bindings, bound)).status).toBe(201)
  const headers = { 'x-project': 'docs' }
  const circuit = async () => (await gateway.api('GET', '/api/proxy/providers/a')).body.circuit
  first.reply({ status: 500, times: 2 })
  await failureOf(ask('a/gpt-4o'))
  expect(await circuit()).toBe('closed')
  expect((await ask('gpt-4o', headers)).choices[0]?.message.content).toContain('Hello')
  expect([counts(), await circuit()]).toEqual([[2, 1], 'open'])
  await gateway.api('PUT', `${bindings}/docs`, { mode: 'shadow' })
  expect(await circuit()).toBe('closed')
})
