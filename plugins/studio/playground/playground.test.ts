import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream({ apiKey: ['sk-test', 'sk-own-and-secret'] })
  gateway = await startGateway({ upstream })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const send = (test: object, key?: string) =>
  gateway.api('POST', '/api/studio/playground', { model: 'gpt-4o-mini', ...test }, key)

const traceOf = async (id: string) => {
  const trace = () => gateway.api('GET', `/api/observe/traces/${id}`)
  await expect.poll(async () => (await trace()).status).toBe(200)
  return (await trace()).body
}

/** The events of a streamed answer. */
async function stream(test: object) {
  const response = await fetch(`${gateway.url}/api/studio/playground`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream: true, ...test }),
  })
  const text = await response.text()
  return [...text.matchAll(/^event: (\w+)\ndata: (.*)$/gm)].map(([, event, data]) => ({
    event: event!,
    data: JSON.parse(data!),
  }))
}

test('a prompt is answered through the chain, and traced as one of the playground', async () => {
  upstream.reply({ content: 'Bonjour' })
  const { status, body } = await send({
    prompt: 'Hello',
    system: 'Answer in French.',
    params: { temperature: 0.2 },
  })
  expect([status, body.error]).toEqual([200, undefined])
  expect(body).toMatchObject({
    content: 'Bonjour',
    message: { role: 'assistant', content: 'Bonjour' },
    provider: 'openai',
    finish_reason: 'stop',
    tokens_in: expect.any(Number),
    latency_ms: expect.any(Number),
  })
  expect(upstream.requests.at(-1)!.body).toMatchObject({
    temperature: 0.2,
    messages: [
      { role: 'system', content: 'Answer in French.' },
      { role: 'user', content: 'Hello' },
    ],
  })
  const trace = await traceOf(body.trace_id)
  expect(trace).toMatchObject({ source: 'playground', cost_usd: body.cost_usd })
  const { body: overview } = await gateway.api('GET', '/api/observe/overview')
  expect(overview.total_requests).toBe(0)
})

test('a stream comes as deltas, and ends with the figures of the whole', async () => {
  upstream.reply({ content: ['One', ', two', '.'] })
  const events = await stream({ messages: [{ role: 'user', content: 'Count.' }] })
  const deltas = events.flatMap(({ event, data }) => (event === 'delta' ? [data.content] : []))
  expect(deltas.join('')).toBe('One, two.')
  expect(events.at(-1)).toMatchObject({
    event: 'done',
    data: { content: 'One, two.', finish_reason: 'stop' },
  })
})

test('a failure is an error, streamed or not, without the words of the provider', async () => {
  const failure = { status: 400, error: { message: 'the prompt was: secret words' } }
  upstream.reply(failure)
  expect((await send({ prompt: 'Hello' })).status).toBe(400)
  upstream.reply(failure)
  const events = await stream({ prompt: 'Hello' })
  expect(events.map(({ event }) => event)).toEqual(['error'])
  expect(JSON.stringify(events)).not.toContain('secret words')
})

test('guards hold, and no request passes them by', async () => {
  await gateway.module('ipfence', { enabled: true, config: { deny: ['127.0.0.1'] } })
  try {
    expect((await send({ prompt: 'Hello' })).status).toBe(403)
    expect((await send({ prompt: 'Hello', modules: { ipfence: false } })).status).toBe(400)
  } finally {
    await gateway.module('ipfence', { enabled: false, config: null })
  }
})

test('other modules are passed by where the request says so', async () => {
  await gateway.module('cachelayer', { enabled: true })
  try {
    for (let n = 0; n < 2; n += 1) await send({ prompt: 'The same', params: { temperature: 0 } })
    expect(upstream.requests).toHaveLength(1)
    await send({ prompt: 'The same', params: { temperature: 0 }, modules: { cachelayer: false } })
    expect(upstream.requests).toHaveLength(2)
  } finally {
    await gateway.module('cachelayer', { enabled: false })
  }
})

test('a key in the request serves that call only, and is found nowhere', async () => {
  const { key } = await gateway.signUp('own')
  const { status, body } = await send(
    { prompt: 'Hello', provider: 'openai', api_key: 'sk-own-and-secret' },
    key,
  )
  expect([status, body.error]).toEqual([200, undefined])
  expect(upstream.requests.at(-1)!.headers.authorization).toBe('Bearer sk-own-and-secret')
  expect(JSON.stringify(await traceOf(body.trace_id))).not.toContain('own-and-secret')
  expect(gateway.logged.join('')).not.toContain('own-and-secret')
  await send({ prompt: 'Hello' }, key)
  expect(upstream.requests.at(-1)!.headers.authorization).toBe('Bearer sk-test')
})

test.each([
  ['neither a prompt nor messages', {}, 'prompt'],
  ['both of them', { prompt: 'a', messages: [{ role: 'user', content: 'b' }] }, 'messages'],
  ['a key without a provider', { prompt: 'a', api_key: 'sk-x' }, 'provider'],
  ['messages as parameters', { prompt: 'a', params: { messages: [] } }, 'params'],
  ['a module that is switched on', { prompt: 'a', modules: { cachelayer: true } }, 'modules.cachelayer'],
  ['an unknown field', { prompt: 'a', temperature: 1 }, 'temperature'],
])('%s is a bad request that names the field', async (_, test, param) => {
  const { status, body } = await send(test)
  expect([status, body.error.param]).toEqual([400, param])
})
