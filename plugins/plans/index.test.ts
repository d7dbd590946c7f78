import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Plans, type Principal } from '#kernel'
import { openLevel } from '../../storage/level.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import type { License } from './license.ts'
import { issueLicense } from './license-token.ts'
import { Prompts } from './prompts.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const verified = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
const signing = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

let upstream: Upstream
const open: TestGateway[] = []

beforeAll(async () => {
  upstream = await startUpstream()
})

afterEach(() => vi.useRealTimers())

afterAll(async () => {
  for (const gateway of open) await gateway.close()
  await upstream.close()
})

async function start(options: { license?: Partial<License>; key?: string; enforce?: boolean }) {
  const now = Math.floor(Date.now() / 1000)
  const granted = {
    jti: 'lic_1',
    sub: 'Acme',
    tier: 'pro' as const,
    limits: {},
    iat: now,
    ...options.license,
  }
  const key = options.key ?? (options.license && (await issueLicense(granted, signing)))
  const gateway = await startGateway({
    upstream,
    config: { plans: { enforce: options.enforce ?? false }, license: { public_key: verified } },
    env: key === undefined ? {} : { SERVICE_LICENSE_KEY: key },
  })
  open.push(gateway)
  return gateway
}

const licenseOf = async (gateway: TestGateway, key?: string) =>
  (await gateway.api('GET', '/api/license', undefined, key)).body

const plansOf = ({ kernel }: TestGateway) =>
  kernel.registry.get('plans').instance!.services.get(Plans) as Plans
const principal = (plan: string): Principal =>
  ({ type: 'user', keyId: 'key_1', userId: 'usr_1', plan }) as unknown as Principal

describe('a license', () => {
  test('limits the requests and the users of the installation, and says how much is used', async () => {
    const gateway = await start({ license: { limits: { requests_per_month: 3, users: 2 } } })
    const [ada, bob] = [await gateway.signUp('ada'), await gateway.signUp('bob')]
    const cat = await gateway.api('POST', '/api/auth/users', { email: 'cat@example.com' })
    expect([cat.status, cat.body.error.code]).toEqual([403, 'forbidden'])
    expect(cat.body.error.message).toContain('allows 2 users')

    const messages = [{ role: 'user', content: 'Hello' }]
    const ask = (key: string) =>
      gateway.api('POST', '/v1/chat/completions', { model: 'gpt-4o-mini', messages }, key)
    const answers = await Promise.all(Array.from({ length: 9 }, (_, n) => ask(n % 2 ? ada.key : bob.key)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3)
    const [refused] = answers.filter(({ status }) => status !== 200)
    expect(refused!.body.error).toMatchObject({
      code: 'rate_limited',
      module: 'planquota',
      details: { scope: 'installation', plan: 'pro', limit: 3 },
    })
    expect(await licenseOf(gateway)).toMatchObject({
      status: 'active',
      tier: 'pro',
      licensee: 'Acme',
      expires_at: null,
      limits: { requests_per_month: 3, users: 2 },
      usage: { requests: 3, users: 2 },
    })
    const prompts = await gateway.api('GET', '/api/upgrade-prompts')
    expect(prompts.body.usage).toEqual({ requests: 3, users: 2 })
  })

  test('of many signups at once as many succeed as there is room for', async () => {
    const gateway = await start({ license: { limits: { users: 3 } } })
    const made = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        gateway.api('POST', '/api/auth/signup', { email: `user-${n}@example.com` }),
      ),
    )
    expect(made.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(3)
  })

  test('that ends while the gateway runs limits nothing from then on', async () => {
    const exp = Math.floor(Date.now() / 1000) + 3600
    const gateway = await start({ license: { limits: { users: 0 }, exp } })
    const signUp = () => gateway.api('POST', '/api/auth/signup', { email: 'ada@example.com' })
    expect((await signUp()).status).toBe(403)
    vi.useFakeTimers({ toFake: ['Date'], now: (exp + 1) * 1000 })
    expect(await licenseOf(gateway)).toMatchObject({
      status: 'expired',
      reason: expect.stringContaining('expired on'),
      tier: 'self-hosted',
      expires_at: new Date(exp * 1000).toISOString(),
      limits: {},
    })
    expect((await signUp()).status).toBe(201)
  })

  test('that is not valid is named in the answer and in the log, and nothing is limited', async () => {
    const gateway = await start({ key: 'nonsense' })
    expect(await licenseOf(gateway)).toMatchObject({ status: 'invalid', tier: 'self-hosted', limits: {} })
    expect(gateway.logged.join('')).toContain('The license key is not a license token.')
    expect(gateway.logged.join('')).not.toContain('nonsense')
  })
})

