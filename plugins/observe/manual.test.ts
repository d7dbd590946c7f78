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

test('a trace that somebody tells of is theirs, and is like any other', async () => {
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
    timestamp: '2026-05-06T07:08:09.123+02:00',
  }
  const { status, body } = await add(told)
  expect(status).toBe(201)
  expect(body).toMatchObject({
    source: 'manual',
    user_id: user.userId,
    status: 'ok',
    status_code: 200,
    timestamp: '2026-05-06T05:08:09.123Z',
    completed_at: '2026-05-06T05:08:10.623Z',
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
