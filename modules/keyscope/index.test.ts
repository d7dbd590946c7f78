import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Accounts } from '../../accounts/accounts.ts'
import { kernelServices } from '../../kernel/services.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let accounts: Accounts
let userId: string
/** The key under test; a fresh one for each. */
let key: { id: string; secret: string }

beforeAll(async () => {
  upstream = await startUpstream()
  const other = { type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test', models: ['other-*'] }
  gateway = await startGateway({
    upstream,
    config: {
      providers: { other },
      // A name that looks harmless and leads to a large model.
      routes: [{ match: 'gpt-4o-mini-fast', provider: 'openai', model: 'gpt-4o' }],
    },
  })
  accounts = gateway.kernel.container.resolve<Accounts>(kernelServices.accounts)
  userId = (await accounts.signUp({ email: 'ada@example.com', plan: 'free' })).user.id
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(async () => {
  upstream.reset()
  await gateway.module('keyscope', { enabled: true, config: { default_scope: null } })
  key = await issue()
})

async function issue() {
  const { key, secret } = await accounts.keys.issue({ type: 'user', userId })
  return { id: key.id, secret }
}

const pathOf = (id: string): string => `/api/modules/keyscope/keys/${id}`
const scope = async (body: Record<string, unknown>, id = key.id) => {
  const answer = await gateway.api('PUT', pathOf(id), body)
  expect(answer.status).toBe(200)
  return answer.body
}
const clientOf = (secret: string) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: secret, maxRetries: 0 })
const messages = [{ role: 'user' as const, content: 'Hello' }]
const ask = (
  body: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {},
  headers: Record<string, string> = {},
  { secret }: { secret: string } = key,
) => clientOf(secret).chat.completions.create({ model: 'gpt-4o-mini', messages, ...body }, { headers })
const modelsOf = async ({ secret }: { secret: string }): Promise<string[]> => {
  const { data } = await clientOf(secret).models.list()
  return data.map(({ id }) => id)
}
const refused = (rule: string) => ({
  status: 403,
  code: 'forbidden',
  error: { module: 'keyscope', details: { rule } },
})
const clock = (hoursFromNow: number): string =>
  new Date(Date.now() + hoursFromNow * 3_600_000).toISOString().slice(11, 16)

describe('a key scoped to gpt-4o-mini*', () => {
  beforeEach(() => scope({ models: ['gpt-4o-mini*'] }))

  test('reaches it, also when the provider is named', async () => {
    await ask()
    await ask({ model: 'gpt-4o-mini-2024-07-18' })
    await ask({ model: 'openai/gpt-4o-mini' })
    expect(upstream.requests.map(({ body }) => (body as { model: string }).model)).toEqual([
      'gpt-4o-mini',
      'gpt-4o-mini-2024-07-18',
      'gpt-4o-mini',
    ])
  })

  test('reaches no other, whatever it is called and wherever it is', async () => {
    await expect(ask({ model: 'gpt-4o' })).rejects.toThrow(OpenAI.PermissionDeniedError)
    await expect(ask({ model: 'gpt-4o' })).rejects.toMatchObject({ ...refused('models'), param: 'model' })
    await expect(ask({ model: 'openai/gpt-4o' })).rejects.toMatchObject(refused('models'))
    await expect(ask({ model: 'other/gpt-4o' }, { 'X-Provider': 'other' })).rejects.toMatchObject(
      refused('models'),
    )
    expect(upstream.requests).toHaveLength(0)
  })

  test('is not led to another by a route that renames it', async () => {
    await expect(ask({ model: 'gpt-4o-mini-fast' })).rejects.toMatchObject(refused('models'))
    expect(upstream.requests).toHaveLength(0)
    await scope({ models: ['gpt-4o-mini*', 'gpt-4o'] })
    await ask({ model: 'gpt-4o-mini-fast' })
    expect(upstream.last().body).toMatchObject({ model: 'gpt-4o' })
  })

  test('is not led to another by an alias, nor by a fallback', async () => {
    await gateway.module('modelalias', {
      enabled: true,
      config: { aliases: { 'gpt-4o-mini-best': 'gpt-4o' } },
    })
    await expect(ask({ model: 'gpt-4o-mini-best' })).rejects.toMatchObject(refused('models'))
    expect(upstream.requests).toHaveLength(0)

    const model = 'gpt-4o-mini-unlucky'
    await gateway.module('fallbackrouter', {
      enabled: true,
      config: { chains: { [model]: [model, 'gpt-4o'] } },
    })
    upstream.reply({ model }, { status: 503, times: Number.POSITIVE_INFINITY })
    await expect(ask({ model })).rejects.toBeInstanceOf(OpenAI.APIError)
    expect(upstream.requests.length).toBeGreaterThan(0)
    for (const { body } of upstream.requests) expect(body).toMatchObject({ model })
    await ask({ model }, {}, { secret: gateway.adminKey })
    expect(upstream.last().body).toMatchObject({ model: 'gpt-4o' })
  })
})

test('endpoints and providers are those of the scope', async () => {
  await scope({ endpoints: ['chat'], providers: ['openai'], models: null })
  await ask()
  await expect(
    clientOf(key.secret).embeddings.create({ model: 'text-embedding-3-small', input: 'Hello' }),
  ).rejects.toMatchObject(refused('endpoints'))
  await expect(ask({ model: 'other-1' })).rejects.toMatchObject(refused('providers'))
  await expect(ask({}, { 'X-Provider': 'other' })).rejects.toMatchObject(refused('providers'))
  expect(upstream.requests).toHaveLength(1)
})

test('a limit on tokens is set where none is, and refuses more', async () => {
  await scope({ max_tokens: 50 })
  await ask()
  expect(upstream.last().body).toMatchObject({ max_tokens: 50 })
  await ask({ max_completion_tokens: 20 })
  expect(upstream.last().body).toMatchObject({ max_completion_tokens: 20 })
  expect(upstream.last().body).not.toHaveProperty('max_tokens')
  await expect(ask({ max_tokens: 51 })).rejects.toMatchObject(refused('max_tokens'))
  await expect(ask({ max_tokens: 1, max_completion_tokens: 51 })).rejects.toMatchObject(refused('max_tokens'))
})

test('after its expiry a key is refused as if it were unknown', async () => {
  await scope({ expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  await ask()
  await scope({ expires_at: new Date(Date.now() - 1000).toISOString() })
  await expect(ask()).rejects.toThrow(OpenAI.AuthenticationError)
  await expect(ask()).rejects.toMatchObject({ status: 401, error: { details: { rule: 'expires_at' } } })
  expect((await gateway.api('GET', pathOf(key.id), undefined, key.secret)).status).toBe(401)
})

test('outside its hours a key does not work', async () => {
  await scope({ active_hours: [{ from: clock(-2), to: clock(2) }] })
  await ask()
  await scope({ active_hours: [{ from: clock(2), to: clock(-2) }] })
  await expect(ask()).rejects.toMatchObject(refused('active_hours'))
})

test('a key for reading makes no calls and changes nothing', async () => {
  await scope({ read_only: true })
  await expect(ask()).rejects.toMatchObject(refused('read_only'))
  const { status, body } = await gateway.api('GET', pathOf(key.id), undefined, key.secret)
  expect({ status, body }).toMatchObject({ status: 200, body: { key_id: key.id, read_only: true } })
  const write = await gateway.api('PUT', '/api/auth/me/providers/openai', { api_key: 'k' }, key.secret)
  expect(write).toMatchObject({
    status: 403,
    body: { error: { module: 'keyscope', details: { rule: 'read_only' } } },
  })
})

test('a limited key makes no other key, and the one that replaces it is as limited', async () => {
  await scope({ models: ['gpt-4o-mini*'] })
  for (const at of ['/api/auth/me/keys', `/api/auth/me/keys/${key.id}/rotate`]) {
    expect(await gateway.api('POST', at, {}, key.secret)).toMatchObject({
      status: 403,
      body: { error: { details: { rule: 'keys' } } },
    })
  }
  for (const at of ['/API/auth/me/keys', '/api/auth/me/KEYS', '/api/auth/me/%6Beys', '/api//auth/me/keys'])
    expect([at, (await gateway.api('POST', at, {}, key.secret)).status]).toEqual([at, 404])
  expect((await gateway.api('POST', '/api/auth/me/keys/', {}, key.secret)).status).toBe(403)
  const next = await accounts.keys.rotate(userId, key.id, 60)
  await expect(ask({ model: 'gpt-4o' }, {}, next)).rejects.toMatchObject(refused('models'))
  await ask({}, {}, next)

  await gateway.module('keyscope', { enabled: false })
  const later = await accounts.keys.rotate(userId, next.key.id)
  const last = await accounts.keys.rotate(userId, later.key.id)
  await gateway.module('keyscope', { enabled: true })
  await expect(ask({ model: 'gpt-4o' }, {}, last)).rejects.toMatchObject(refused('models'))
  expect((await gateway.api('GET', pathOf(last.key.id))).body).toMatchObject({ models: ['gpt-4o-mini*'] })
})

test('a scope is read, changed field by field, and removed; each holds for the next call', async () => {
  expect((await gateway.api('GET', pathOf(key.id))).status).toBe(404)
  await scope({ models: ['gpt-4o-mini*'], max_tokens: 50 })
  const changed = await scope({ models: ['gpt-4o*'] })
  expect(changed).toMatchObject({ key_id: key.id, models: ['gpt-4o*'], max_tokens: 50 })
  expect(await scope({ max_tokens: null })).not.toHaveProperty('max_tokens')
  await ask({ model: 'gpt-4o' })
  expect((await gateway.api('DELETE', pathOf(key.id))).body).toEqual({ deleted: true, id: key.id })
  await ask({ model: 'gpt-3.5-turbo' })
})

test('only admins limit keys, only keys that exist, and never the keys of admins', async () => {
  const stranger = await accounts.signUp({ email: `${key.id}@example.com`, plan: 'free' })
  await scope({ max_tokens: 5 })
  expect((await gateway.api('PUT', pathOf(key.id), { max_tokens: null }, key.secret)).status).toBe(403)
  expect((await gateway.api('GET', pathOf(key.id), undefined, stranger.secret)).status).toBe(404)
  expect((await gateway.api('PUT', pathOf('key_nobody'), { max_tokens: 5 })).status).toBe(404)
  const admin = await accounts.keys.issue({ type: 'admin' })
  expect((await gateway.api('PUT', pathOf(admin.key.id), { read_only: true })).status).toBe(400)
  const wrong = await gateway.api('PUT', pathOf(key.id), { modles: ['a'] })
  expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'modles' } } })
})