describe('gates', () => {
  const gated = (gateway: TestGateway, plan: string) => () =>
    plansOf(gateway).demand(principal(plan), 'team', 'Campaigns')

  test('are open where nothing is enforced', async () => {
    expect(gated(await start({}), 'free')).not.toThrow()
  })

  test('compare with the plan where plans are enforced, and with the license too where there is one', async () => {
    const enforced = await start({ enforce: true })
    expect(gated(enforced, 'team')).not.toThrow()
    expect(gated(enforced, 'pro')).toThrow('Campaigns need the tier team or a higher one, and yours is pro.')
    const both = await start({ enforce: true, license: { tier: 'enterprise' } })
    expect(gated(both, 'team')).not.toThrow()
    expect(gated(both, 'free')).toThrow('yours is free')
    const licensed = await start({ license: { tier: 'pro' } })
    expect(gated(licensed, 'team')).toThrow('yours is pro')
  })
})

describe('a checkout', () => {
  let gateway: TestGateway
  let ada: { userId: string; key: string }
  let bob: { userId: string; key: string }

  beforeAll(async () => {
    gateway = await start({})
    ada = await gateway.signUp('ada')
    bob = await gateway.signUp('bob')
  })

  const begin = (body: object, key: string) => gateway.api('POST', '/api/checkout', body, key)
  const planOf = async ({ key }: { key: string }) =>
    (await gateway.api('GET', '/api/auth/me', undefined, key)).body.plan

  test('changes the plan when an admin completes it, and once', async () => {
    const { status, body } = await begin({ plan: 'pro' }, ada.key)
    expect([status, body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^chk_/),
        url: `/api/checkout/${body.id}`,
        plan: 'pro',
        user_id: ada.userId,
        price_usd: 29,
        status: 'open',
        created_at: expect.any(String),
        updated_at: expect.any(String),
        expires_at: expect.any(String),
      },
    ])
    const at = `/api/checkout/${body.id}`
    expect((await gateway.api('POST', `${at}/complete`, undefined, ada.key)).status).toBe(403)
    expect(await planOf(ada)).toBe('free')
    const done = await Promise.all(Array.from({ length: 3 }, () => gateway.api('POST', `${at}/complete`)))
    for (const answer of done) expect(answer).toMatchObject({ status: 200, body: { status: 'completed' } })
    expect(await planOf(ada)).toBe('pro')
    expect((await gateway.api('POST', `${at}/cancel`, undefined, ada.key)).status).toBe(409)
  })

  test('is its user’s own, and an admin sees all', async () => {
    const { body } = await begin({ plan: 'team', user_id: bob.userId }, gateway.adminKey)
    const read = (key: string, at = `/api/checkout/${body.id}`) => gateway.api('GET', at, undefined, key)
    expect((await read(bob.key)).body).toMatchObject({ user_id: bob.userId })
    expect((await read(ada.key)).status).toBe(404)
    expect((await gateway.api('POST', `/api/checkout/${body.id}/cancel`, undefined, ada.key)).status).toBe(
      404,
    )
    const idsOf = async (key: string) =>
      (await read(key, '/api/checkout')).body.checkouts.map((one: { user_id: string }) => one.user_id)
    expect(new Set(await idsOf(ada.key))).toEqual(new Set([ada.userId]))
    expect(new Set(await idsOf(gateway.adminKey))).toEqual(new Set([ada.userId, bob.userId]))
  })

  test('needs a user, another plan than that user has, and an admin to name somebody else', async () => {
    const refusals = [
      [{ plan: 'pro' }, gateway.adminKey, 400, 'user_id'],
      [{ plan: 'pro', user_id: bob.userId }, ada.key, 400, 'user_id'],
      [{ plan: 'gold' }, ada.key, 400, 'plan'],
      [{ plan: 'free' }, bob.key, 409, 'plan'],
      [{ plan: 'pro', user_id: 'usr_none' }, gateway.adminKey, 404, 'id'],
    ] as const
    for (const [body, key, status, param] of refusals)
      expect(await begin(body, key)).toMatchObject({ status, body: { error: { param } } })
  })

  test('that is cancelled or too old cannot be completed', async () => {
    const cancelled = (await begin({ plan: 'pro' }, bob.key)).body.id
    expect(
      (await gateway.api('POST', `/api/checkout/${cancelled}/cancel`, undefined, bob.key)).body,
    ).toMatchObject({
      status: 'cancelled',
    })
    const late = (await begin({ plan: 'pro' }, bob.key)).body.id
    const complete = (id: string) => gateway.api('POST', `/api/checkout/${id}/complete`)
    expect((await complete(cancelled)).status).toBe(409)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 25 * 3_600_000 })
    expect((await gateway.api('GET', `/api/checkout/${late}`)).body.status).toBe('expired')
    expect((await complete(late)).status).toBe(409)
    await expect(plansOf(gateway).completeCheckout(late)).rejects.toThrow('This checkout is expired')
    expect(await planOf(bob)).toBe('free')
  })

  test('is one of ten that a user may have open, however many are started at once, and of fifty that are kept', async () => {
    const eve = await gateway.signUp('eve')
    const started = await Promise.all(Array.from({ length: 12 }, () => begin({ plan: 'pro' }, eve.key)))
    expect(started.map(({ status }) => status).sort()).toEqual([...Array(10).fill(201), 409, 409])
    const refused = started.find(({ status }) => status === 409)!
    expect(refused.body.error.message).toContain('Complete or cancel')
    const list = async () => (await gateway.api('GET', '/api/checkout?limit=100', undefined, eve.key)).body
    const [{ id: kept }] = (await list()).checkouts
    await gateway.api('POST', `/api/checkout/${kept}/complete`)
    let open = (await list()).checkouts.find(({ status }: { status: string }) => status === 'open').id
    for (let n = 0; n < 45; n += 1) {
      await gateway.api('POST', `/api/checkout/${open}/cancel`, undefined, eve.key)
      const next = await begin({ plan: 'team' }, eve.key)
      expect(next.status).toBe(201)
      open = next.body.id
    }
    const { total, checkouts } = await list()
    expect(total).toBe(50)
    const statuses = Map.groupBy(checkouts, ({ status }: { status: string }) => status)
    expect(Array.from(statuses, ([status, all]) => [status, all.length]).sort()).toEqual([
      ['cancelled', 40],
      ['completed', 1],
      ['open', 9],
    ])
    expect(checkouts.map(({ id }: { id: string }) => id)).toContain(kept)
  })

  test('leads to the page where users pay, and goes with its user', async () => {
    await gateway.kernel.registry.change('plans', {
      config: { checkout_url: 'https://pay.example.com/?c={id}' },
    })
    const { body } = await begin({ plan: 'pro' }, bob.key)
    expect(body.url).toBe(`https://pay.example.com/?c=${body.id}`)
    expect((await gateway.api('DELETE', `/api/auth/users/${bob.userId}`)).status).toBe(200)
    expect((await gateway.api('GET', `/api/checkout/${body.id}`)).status).toBe(404)
  })
})

