import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  const experiments = {
    cheaper: { models: ['gpt-4o'], variants: { small: { model: 'gpt-4o-mini' }, usual: {} } },
  }
  gateway = await startGateway({
    upstream,
    config: {
      modules: {
        abrouter: { enabled: true, config: { experiments } },
        cachelayer: { enabled: true, config: { share: 'everyone' } },
      },
    },
  })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** Makes a call; resolves with its trace, once that is there. */
async function ask(key: string, content: string) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }),
  })
  await response.text()
  const trace = () => gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
  await expect.poll(async () => (await trace()).status).toBe(200)
  return (await trace()).body
}

interface Result {
  readonly ratings: number
  readonly errors: { readonly value: number }
}

async function results(): Promise<Result[]> {
  return (await gateway.api('GET', '/api/modules/abrouter/results?days=1')).body.results
}

test('users keep their variant, caches keep variants apart, and the results compare them', async () => {
  upstream.reply({ content: 'Hi.', times: 1000 })
  const keys: string[] = []
  for (let n = 0; n < 8; n += 1) keys.push((await gateway.signUp(`user${n}`)).key)
  const variants = new Map<string, string>()
  for (const round of [1, 2]) {
    for (const key of keys) {
      const before = upstream.requests.length
      const trace = await ask(key, `Question ${round}`)
      const sent = upstream.requests[before]?.body as { model: string } | undefined
      const model = sent?.model ?? trace.model
      if (round === 2) expect(variants.get(key)).toBe(model)
      variants.set(key, model)
      if (sent) expect(trace.facts.experiment.variant).toBe(model === 'gpt-4o-mini' ? 'small' : 'usual')
    }
  }
  expect(new Set(variants.values())).toEqual(new Set(['gpt-4o', 'gpt-4o-mini']))
  // Each variant was asked each question once: the others were answered from the cache.
  expect(upstream.requests).toHaveLength(4)
  expect(await results()).toMatchObject([
    { experiment: 'cheaper', variant: 'small', calls: 2, errors: { value: 0 } },
    { experiment: 'cheaper', variant: 'usual', calls: 2, errors: { value: 0 } },
  ])
})

test('feedback counts for the variant that answered, and a failure for the one that failed', async () => {
  const { key } = await gateway.signUp('rater')
  const { id } = await ask(key, 'Rated')
  expect((await gateway.api('POST', '/api/trust/feedback', { trace_id: id, rating: 1 })).status).toBe(201)
  await expect.poll(async () => Math.max(...(await results()).map(({ ratings }) => ratings))).toBe(1)
  upstream.reset()
  upstream.reply({ status: 400, times: 10 })
  await ask(key, 'Failing')
  expect((await results()).filter(({ errors }) => errors.value > 0)).toHaveLength(1)
})

test('no call passes it by when it fails: its variant would be missing in the comparison', async () => {
  const { body } = await gateway.api('GET', '/api/proxy/modules/abrouter')
  expect(body.failure).toBe('closed')
})

test.each([
  ['one variant', { models: ['*'], variants: { only: {} } }, 'two variants'],
  ['a weight of nothing', { models: ['*'], variants: { a: { weight: 0 }, b: {} } }, 'weight'],
  [
    'messages as parameters',
    { models: ['*'], variants: { a: { parameters: { messages: [] } }, b: {} } },
    'messages',
  ],
])('an experiment with %s is refused', async (_, experiment, said) => {
  const { status, body } = await gateway.api('PUT', '/api/proxy/modules/abrouter', {
    config: { experiments: { wrong: experiment } },
  })
  expect(status).toBe(400)
  expect(JSON.stringify(body)).toContain(said)
})
