import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Attacked, complies, declines, startAttacked } from '../../../test/attacked.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'

let attacked: Attacked
let gateway: TestGateway

beforeAll(async () => {
  attacked = await startAttacked()
  gateway = await startGateway({
    config: {
      egress: { allow: ['127.0.0.1'] },
      providers: { openai: { base_url: attacked.url, api_key: 'sk-test' } },
    },
  })
})

beforeEach(() => attacked.behave(declines))

afterAll(async () => {
  await gateway.close()
  await attacked.close()
})

const path = '/api/redteam/campaigns'
const api = (method: string, at: string, body?: unknown, key?: string) => gateway.api(method, at, body, key)

async function make(more: object = {}, key?: string) {
  const { status, body } = await api('POST', path, { name: 'Spring', target_url: attacked.url, ...more }, key)
  expect([status, body.error]).toEqual([201, undefined])
  return body
}

const hunt = (id: string, more: object = {}, key?: string) =>
  api('POST', `${path}/${id}/hunt`, { generations: 2, population: 10, wait_ms: 60_000, ...more }, key)

const read = async (at: string, key?: string) => (await api('GET', at, undefined, key)).body

test('a campaign is made, shown, changed and deleted, and attacks nothing until it hunts', async () => {
  const made = await make({ purpose: 'Before the release.', budget: { max_requests: 50 } })
  expect(made).toMatchObject({
    id: expect.stringMatching(/^fc_/),
    status: 'idle',
    target: { kind: 'url', has_system_prompt: false },
    budget: { max_requests: 50, max_cost_usd: null },
    coverage: { planned: 0, executed: 0, skipped: 0 },
    grade: null,
  })
  expect(attacked.attacks).toEqual([])
  expect(await read(`${path}/${made.id}`)).toEqual(made)
  const { body: changed } = await api('PUT', `${path}/${made.id}`, {
    name: 'Summer',
    budget: { max_requests: 60 },
  })
  expect(changed).toMatchObject({
    name: 'Summer',
    purpose: 'Before the release.',
    budget: { max_requests: 60 },
  })
  const { body: list } = await api('GET', `${path}?status=idle`)
  expect(list.campaigns).toMatchObject([{ id: made.id, name: 'Summer' }])
  expect((await api('DELETE', `${path}/${made.id}`)).body).toEqual({ deleted: true, id: made.id })
  expect((await api('GET', `${path}/${made.id}`)).status).toBe(404)
})

test('what is wrong with a request is said by its field', async () => {
  const refused = async (at: string, body: object) => {
    const { status, body: said } = await api('POST', at, body)
    return [status, said.error?.param]
  }
  expect(await refused(path, {})).toEqual([400, 'name'])
  expect(await refused(path, { name: 'x', attack_types: ['magic'] })).toEqual([400, 'attack_types.0'])
  expect(await refused(path, { name: 'x', budget: { max_requests: 0 } })).toEqual([
    400,
    'budget.max_requests',
  ])
  expect(await refused(path, { name: 'x', target: { kind: 'url' } })).toEqual([400, 'target.kind'])
  expect(await refused(path, { name: 'x', what: 1 })).toEqual([400, 'what'])
  const { id } = await make()
  expect(await refused(`${path}/${id}/hunt`, { generations: 11 })).toEqual([400, 'generations'])
  expect(await refused(`${path}/${id}/pause`, {})).toEqual([409, 'id'])
  expect(await refused(`${path}/${id}/resume`, {})).toEqual([409, 'id'])
  const own = await make({ target_url: undefined, target: { model: 'nobodys-model' } })
  for (const api_key of ['k', 'sy_live_of_somebody_else'])
    expect(await refused(`${path}/${own.id}/hunt`, { api_key })).toEqual([400, 'api_key'])
})