test('settings and calibrations of autopilot need a license of the tier pro, where there is one', async () => {
  const small = await start({ license: { tier: 'individual' } })
  for (const [method, at] of [
    ['PUT', '/api/autopilot'],
    ['POST', '/api/autopilot/calibrate'],
  ] as const) {
    const { status, body } = await small.api(method, at, {})
    expect([at, status, body.error.details]).toEqual([
      ...[at, 403, { tier: 'individual', required_tier: 'pro' }],
    ])
  }
  expect((await small.api('GET', '/api/autopilot')).status).toBe(200)
  const large = await start({ license: { tier: 'pro' } })
  expect((await large.api('PUT', '/api/autopilot', { reference_model: 'gpt-4o' })).status).toBe(200)
})

describe('what speaks for a larger license', () => {
  const ask = (gateway: TestGateway, content: string) =>
    gateway.api('POST', '/v1/chat/completions', {
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content }],
    })
  const promptsOf = async (gateway: TestGateway, key?: string) =>
    (await gateway.api('GET', '/api/upgrade-prompts', undefined, key)).body as {
      tier: string
      triggers: { trigger: string; target_tier: string; message: string; details: object }[]
    }

  test('is told to admins, once each: failing calls and personal data', async () => {
    const gateway = await start({ license: { tier: 'team' } })
    await gateway.module('maskmode', { enabled: true })
    const told: string[] = []
    const end = gateway.kernel.events.onAny((_, { type }) => void told.push(type.name))
    for (let n = 0; n < 99; n += 1) upstream.reply(n < 20 ? { status: 400 } : {})
    const texts = Array.from({ length: 99 }, (_, n) => (n === 50 ? 'Write to ada@example.com' : 'Hello'))
    for (const text of texts) await ask(gateway, text)
    const { triggers } = await promptsOf(gateway)
    expect(triggers.map(({ trigger }) => trigger)).toEqual(['pii_detected'])
    await ask(gateway, 'Hello')
    await expect
      .poll(async () => (await promptsOf(gateway)).triggers.map(({ trigger }) => trigger))
      .toEqual(expect.arrayContaining(['error_rate_high', 'pii_detected']))
    const all = (await promptsOf(gateway)).triggers
    expect(all).toHaveLength(2)
    expect(all.map(({ target_tier }) => target_tier)).toEqual(['enterprise', 'enterprise'])
    expect(all.find(({ trigger }) => trigger === 'error_rate_high')).toMatchObject({
      message: '20 % of the 100 calls of the last hour failed.',
      details: { requests: 100, errors: 20 },
    })
    const { key } = await gateway.signUp('ada')
    expect((await promptsOf(gateway, key)).triggers).toEqual([])
    end()
    const upgrades = told.filter((name) => name.startsWith('upgrade.'))
    expect(upgrades.sort()).toEqual(['upgrade.error_rate_high', 'upgrade.pii_detected'])
  })

  test('is told once where it holds for good, also when its prompt is over', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-prompts-'))
    const engine = await openLevel(folder)
    const prompts = new Prompts({ store: engine.namespace('plans'), emit: () => {} })
    const all = { type: 'admin' } as Principal
    const about = { title: 'A title', message: 'A message', targetTier: 'enterprise', details: {} } as const
    const suggest = (period: string) =>
      prompts.suggest({ ...about, trigger: 'quota_near', period, until: Date.now() + 1000, priority: 'low' })
    expect([await suggest('once'), await suggest('2031-01')]).toEqual([true, true])
    const later = new Date(Date.now() + 2000)
    await prompts.prune(later)
    expect(await prompts.activeFor(all, later)).toEqual([])
    expect([await suggest('once'), await suggest('2031-01')]).toEqual([false, true])
    await engine.close()
    await rm(folder, { recursive: true, force: true })
  })

  test('is nothing where nothing is limited', async () => {
    const gateway = await start({})
    await gateway.module('maskmode', { enabled: true })
    await ask(gateway, 'Write to ada@example.com')
    expect(await promptsOf(gateway)).toEqual({
      tier: 'self-hosted',
      triggers: [],
      count: 0,
      usage: {},
    })
  })
})
