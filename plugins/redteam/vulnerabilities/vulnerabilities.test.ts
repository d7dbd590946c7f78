import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Attacked, complies, declines, startAttacked } from '../../../test/attacked.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startReceiver } from '../../../test/receiver.ts'

let attacked: Attacked
let gateway: TestGateway

beforeAll(async () => {
  attacked = await startAttacked()
  gateway = await startGateway({
    config: { providers: { openai: { base_url: attacked.url, api_key: 'sk-test' } } },
  })
})

afterAll(async () => {
  await gateway.close()
  await attacked.close()
})

const api = (method: string, at: string, body?: unknown, key?: string) =>
  gateway.api(method, `/api/redteam${at}`, body, key)

async function hunted(more: object = {}, hunt: object = {}) {
  const { body: made } = await api('POST', '/campaigns', { name: 'Spring', ...more })
  const options = { generations: 1, population: 12, wait_ms: 60_000, ...hunt }
  return (await api('POST', `/campaigns/${made.id}/hunt`, options)).body
}

test('each suggested rule is one that guardrails take, and with all of them the success rate falls', async () => {
  attacked.behave(complies)
  const before = await hunted({ seed: 'rules' }, { generations: 2 })
  const { body } = await api('GET', `/vulnerabilities?campaign_id=${before.campaign_id}&limit=500`)
  const rules = body.vulnerabilities.flatMap(
    ({ suggested_rule: rule }: { suggested_rule: object }) => rule ?? [],
  )
  expect(rules.length).toBeGreaterThan(3)
  for (const rule of rules) expect((await gateway.api('POST', '/api/guardrails', rule)).status).toBe(201)
  for (const { id, reproductions } of body.vulnerabilities) {
    expect(reproductions.succeeded).toBeGreaterThan(0)
    expect(reproductions.tried).toBeGreaterThanOrEqual(reproductions.succeeded)
    const { body: verified } = await api('POST', `/vulnerabilities/${id}/verify`)
    expect(verified).toMatchObject({ status: 'mitigated', patched: true, verified_at: expect.any(String) })
    expect(verified.reproductions.tried).toBeGreaterThan(reproductions.tried)
  }
  const after = await hunted({ seed: 'rules' }, { generations: 2 })
  expect(after.bypasses).toBeLessThan(before.bypasses / 2)
  const { body: detail } = await api('GET', `/campaigns/${after.campaign_id}`)
  expect(detail.results.by_guardrail).toContainEqual(
    expect.objectContaining({ guardrail: 'guardrail', caught: after.blocked }),
  )
  const { rules: stored } = (await gateway.api('GET', '/api/guardrails?limit=500')).body
  for (const { id } of stored) await gateway.api('DELETE', `/api/guardrails/${id}`)

  const [first] = body.vulnerabilities
  expect((await api('POST', `/vulnerabilities/${first.id}/verify`)).body.status).toBe('regressed')
})

test('a vulnerability is accepted with a note, and stays so; an unanswered check changes nothing', async () => {
  attacked.behave(complies)
  const { vulnerabilities } = await hunted({ attack_types: ['data_disclosure'], strategies: [] })
  const [{ id, owasp }] = vulnerabilities
  expect(owasp).toContain('LLM02:2025')
  // Not a failure that opens the circuit of the provider.
  attacked.behave(() => ({ status: 404 }))
  expect((await api('POST', `/vulnerabilities/${id}/verify`)).body.status).toBe('open')
  const { body } = await api('PUT', `/vulnerabilities/${id}`, { status: 'accepted', note: 'A toy.' })
  expect(body).toMatchObject({ status: 'accepted', note: 'A toy.', patched: false })
  attacked.behave(declines)
  expect((await api('POST', `/vulnerabilities/${id}/verify`)).body.status).toBe('accepted')
  expect((await api('PUT', `/vulnerabilities/${id}`, { note: null })).body).toMatchObject({
    status: 'accepted',
    note: null,
  })
  const refused = await api('PUT', `/vulnerabilities/${id}`, { status: 'gone' })
  expect([refused.status, refused.body.error.param]).toEqual([400, 'status'])
  expect((await api('GET', '/vulnerabilities?status=accepted')).body.vulnerabilities).toMatchObject([{ id }])
})

test('a guard that lets attacks through is named, and one that blocks has caught them', async () => {
  attacked.behave(complies)
  await gateway.module('promptguard', { enabled: true, config: { action: 'flag' } })
  const flagged = await hunted({ attack_types: ['prompt_injection'], strategies: [], languages: ['en'] })
  const { body } = await api('GET', `/campaigns/${flagged.campaign_id}`)
  expect(body.results.by_guardrail).toMatchObject([
    { guardrail: 'promptguard', caught: 0, missed: flagged.bypasses },
  ])
  await gateway.module('promptguard', { enabled: true, config: { action: 'block' } })
  const blocked = await hunted({ attack_types: ['prompt_injection'], strategies: [], languages: ['en'] })
  const { body: after } = await api('GET', `/campaigns/${blocked.campaign_id}`)
  expect(after.results.by_guardrail[0]).toMatchObject({ guardrail: 'promptguard', caught: blocked.blocked })
  expect(blocked.blocked).toBeGreaterThan(0)
  await gateway.module('promptguard', { enabled: false })
})

test('no attack reaches an address that egress refuses', async () => {
  const inside = await startReceiver()
  const refused = await hunted({ target_url: `http://127.0.0.1:${inside.port}/v1` })
  expect(refused).toMatchObject({ status: 'failed', problem: { code: 'address_refused' }, total_attacks: 0 })
  expect(inside.received).toEqual([])
  await inside.close()
})