test('the default scope is for keys without one, and leaves admins their management', async () => {
  await gateway.module('keyscope', { config: { default_scope: { models: ['gpt-4o-mini'] } } })
  await expect(ask({ model: 'gpt-4o' })).rejects.toMatchObject(refused('models'))
  await scope({ models: ['gpt-4o'] })
  await ask({ model: 'gpt-4o' })
  await gateway.module('keyscope', { config: { default_scope: { read_only: true } } })
  await expect(ask({}, {}, { secret: gateway.adminKey })).rejects.toMatchObject(refused('read_only'))
  await gateway.module('keyscope', { config: { default_scope: null } })
  await ask({}, {}, { secret: gateway.adminKey })
})

test('a project can have a default scope of its own, and one can be tried in shadow', async () => {
  const bindings = '/api/proxy/modules/keyscope/bindings'
  const bind = (body: object) => gateway.api('POST', bindings, body)
  const limited = { config: { default_scope: { models: ['gpt-4o-mini'] } }, when: { projects: ['docs'] } }
  expect((await bind({ name: 'docs', ...limited })).status).toBe(201)
  const refusal = { status: 403, error: { module: 'keyscope/docs', details: { rule: 'models' } } }
  await expect(ask({ model: 'gpt-4o' }, { 'x-project': 'docs' })).rejects.toMatchObject(refusal)
  await ask({ model: 'gpt-4o' })
  expect(await modelsOf(key)).not.toContain('gpt-4o')
  const tried = await gateway.api('PUT', `${bindings}/docs`, { mode: 'shadow' })
  expect(tried.status).toBe(200)
  await ask({ model: 'gpt-4o' }, { 'x-project': 'docs' })
  expect(await modelsOf(key)).toContain('gpt-4o')
  expect((await gateway.api('GET', `${bindings}/docs/events`)).body.events[0]).toMatchObject({
    kind: 'refused',
  })
  await scope({ models: ['gpt-4o'] })
  await expect(ask()).rejects.toMatchObject(refused('models'))
  expect(await modelsOf(key)).not.toContain('gpt-4o-mini')
  await gateway.module('keyscope', { mode: 'shadow' })
  await ask()
  expect(await modelsOf(key)).toContain('gpt-4o-mini')
  await gateway.module('keyscope', { mode: null })
  await gateway.api('DELETE', `${bindings}/docs`)
})

test('scopes survive a restart', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'keyscope-'))
  try {
    const before = await startGateway({ upstream, dataDir })
    const known = before.kernel.container.resolve<Accounts>(kernelServices.accounts)
    const limited = await known.signUp({ email: 'eve@example.com', plan: 'free' })
    await before.api('PUT', pathOf(limited.key.id), { models: ['gpt-4o-mini*'] })
    await before.close()

    const after = await startGateway({ upstream, dataDir })
    const body = { model: 'gpt-4o', messages }
    const answer = await after.api('POST', '/v1/chat/completions', body, limited.secret)
    expect(answer).toMatchObject({ status: 403, body: { error: { details: { rule: 'models' } } } })
    await after.close()
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
