import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { autopilot: { sample_size: 7 } } })
  ada = await gateway.signUp('autopilot-ada')
})

beforeEach(() => upstream.reset())

afterEach(async () => {
  expect((await put({ enabled: null, reference_model: null, candidate_models: null })).status).toBe(200)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const put = (change: object, key?: string) => gateway.api('PUT', '/api/autopilot', change, key)
const shown = async () => (await gateway.api('GET', '/api/autopilot')).body
/** The place of autopilot among those that a call would meet. */
const placeOf = async (model = 'gpt-4o') => {
  const request = { model, messages: [{ role: 'user', content: 'Hi' }] }
  const { body } = await gateway.api('POST', '/api/proxy/chain/explain', { request })
  return body.modules.find(({ name }: { name: string }) => name === 'autopilot')
}
const isOn = async () => (await placeOf()).outcome !== 'idle'
const messages = [{ role: 'user' as const, content: 'Hi' }]
const ask = (model: string, key = ada.key) =>
  gateway.api('POST', '/v1/chat/completions', { model, messages }, key)
const asked = () => upstream.requests.map(({ body }) => (body as { model: string }).model)

describe('while autopilot is off', () => {
  test('calls pass it by, and its names are refused with what to do', async () => {
    expect(await isOn()).toBe(false)
    for (const model of ['autopilot', 'auto']) {
      const { status, body } = await ask(model)
      expect([status, body.error.param]).toEqual([404, 'model'])
      expect(body.error.message).toContain('PUT /api/autopilot')
    }
    expect(upstream.requests).toHaveLength(0)
  })

  test('the reference model answers to its names, and no decision is kept', async () => {
    expect((await put({ reference_model: 'gpt-4o' })).status).toBe(200)
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: ada.key })
    expect((await client.chat.completions.create({ model: 'auto', messages })).model).toBe('gpt-4o')
    expect((await ask('gpt-4o')).status).toBe(200)
    expect(asked()).toEqual(['gpt-4o', 'gpt-4o'])
    expect(await shown()).toMatchObject({
      state: 'off',
      current_route: { model: 'gpt-4o' },
      models_scored: 0,
    })
    expect((await gateway.api('GET', '/api/autopilot/decisions')).body.total).toBe(0)
    await put({ reference_model: null })
    expect(await isOn()).toBe(false)
  })

  test('its names go to the provider that the caller forces, with the reference model', async () => {
    await put({ reference_model: 'gpt-4.1' })
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${ada.key}`,
        'content-type': 'application/json',
        'x-provider': 'openai',
      },
      body: JSON.stringify({ model: 'auto', messages }),
    })
    expect([response.status, asked()]).toEqual([200, ['gpt-4.1']])
  })

  test('it is no module, and a call is explained with its place all the same', async () => {
    const names = ({ modules }: { modules: { name: string }[] }) => modules.map(({ name }) => name)
    const { body: list } = await gateway.api('GET', '/api/proxy/modules?limit=500')
    expect([list.total, names(list).includes('autopilot')]).toEqual([76, false])
    expect((await gateway.api('GET', '/api/proxy/modules/autopilot')).status).toBe(404)
    expect(await placeOf()).toMatchObject({ phase: 'route', outcome: 'idle', hooks: [] })
    await put({ reference_model: 'gpt-4o' })
    expect(await placeOf()).toMatchObject({ phase: 'route', outcome: 'runs' })
  })
})

describe('the configuration', () => {
  test.each([
    [{ enabled: true }, 'reference_model'],
    [{ reference_model: 'a', candidate_models: ['b', 'a'] }, 'candidate_models'],
    [{ candidate_models: ['a', 'a'] }, 'candidate_models'],
    [{ candidate_models: ['auto'] }, 'candidate_models.0'],
    [{ candidate_models: ['a'], judge: { model: 'a' } }, 'judge.model'],
    [{ reference_model: 'a', judge: { model: 'a' } }, 'judge.model'],
    [{ quality_threshold: 1.1 }, 'quality_threshold'],
    [{ sample_size: 201 }, 'sample_size'],
    [{ mode: 'best' }, 'mode'],
    [{ confidence: 0.5 }, 'confidence'],
    [{ threshold: 0.5 }, 'threshold'],
  ])('names the field of %j that is wrong, and stays as it was', async (change, field) => {
    const before = await shown()
    const { status, body } = await put(change)
    expect([status, body.error.message]).toEqual([400, expect.stringContaining(field)])
    expect(await shown()).toEqual(before)
  })

  test('keeps what a change does not name, and goes back to service.yaml with null', async () => {
    await put({ reference_model: 'gpt-4o', sample_size: 20 })
    const { body } = await put({ mode: 'speed' })
    expect(body.config).toMatchObject({ mode: 'speed', reference_model: 'gpt-4o', sample_size: 20 })
    const { body: cleared } = await put({ mode: null, sample_size: null })
    expect(cleared.config).toMatchObject({ mode: 'cost', sample_size: 7 })
  })

  test('is for admins', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['GET', '/scores'],
      ['GET', '/stats'],
    ])
      expect((await gateway.api(method!, `/api/autopilot${path}`, undefined, ada.key)).status).toBe(403)
  })

  test('comes with exports, and an import of it alone switches routing on and off', async () => {
    await put({ enabled: true, reference_model: 'gpt-4o', candidate_models: ['gpt-4o-mini'] })
    const { body: snapshot } = await gateway.api('GET', '/api/config/export?sections=autopilot')
    expect(snapshot.sections).toEqual({
      autopilot: {
        config: { enabled: true, reference_model: 'gpt-4o', candidate_models: ['gpt-4o-mini'] },
      },
    })
    await put({ enabled: null, reference_model: null, candidate_models: null })
    expect(await isOn()).toBe(false)
    const imported = await gateway.api('POST', '/api/config/import', { snapshot })
    expect(imported.status).toBe(200)
    await expect.poll(isOn).toBe(true)
    expect((await shown()).config).toMatchObject({ enabled: true, candidate_models: ['gpt-4o-mini'] })
    expect((await shown()).state).toBe('uncalibrated')
    const bad = structuredClone(snapshot)
    bad.sections.autopilot.config.mode = 'best'
    const refused = await gateway.api('POST', '/api/config/import', { snapshot: bad })
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining('mode')])
  })
})

test('a gateway that begins with autopilot in service.yaml routes from its first call', async () => {
  const other = await startGateway({
    upstream,
    config: { autopilot: { enabled: true, reference_model: 'gpt-4o' } },
  })
  try {
    const answer = () => other.api('POST', '/v1/chat/completions', { model: 'autopilot', messages })
    await expect.poll(async () => (await answer()).status).toBe(200)
    expect(new Set(asked())).toEqual(new Set(['gpt-4o']))
    const decisions = () => other.api('GET', '/api/autopilot/decisions')
    await expect.poll(async () => (await decisions()).body.total).toBeGreaterThan(0)
    const [decision] = (await decisions()).body.decisions
    expect(decision).toMatchObject({
      requested_model: 'autopilot',
      routed_model: 'gpt-4o',
      routed_provider: 'openai',
      reason: 'no other model qualifies',
      quality_score: 1,
      baseline_cost: decision.estimated_cost,
      estimated_savings: 0,
    })
    expect(decision.estimated_cost).toBeGreaterThan(0)
    expect(decision.actual_cost).toBeGreaterThan(0)
  } finally {
    await other.close()
  }
})

test('what was set and does not fit a new service.yaml switches autopilot off, and can be set right', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-autopilot-'))
  const open = (autopilot: object) => startGateway({ upstream, dataDir, config: { autopilot } })
  try {
    const before = await open({ reference_model: 'gpt-4o' })
    await before.api('PUT', '/api/autopilot', { enabled: true, candidate_models: ['gpt-4o-mini'] })
    await before.close()
    const after = await open({ reference_model: 'gpt-4o-mini' })
    try {
      const { body } = await after.api('GET', '/api/autopilot')
      expect(body).toMatchObject({ state: 'off', config: { enabled: false, reference_model: 'gpt-4o-mini' } })
      expect(after.logged.join('')).toContain('does not fit service.yaml')
      const { status } = await after.api('PUT', '/api/autopilot', { candidate_models: ['gpt-4.1-nano'] })
      expect(status).toBe(200)
      expect((await after.api('GET', '/api/autopilot')).body).toMatchObject({
        ...{ state: 'uncalibrated', config: { enabled: true, candidate_models: ['gpt-4.1-nano'] } },
      })
    } finally {
      await after.close()
    }
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