test("a hunt of the gateway takes the key of a provider, and the caller's own, which it need not be told again", async () => {
  const before = attacked.keys.length
  const keys = () => new Set(attacked.keys.slice(before))
  const one = await make({ target_url: undefined })
  expect((await hunt(one.id, { generations: 1, population: 2, api_key: 'sk-of-kay' })).status).toBe(200)
  expect(keys()).toEqual(new Set(['Bearer sk-of-kay']))
  const other = await make({ target_url: undefined })
  const own = { generations: 1, population: 2, api_key: gateway.adminKey }
  expect((await hunt(other.id, own)).status).toBe(200)
  expect(keys()).toEqual(new Set(['Bearer sk-of-kay', 'Bearer sk-test']))
})

test('a hunt says what got through, with lineage, figures and a rule that holds', async () => {
  attacked.behave(complies)
  const { id } = await make({ seed: 'spring' })
  const { status, body } = await hunt(id)
  expect([status, body.status, body.generations_run, body.total_attacks]).toEqual([200, 'completed', 2, 20])
  expect(body.bypasses).toBeGreaterThan(5)
  expect(body.vulnerabilities.length).toBeGreaterThan(2)
  expect(body.top_bypasses[0]).toMatchObject({ success: true, confidence: 1, bypassed_guardrail: 'target' })

  const { attacks } = await read(`/api/redteam/attacks?campaign_id=${id}&limit=500`)
  const ids = new Map(attacks.map((one: { id: string }) => [one.id, one]))
  const children = attacks.filter(({ parent_id }: { parent_id: string | null }) => parent_id !== null)
  expect(children.length).toBeGreaterThan(3)
  for (const { parent_id, generation, mutations } of children) {
    expect([generation, mutations.length]).toEqual([2, 1])
    expect(ids.get(parent_id)).toMatchObject({ generation: 1 })
  }
  const detail = await read(`${path}/${id}`)
  const sum = (lines: { attempts: number }[]) => lines.reduce((all, { attempts }) => all + attempts, 0)
  expect([sum(detail.results.by_type), sum(detail.results.by_generation)]).toEqual([20, 20])
  expect(detail.coverage).toEqual({ planned: 20, executed: 20, skipped: 0 })
  expect(detail.results.by_guardrail).toEqual([{ guardrail: 'target', caught: 0, missed: body.bypasses }])
  expect((await read(`/api/redteam/attacks/${attacks[0].id}`)).id).toBe(attacks[0].id)

  attacked.behave(declines)
  const more = await hunt(id, { generations: 1 })
  expect(more.body).toMatchObject({ generations_run: 1, total_attacks: 30 })
})

test('the same seed makes the same attacks, and the same report', async () => {
  attacked.behave(complies)
  const reports = []
  for (const seed of ['one', 'one', 'two']) {
    const { id } = await make({ seed })
    const { body } = await hunt(id)
    const { attacks } = await read(`/api/redteam/attacks?campaign_id=${id}&limit=500`)
    const texts = attacks.map(
      ({ payload, status, strategy }: Record<string, string>) => `${status} ${strategy} ${payload}`,
    )
    reports.push({ bypasses: body.bypasses, texts: texts.sort() })
  }
  expect(reports[0]).toEqual(reports[1])
  expect(reports[2]!.texts).not.toEqual(reports[0]!.texts)
  expect(new Set(reports[0]!.texts).size).toBe(20)
})

test('a target that declines has no bypass, and one that fails is not blocked: the hunt waits', async () => {
  const safe = await make()
  expect((await hunt(safe.id)).body).toMatchObject({ bypasses: 0, blocked: 20, inconclusive: 0 })
  expect(await read(`${path}/${safe.id}`)).toMatchObject({ grade: 'A', asr: 0, blocked_attacks: 20 })
  for (const status of [500, 429]) {
    attacked.behave(() => ({ status }))
    const { id } = await make()
    const { body } = await hunt(id, { population: 30 })
    expect(body).toMatchObject({
      status: 'paused',
      problem: { code: 'target_failing' },
      bypasses: 0,
      blocked: 0,
    })
    expect(await read(`${path}/${id}`)).toMatchObject({ grade: null, asr: null })
  }
})

