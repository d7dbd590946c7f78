import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }

const documents = [{ title: 'Leave', content: 'There are 27 days of holiday a year.' }]

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  ada = await gateway.signUp('added-ada')
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const model = 'gpt-4o-mini'
const question = { role: 'user', content: 'How many days of holiday are there?' }

const post = async (at: string, body: object) => {
  const { status, body: answer } = await gateway.api('POST', at, body, ada.key)
  expect([at, status, answer.error ?? null]).toEqual([at, expect.toSatisfy((code) => code < 300), null])
  return answer
}

/** Makes a call, and returns the id of its trace. */
async function ask(fields: object): Promise<string> {
  const body = { model, messages: [question], ...fields }
  const { headers } = await gateway.api('POST', '/v1/chat/completions', body, ada.key)
  const id = headers.get('x-trace-id')!
  await expect.poll(async () => (await gateway.api('GET', `/api/observe/traces/${id}`)).status).toBe(200)
  return id
}

/** Every way in which a call is made again. */
const ways: readonly (readonly [string, (trace: string) => Promise<unknown>])[] = [
  ['a replay', (trace_id) => post('/api/replay', { trace_id, target_model: model })],
  ['the same once more', (trace) => post(`/api/replay/${trace}`, {})],
  ['a replay of trust', (original_trace_id) => post('/api/trust/replays', { original_trace_id })],
  [
    'a snapshot',
    async (trace_id) => {
      const { id } = await post('/api/studio/snapshots', { name: trace_id, trace_id })
      await post(`/api/studio/snapshots/${id}/run`, {})
    },
  ],
  [
    'an experiment',
    () =>
      post('/api/studio/experiments/run', {
        name: 'past',
        variants: ['a', 'b'].map((id) => ({ id, model })),
        dataset: { traces: { limit: 1 } },
        evaluators: [{ type: 'contains' }],
      }),
  ],
]

const sent = () => upstream.requests.map(({ body }) => body as { model: string; messages: object[] })

test.each(ways)('%s asks with the passages that the call had, and looks for no others', async (_, again) => {
  await gateway.module('contextpack', { enabled: true, config: { documents } })
  const trace = await ask({})
  const [first] = sent()
  expect(first!.messages).toHaveLength(2)
  upstream.reset()
  await again(trace)
  await expect.poll(() => upstream.requests.length, { timeout: 10_000 }).toBeGreaterThan(0)
  for (const { messages } of sent()) expect(messages).toEqual(first!.messages)
  await gateway.module('contextpack', { enabled: false })
})

test('a call that had no passages gets those of now', async () => {
  const trace = await ask({})
  await gateway.module('contextpack', { enabled: true, config: { documents } })
  upstream.reset()
  await post(`/api/replay/${trace}`, {})
  expect(sent()[0]!.messages).toHaveLength(2)
  await gateway.module('contextpack', { enabled: false })
})

test.each(ways)('%s has the messages of a template once, whatever became of it', async (way, again) => {
  const slug = `greet-${ways.findIndex(([name]) => name === way)}`
  await post('/api/studio/templates', { slug, content: 'You work for {{who}}.', model })
  const trace = await ask({ model: `template:${slug}`, template: { variables: { who: 'Acme' } } })
  await gateway.api('DELETE', `/api/studio/templates/${slug}`, undefined, ada.key)
  upstream.reset()
  await again(trace)
  await expect.poll(() => upstream.requests.length, { timeout: 10_000 }).toBeGreaterThan(0)
  const messages = [{ role: 'system', content: 'You work for Acme.' }, question]
  for (const asked of sent()) expect(asked).toMatchObject({ model, messages })
})
