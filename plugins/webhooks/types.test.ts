import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Each documented name that a webhook can subscribe to reaches it, from the part that emits the event. */

let upstream: Upstream
let receiver: Receiver
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  receiver = await startReceiver()
  // At this price every call that is routed elsewhere saves some dollars.
  const prices = { 'openai/gpt-4o': { input_usd_per_m: 2e6, output_usd_per_m: 2e6 } }
  const config = { egress: { allow: ['127.0.0.1'] }, plans: { enforce: true }, prices }
  gateway = await startGateway({ upstream, config })
})

afterAll(async () => {
  await gateway.close()
  await receiver.close()
  await upstream.close()
})

async function create(path: string, body: object, method = 'POST') {
  const answer = await gateway.api(method, path, body)
  expect([path, answer.status, answer.body]).toEqual([path, method === 'PUT' ? 200 : 201, expect.anything()])
  return answer.body
}

const say = async (content: string, model = 'gpt-4o-mini', key = gateway.adminKey) => {
  const body = { model, max_tokens: 100, messages: [{ role: 'user', content }] }
  return (await ask(gateway, { body, headers: { authorization: `Bearer ${key}` } })).status
}

const times = async (count: number, call: () => Promise<unknown>) => {
  for (let left = count; left > 0; left -= 50)
    await Promise.all(Array.from({ length: Math.min(left, 50) }, call))
}

/** Has the figures of calls looked at. */
const look = () => gateway.api('GET', '/api/upgrade-prompts')

/** What causes the events of each name, in their order: the first figures are of few calls. */
const causes: readonly (readonly [names: readonly string[], cause: () => Promise<unknown>])[] = [
  [['webhook.test'], () => gateway.api('POST', '/api/webhooks/test', {})],
  [
    ['batch.paused', 'batch.ended'],
    async () => {
      const input = [1, 2].map((n) => ({ messages: [{ role: 'user', content: `Item ${n}` }] }))
      const asked = { model: 'gpt-4o-mini', input, max_cost_usd: 1e-9, wait_ms: 60_000 }
      const { body } = await gateway.api('POST', '/api/forge/batch', asked)
      expect(body.status).toBe('paused')
      const more = { max_cost_usd: 1 }
      expect((await gateway.api('POST', `/api/forge/batch/${body.id}/resume`, more)).status).toBe(200)
    },
  ],
  [
    ['guardrail.violation'],
    async () => {
      await create('/api/guardrails', { name: 'no figs', action: 'block', words: ['figs'] })
      expect(await say('A basket of figs')).toBe(400)
    },
  ],
  [
    ['trust.violation', 'trust_violation'],
    async () => {
      const rules = [{ field: 'request', pattern: 'K-\\d{4}' }]
      await create('/api/trust/policies', { name: 'no codes', action: 'block', rules })
      expect(await say('The code is K-1234')).toBe(400)
    },
  ],
  [
    ['upgrade.redteam_bypass_detected'],
    async () => {
      const system_prompt = Array.from({ length: 30 }, (_, n) => `word${n}`).join(' ')
      upstream.reply({ content: system_prompt, times: 5 })
      const { body } = await gateway.api('POST', '/api/redteam/quickscan', { system_prompt })
      expect(body.bypassed).toBeGreaterThan(0)
    },
  ],
  [
    ['rate_limit_hit'],
    async () => {
      const { key } = await gateway.signUp('hasty')
      await gateway.module('rateshield', { enabled: true, config: { rules: [{ per: 'user', rpm: 1 }] } })
      expect([await say('Hello', 'mock/echo', key), await say('Hello', 'mock/echo', key)]).toEqual([200, 429])
      await gateway.module('rateshield', { enabled: false })
    },
  ],
  [
    ['cost.threshold', 'cost_threshold', 'spend.cap_exceeded'],
    async () => {
      const { userId, key } = await gateway.signUp('spender')
      await gateway.module('costcap', { enabled: true })
      await create(`/api/users/${userId}/spend/cap`, { daily_cap: 0.0005 }, 'PUT')
      const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
      upstream.reply({ usage, times: Number.POSITIVE_INFINITY })
      await expect.poll(() => say('Hello', undefined, key), { timeout: 20_000 }).toBe(429)
    },
  ],
  [
    ['upgrade.pii_detected'],
    async () => {
      await gateway.module('maskmode', { enabled: true })
      await say('Write to ada@example.com', 'mock/echo')
      await gateway.module('maskmode', { enabled: false })
    },
  ],
  [
    ['provider.error', 'provider_error', 'circuit.opened', 'circuit_open', 'provider.health_changed'],
    async () => {
      upstream.reset()
      upstream.reply({ status: 500, times: Number.POSITIVE_INFINITY })
      await times(20, () => say('Hello'))
    },
  ],
  [
    ['alert.fired'],
    () =>
      create('/api/observe/alerts', {
        name: 'failing',
        metric: 'error_rate',
        condition: 'gt',
        threshold: 0.05,
        min_samples: 1,
      }),
  ],
  [['upgrade.error_rate_high'], () => times(80, () => say('Hello', 'mock/echo'))],
  [
    ['upgrade.autoroute_cap_reached', 'upgrade.autoroute_savings_*'],
    async () => {
      upstream.reset()
      const { userId, key } = await gateway.signUp('saver')
      upstream.reply({ model: 'gpt-4.1' }, { content: '{"a": 1, "b": 1}', times: Number.POSITIVE_INFINITY })
      expect(await say('Hello', 'gpt-4o', key)).toBe(200)
      await create(
        '/api/autopilot',
        {
          ...{
            enabled: true,
            reference_model: 'gpt-4o',
            candidate_models: ['gpt-4.1-mini'],
            quality_threshold: 0,
          },
          ...{ judge: { model: 'gpt-4.1' }, max_cost_usd: 1, content: { users: [userId] } },
        },
        'PUT',
      )
      const calibrate = () => gateway.api('POST', '/api/autopilot/calibrate', { wait_ms: 60_000 })
      await expect.poll(async () => (await calibrate()).body.models_scored, { timeout: 20_000 }).toBe(1)
      await times(101, () => say('Hello', 'autopilot', key))
      const saved = async () => (await gateway.api('GET', '/api/autopilot/stats')).body.total_savings
      await expect.poll(saved, { timeout: 20_000 }).toBeGreaterThan(1000)
      await saved()
      await gateway.api('PUT', '/api/autopilot', { enabled: false, reference_model: null })
    },
  ],
  [['upgrade.trace_milestone_*'], () => times(900, () => say('Hello', 'mock/echo'))],
]

test('every documented name brings its event', async () => {
  const names = causes.flatMap(([caused]) => caused)
  for (const [n, event] of names.entries())
    await create('/api/webhooks', { name: event, url: `${receiver.url}/${n}`, events: [event] })
  const received = (name: string) => receiver.on(`/${names.indexOf(name)}`)
  for (const [caused, cause] of causes) {
    await cause()
    for (const name of caused) {
      const came = async () => {
        if (name.startsWith('upgrade.')) await look()
        return received(name).length
      }
      await expect.poll(came, { timeout: 40_000, message: name }).toBeGreaterThan(0)
      const { event } = JSON.parse(received(name)[0]!.body)
      expect(event).toBe(name.replace('*', '1000'))
    }
  }
}, 180_000)