test('a campaign never makes more requests than its budget, and says what it skipped', async () => {
  const { id } = await make({ budget: { max_requests: 7 } })
  const { body } = await hunt(id)
  expect(body).toMatchObject({ status: 'completed', problem: { code: 'budget_over' }, total_attacks: 7 })
  expect(attacked.attacks.length).toBe(7)
  expect(await read(`${path}/${id}`)).toMatchObject({
    coverage: { planned: 10, executed: 7, skipped: 3 },
    grade: null,
  })
  expect((await hunt(id)).body.total_attacks).toBe(7)
  expect(attacked.attacks.length).toBe(7)
})

test('a campaign never costs more than its budget, and asks no model without a price', async () => {
  const own = { target_url: undefined }
  const max = 0.001
  const { id } = await make({ ...own, budget: { max_requests: 500, max_cost_usd: max } })
  const { body } = await hunt(id, { population: 100 })
  expect(body).toMatchObject({ status: 'completed', problem: { code: 'budget_over' } })
  expect(body.cost_usd).toBeGreaterThan(max / 4)
  expect(body.cost_usd).toBeLessThanOrEqual(max)
  attacked.behave(declines)
  const free = await make({
    ...own,
    target: { model: 'openai/unknown-model' },
    budget: { max_cost_usd: max },
  })
  expect((await hunt(free.id)).body).toMatchObject({ problem: { code: 'budget_over' }, total_attacks: 0 })
  expect(attacked.attacks).toEqual([])
})

test('a hunt goes on beside its request, pauses, resumes and is cancelled, and there is one at a time', async () => {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  attacked.behave(async (attack) => {
    await opened
    return declines(attack)
  })
  const { id } = await make()
  const begun = await hunt(id, { wait_ms: 0, api_key: 'k-of-target' })
  expect([begun.status, begun.body.status]).toEqual([202, 'hunting'])
  await expect.poll(() => attacked.attacks.length).toBe(4)
  expect((await hunt(id)).status).toBe(409)
  expect((await api('PUT', `${path}/${id}`, { name: 'Other' })).status).toBe(409)
  expect((await api('DELETE', `${path}/${id}`)).status).toBe(409)
  expect((await api('POST', `${path}/${id}/pause`)).body).toMatchObject({
    status: 'paused',
    requests: 4,
    total_attacks: 0,
  })
  open()
  expect((await hunt(id)).status).toBe(409)
  const keyless = await api('POST', `${path}/${id}/resume`, { wait_ms: 60_000 })
  expect(keyless.body).toMatchObject({ status: 'paused', problem: { code: 'key_needed' } })
  const resumed = await api('POST', `${path}/${id}/resume`, { api_key: 'k-of-target', wait_ms: 60_000 })
  expect(resumed.body).toMatchObject({ status: 'completed', problem: null, total_attacks: 20, blocked: 20 })
  expect(new Set(attacked.keys)).toEqual(new Set(['Bearer k-of-target']))

  attacked.behave(() => ({ hang: true }))
  await hunt(id, { wait_ms: 0 })
  await expect.poll(() => attacked.attacks.length).toBe(4)
  expect((await api('POST', `${path}/${id}/cancel`)).body).toMatchObject({
    status: 'completed',
    total_attacks: 20,
  })
  const waiting = hunt(id)
  await expect.poll(() => attacked.attacks.length).toBe(8)
  expect((await api('DELETE', `${path}/${id}?force=true`)).status).toBe(200)
  expect([200, 404]).toContain((await waiting).status)
  expect(await read(`/api/redteam/attacks?campaign_id=${id}`)).toMatchObject({ total: 0 })
})

test('an admin who cancels the job of a hunt ends the hunt, and another one can begin', async () => {
  attacked.behave(() => ({ hang: true }))
  const { id } = await make()
  await hunt(id, { wait_ms: 0 })
  await expect.poll(() => attacked.attacks.length).toBe(4)
  await api('POST', `/api/jobs/${encodeURIComponent(`redteam.hunt:${id}:1`)}/cancel`)
  await expect.poll(async () => (await read(`${path}/${id}`)).status).toBe('completed')
  attacked.behave(declines)
  expect((await hunt(id, { generations: 1 })).body).toMatchObject({ status: 'completed', problem: null })
})

