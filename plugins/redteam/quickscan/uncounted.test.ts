import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Attacked, complies, startAttacked } from '../../../test/attacked.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'

let attacked: Attacked
let gateway: TestGateway

beforeAll(async () => {
  attacked = await startAttacked()
  gateway = await startGateway({
    config: {
      plans: { enforce: true },
      providers: { openai: { base_url: attacked.url, api_key: 'sk-test' } },
    },
  })
})

afterAll(async () => {
  await gateway.close()
  await attacked.close()
})

test('attacks count in no figure, cap, quota or log of the user, and a bypass is told once', async () => {
  const { key, userId } = await gateway.signUp('ada')
  const read = async (path: string, of = gateway.adminKey) =>
    (await gateway.api('GET', path, undefined, of)).body
  const rule = { name: 'no orders', action: 'log', words: ['ignore', 'confidential'] }
  expect((await gateway.api('POST', '/api/guardrails', rule)).status).toBe(201)
  const policy = { name: 'orders', action: 'log', rules: [{ field: 'request', pattern: '(?i)instructions' }] }
  expect((await gateway.api('POST', '/api/trust/policies', policy)).status).toBe(201)
  const caps = { daily_cap: 0.000_001 }
  expect((await gateway.api('PUT', `/api/users/${userId}/spend/cap`, caps)).status).toBe(200)

  attacked.behave(complies)
  const scans = [1, 2].map(() => gateway.api('POST', '/api/redteam/quickscan', {}, key))
  for (const { status, body } of await Promise.all(scans)) expect([status, body.bypassed]).toEqual([200, 5])
  await expect.poll(async () => (await read('/api/observe/traces?source=redteam')).total).toBe(10)

  expect(await read('/api/auth/me/usage', key)).toMatchObject({ requests: 0, tokens_in: 0, cost_usd: 0 })
  expect(await read('/api/observe/overview', key)).toMatchObject({ total_requests: 0, total_cost_usd: 0 })
  const spend = await read(`/api/users/${userId}/spend`)
  expect(spend).toMatchObject({ today: 0 })
  const { daily } = await read(`/api/users/${userId}/spend/history`)
  expect(daily.filter(({ requests }: { requests: number }) => requests > 0)).toEqual([])
  expect(await read('/api/guardrails/stats')).toMatchObject({ total_checks: 0, rule_hits: [] })
  const ledger = await read('/api/trust/ledger?limit=500')
  expect(JSON.stringify(ledger)).not.toContain('policy.violated')
  const { triggers } = await read('/api/upgrade-prompts', key)
  expect(triggers).toMatchObject([{ trigger: 'redteam_bypass_detected', target_tier: 'team' }])
})

test('the whole gateway sees what attacks cost, under their source', async () => {
  const { body } = await gateway.api('GET', '/api/observe/overview?source=redteam')
  expect(body).toMatchObject({ total_requests: 10 })
  expect(body.total_cost_usd).toBeGreaterThan(0)
})
