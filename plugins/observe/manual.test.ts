import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway
let user: { userId: string; key: string }

beforeAll(async () => {
  gateway = await startGateway()
  user = await gateway.signUp('teller')
})

afterAll(() => gateway.close())

const add = (body: unknown, key = user.key) => gateway.api('POST', '/api/observe/traces', body, key)

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString()

test('a trace that somebody tells of is theirs, and is like any other', async () => {
  const began = daysAgo(10)
  const at = Date.parse(began) - 7_200_000
  const told = {
    model: 'gpt-4o-mini',
    provider: 'openai',
    request: { messages: [{ role: 'user', content: 'Hi' }] },
    response: {
      choices: [{ message: { content: 'Hello' } }],
      usage: { prompt_tokens: 1000, completion_tokens: 100 },
    },
    latency_ms: 1500,
    ttft_ms: 200,
    project: 'elsewhere',
    tags: { team: 'x' },
    timestamp: `${began.slice(0, -1)}+02:00`,
  }
  const { status, body } = await add(told)
  expect(status).toBe(201)
  expect(body).toMatchObject({
    source: 'manual',
    user_id: user.userId,
    status: 'ok',
    status_code: 200,
    timestamp: new Date(at).toISOString(),
    completed_at: new Date(at + 1500).toISOString(),
    latency_ms: 1500,
    ttft_ms: 200,
    overhead_ms: 0,
    tokens_in: 1000,
    tokens_out: 100,
    cost_usd: 0.00021,
    project: 'elsewhere',
    tags: { team: 'x' },
    request: told.request,
    response: told.response,
    body_status: 'stored',
  })
  expect(body.id).toMatch(/^tr_/)
  expect((await gateway.api('GET', `/api/observe/traces/${body.id}`, undefined, user.key)).body).toEqual(body)
})

test('its cost is what was said, what the price makes of it, or not known', async () => {
  const usage = { input: 1000, output: 1000 }
  expect((await add({ model: 'gpt-4o-mini', provider: 'openai', usage, cost_usd: 0.5 })).body.cost_usd).toBe(
    0.5,
  )
  expect((await add({ model: 'gpt-4o-mini', provider: 'openai', usage })).body.cost_usd).toBe(0.00075)
  expect((await add({ model: 'my-own-model', provider: 'mine', usage })).body).toMatchObject({
    cost_usd: null,
    cost: null,
  })
})

test('reported without bodies it says that there were none, and not that they are gone', async () => {
  const usage = { input: 1, output: 1 }
  const { body } = await add({ model: 'm', usage })
  expect(body).toMatchObject({ request: null, response: null, body_status: 'none' })
  const { body: half } = await add({ model: 'm', usage, response: {} })
  expect([half.response, half.body_status]).toEqual([{}, 'stored'])
})

test("the provider's own word for the end is read from the answer, where it has one", async () => {
  const reason = async (choices: unknown) =>
    (await add({ model: 'm', response: { choices } })).body.native_finish_reason
  expect(await reason([{ finish_reason: 'stop', native_finish_reason: 'end_turn' }])).toBe('end_turn')
  expect(await reason([{ finish_reason: 'stop' }])).toBeNull()
  for (const odd of ['x', null, [], [null], [{ native_finish_reason: 7 }]])
    expect(await reason(odd)).toBeNull()
})

test('tools and searches are counted in the answer, where it says so', async () => {
  const counts = async (response: unknown) => {
    const { tool_calls, search_calls } = (await add({ model: 'm', response })).body.usage
    return [tool_calls, search_calls]
  }
  const calling = { message: { tool_calls: [{}, {}] } }
  expect(await counts({ choices: [calling, { message: { function_call: { name: 'f' } } }] })).toEqual([
    3,
    null,
  ])
  expect(
    await counts({ choices: [{ message: {} }], usage: { server_tool_use: { web_search_requests: 4 } } }),
  ).toEqual([0, 4])
  expect(await counts({ choices: [], usage: { num_search_queries: 2 } })).toEqual([0, 2])
  for (const odd of [{ choices: 'x', usage: null }, { usage: { num_search_queries: -1 } }])
    expect(await counts(odd)).toEqual([null, null])
  for (const odd of [[null], [{ message: 1 }], [{ message: { tool_calls: 'x' } }]])
    expect(await counts({ choices: odd })).toEqual([0, null])
})

test('its source is manual, whatever is claimed', async () => {
  const { status, body } = await add({ model: 'm', usage: { input: 1, output: 1 }, source: 'proxy' })
  expect(status).toBe(400)
  expect(body.error.param).toBe('source')
})

test('an error makes it one', async () => {
  const { body } = await add({ model: 'm', request: {}, error: { code: 'overloaded', message: 'Too busy.' } })
  expect(body).toMatchObject({
    status: 'error',
    status_code: null,
    error: { code: 'overloaded', message: 'Too busy.', provider_status: null, retryable: false },
    body_status: 'stored',
  })
})

test.each([
  [{ request: {} }, 'model'],
  [{ model: 'm' }, 'body'],
  [{ model: 'm', usage: { input: -1, output: 0 } }, 'usage.input'],
  [{ model: 'm', request: {}, timestamp: '1999-12-31T23:59:59Z' }, 'timestamp'],
  [{ model: 'm', request: {}, timestamp: daysAgo(30.01) }, 'timestamp'],
  [{ model: 'm', request: {}, timestamp: daysAgo(-0.01) }, 'timestamp'],
  [{ model: 'm', request: {}, timestamp: '9999-12-31T23:59:59Z' }, 'timestamp'],
  [{ model: 'm', usage: { input: 1e300, output: 0 } }, 'usage.input'],
  [{ model: 'm', usage: { input: 0, output: 100_000_001 } }, 'usage.output'],
  [{ model: 'm', request: {}, cost_usd: 100_001 }, 'cost_usd'],
  [{ model: 'm', request: {}, user_id: 'usr_other' }, 'user_id'],
])('%j is refused, naming %s', async (told, param) => {
  const { status, body } = await add(told)
  expect(status).toBe(400)
  expect(body.error.param).toBe(param)
})

test('an admin may tell of one too', async () => {
  const { status, body } = await add({ model: 'm', response: { text: 'x' } }, gateway.adminKey)
  expect(status).toBe(201)
  expect(body.user_id).toBeNull()
})

test('a response whose usage nothing can have has none', async () => {
  const usage = { prompt_tokens: 1e300, completion_tokens: 1 }
  const { status, body } = await add({ model: 'gpt-4o', provider: 'openai', response: { usage } })
  expect(status).toBe(201)
  expect(body).toMatchObject({ tokens_in: 0, tokens_out: 0, cost_usd: 0, usage: { source: 'none' } })
})

test('no part of a usage is larger than the whole', async () => {
  const usage = { input: 10, output: 5, cached_read: 1000, reasoning: 6 }
  const { body } = await add({ model: 'gpt-4o', usage })
  expect(body.usage).toMatchObject({ input: 10, cached_read: 10, output: 5, reasoning: 5 })
})