test('users have their own campaigns only, and attack the gateway in their own name', async () => {
  const [ada, eve] = [await gateway.signUp('ada'), await gateway.signUp('eve')]
  attacked.behave(complies)
  const { id } = await make({ target_url: undefined, target: { project: 'tests' } }, ada.key)
  const { body } = await hunt(id, { generations: 1 }, ada.key)
  expect(body.total_attacks).toBe(10)
  const [attack] = (await read(`/api/redteam/attacks?campaign_id=${id}`, ada.key)).attacks
  const trace = () => gateway.api('GET', `/api/observe/traces/${attack.trace_id}`)
  await expect.poll(async () => (await trace()).status).toBe(200)
  expect((await trace()).body).toMatchObject({ source: 'redteam', user_id: ada.userId, project: 'tests' })
  const [vulnerability] = (await read('/api/redteam/vulnerabilities', ada.key)).vulnerabilities
  for (const at of [
    `${path}/${id}`,
    `/api/redteam/attacks/${attack.id}`,
    `/api/redteam/vulnerabilities/${vulnerability.id}`,
  ]) {
    expect([at, (await api('GET', at, undefined, ada.key)).status]).toEqual([at, 200])
    expect([at, (await api('GET', at, undefined, eve.key)).status]).toEqual([at, 404])
    expect([at, (await api('GET', at)).status]).toEqual([at, 200])
  }
  for (const list of ['campaigns', 'attacks', 'vulnerabilities'])
    expect([list, (await read(`/api/redteam/${list}`, eve.key)).total]).toEqual([list, 0])
  expect(await read('/api/redteam/stats', eve.key)).toMatchObject({ campaigns: 0, asr: null, trend: [] })
  const stats = await read('/api/redteam/stats', ada.key)
  expect(stats).toMatchObject({ campaigns: 1, total_attacks: 10, successful_attacks: body.bypasses })
  expect(stats.trend).toMatchObject([{ attacks: 10, successes: body.bypasses }])
  expect(stats.vulnerabilities.open).toBe(body.vulnerabilities.length)
  expect((await api('POST', path, { name: 'x', target_url: attacked.url }, eve.key)).status).toBe(403)
})

test('a hunt waits when the day has no attacks left', async () => {
  await gateway.kernel.registry.change('redteam', {
    config: { requests_per_day: 5, addresses_by: 'everybody' },
  })
  const { key } = await gateway.signUp('kim')
  const { id } = await make({}, key)
  const { body } = await hunt(id, {}, key)
  expect(body).toMatchObject({ status: 'paused', problem: { code: 'rate_limited' }, total_attacks: 5 })
  expect(attacked.attacks.length).toBe(5)
  const usual = { requests_per_day: 2000, addresses_by: 'admins' }
  await gateway.kernel.registry.change('redteam', { config: usual })
})

test('a judge decides where no sign does, and a model puts attacks in other words', async () => {
  const asked: string[] = []
  attacked.behave(({ messages, model }) => {
    if (model === 'judge') return { content: '{"outcome": "complied", "confidence": 0.9}' }
    if (model === 'attacker') {
      const [text] = messages.slice(-1)
      return { content: `Kindly: ${text!.content}` }
    }
    asked.push(messages.at(-1)!.content ?? '')
    return { content: 'The ferries begin early, and the quiet deck is lovely.' }
  })
  const { id } = await make({
    target_url: undefined,
    target: { model: 'openai/attacked' },
    attack_types: ['system_prompt_leak'],
    strategies: ['role_play', 'authority'],
  })
  const { body } = await hunt(id, { judge_model: 'openai/judge', model: 'openai/attacker' })
  expect(body).toMatchObject({ status: 'completed', problem: null, bypasses: body.total_attacks })
  expect(body.total_attacks).toBeGreaterThan(8)
  expect(body.top_bypasses[0].detectors).toEqual([{ name: 'judge', score: 0.9 }])
  expect(asked.some((text) => text.includes('Kindly: '))).toBe(true)
})
