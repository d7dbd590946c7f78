import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Accounts } from '../../accounts/accounts.ts'
import { kernelServices } from '../../kernel/services.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
/** Believes in the X-Forwarded-For of this machine. */
let gateway: TestGateway
/** Trusts no X-Forwarded-For. */
let exposed: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: { server: { trusted_proxies: ['127.0.0.1', '10.9.0.0/16'] } },
  })
  exposed = await startGateway({ upstream })
})

afterAll(async () => {
  await Promise.all([gateway.close(), exposed.close()])
  await upstream.close()
})

beforeEach(async () => {
  upstream.reset()
  for (const { kernel } of [gateway, exposed]) {
    const config = { allow: null, deny: null, per_user: null, per_key: null, scope: null }
    await kernel.registry.change('ipfence', { enabled: true, config, when: null })
  }
})

const change = ({ kernel }: TestGateway, config: Record<string, unknown>) =>
  kernel.registry.change('ipfence', { config })

async function ask(at: TestGateway, from?: string, key = at.adminKey): Promise<number> {
  const client = new OpenAI({ baseURL: `${at.url}/v1`, apiKey: key, maxRetries: 0 })
  const headers = from === undefined ? {} : { 'X-Forwarded-For': from }
  const messages = [{ role: 'user' as const, content: 'Hello' }]
  try {
    await client.chat.completions.create({ model: 'gpt-4o-mini', messages }, { headers })
    return 200
  } catch (error) {
    if (!(error instanceof OpenAI.APIError)) throw error
    return error.status as number
  }
}

async function manage(
  at: TestGateway,
  from: string,
  method = 'GET',
  path = '/api/proxy/modules',
  body?: object,
) {
  const response = await fetch(at.url + path, {
    method,
    headers: {
      authorization: `Bearer ${at.adminKey}`,
      'x-forwarded-for': from,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

test('an address that is not let in is told so, and nothing reaches the provider', async () => {
  await change(gateway, { allow: ['192.0.2.0/24', '2001:db8::/32'] })
  expect(await ask(gateway, '192.0.2.7')).toBe(200)
  expect(await ask(gateway, '2001:db8::7')).toBe(200)
  expect(await ask(gateway, '::ffff:192.0.2.7')).toBe(200)
  upstream.reset()

  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  const refused = client.embeddings.create(
    { model: 'text-embedding-3-small', input: 'Hello' },
    { headers: { 'X-Forwarded-For': '198.51.100.1' } },
  )
  await expect(refused).rejects.toThrow(OpenAI.PermissionDeniedError)
  await expect(refused).rejects.toMatchObject({
    code: 'forbidden',
    error: { module: 'ipfence', details: { rule: 'allow' } },
  })
  expect(upstream.requests).toHaveLength(0)
})

test('a spoofed header from an untrusted peer changes nothing', async () => {
  await change(exposed, { deny: ['127.0.0.1'] })
  expect(await ask(exposed, '192.0.2.7')).toBe(403)
  await change(exposed, { deny: ['192.0.2.7'] })
  expect(await ask(exposed, '192.0.2.7')).toBe(200)
})

test('behind trusted proxies the right-most hop that is none of them counts, whatever stands before it', async () => {
  await change(gateway, { allow: ['192.0.2.0/24'] })
  expect(await ask(gateway, '192.0.2.7, 198.51.100.1')).toBe(403)
  expect(await ask(gateway, '192.0.2.7, 198.51.100.1, 10.9.0.1')).toBe(403)
  expect(await ask(gateway, '198.51.100.1, 192.0.2.7, 10.9.0.1')).toBe(200)
  expect(await ask(gateway)).toBe(403)
})

test('whoever is kept out learns nothing about keys', async () => {
  await change(gateway, { deny: ['192.0.2.0/24'] })
  expect(await ask(gateway, '192.0.2.7', 'sy_live_no_such_key')).toBe(403)
  expect(await ask(gateway, '203.0.113.7', 'sy_live_no_such_key')).toBe(401)
})

test('lists of a user and of a key narrow what is let in for everybody', async () => {
  const accounts = gateway.kernel.container.resolve<Accounts>(kernelServices.accounts)
  const { user, ...key } = await accounts.signUp({ email: 'ada@example.com', plan: 'free' })
  const other = await accounts.keys.issue({ type: 'user', userId: user.id })
  await change(gateway, {
    allow: ['192.0.2.0/24'],
    per_user: { [user.id]: { deny: ['192.0.2.66'] } },
    per_key: { [key.key.id]: { allow: ['192.0.2.1', '203.0.113.1'] } },
  })
  expect(await ask(gateway, '192.0.2.1', key.secret)).toBe(200)
  expect(await ask(gateway, '192.0.2.2', key.secret)).toBe(403)
  expect(await ask(gateway, '203.0.113.1', key.secret)).toBe(403)
  expect(await ask(gateway, '192.0.2.2', other.secret)).toBe(200)
  expect(await ask(gateway, '192.0.2.66', other.secret)).toBe(403)
  expect(await ask(gateway, '192.0.2.66')).toBe(200)
})

test('management is fenced with scope all, and health checks never are', async () => {
  await change(gateway, { deny: ['192.0.2.0/24'] })
  expect((await manage(gateway, '192.0.2.7')).status).toBe(200)
  for (const list of ['/v1/models', '/v1beta/models'])
    expect((await manage(gateway, '192.0.2.7', 'GET', list)).status).toBe(403)
  await change(gateway, { scope: 'all' })
  expect(await manage(gateway, '192.0.2.7')).toMatchObject({
    status: 403,
    body: { error: { module: 'ipfence' } },
  })
  expect((await manage(gateway, '192.0.2.7', 'GET', '/no/such/page')).status).toBe(403)
  expect((await manage(gateway, '203.0.113.7')).status).toBe(200)
  expect((await manage(gateway, '192.0.2.7', 'GET', '/health')).status).not.toBe(403)
})

test('a condition narrows the fence to some calls, and opens the door to the rest', async () => {
  await change(gateway, { deny: ['192.0.2.0/24'], scope: 'all' })
  await gateway.kernel.registry.change('ipfence', { when: { models: ['gpt-4o-mini'] } })
  expect(await ask(gateway, '192.0.2.7')).toBe(403)
  expect((await manage(gateway, '192.0.2.7')).status).toBe(200)
})

test('an admin cannot lock out the address it calls from, unless by force', async () => {
  const settings = { config: { allow: ['192.0.2.0/24'], scope: 'all' } }
  const put = (from: string, body: object) => manage(gateway, from, 'PUT', '/api/proxy/modules/ipfence', body)
  expect(await put('203.0.113.7', settings)).toMatchObject({
    status: 409,
    body: { error: { code: 'bad_request', param: 'force' } },
  })
  expect((await manage(gateway, '203.0.113.7')).status).toBe(200)
  expect((await put('192.0.2.7', settings)).status).toBe(200)
  expect((await manage(gateway, '203.0.113.7')).status).toBe(403)

  expect((await put('192.0.2.7', { enabled: false })).status).toBe(200)
  expect((await put('203.0.113.7', { enabled: true })).status).toBe(409)
  const bulk = { modules: ['ipfence'], enabled: true }
  expect((await manage(gateway, '203.0.113.7', 'POST', '/api/proxy/modules/bulk', bulk)).body).toMatchObject({
    status: 'failed',
  })
  expect((await put('203.0.113.7', { enabled: true, force: true })).status).toBe(200)
  expect((await manage(gateway, '203.0.113.7')).status).toBe(403)
})

test('a list that is no list of addresses is refused', async () => {
  await expect(change(gateway, { allow: ['10.0.0.0/99'] })).rejects.toMatchObject({
    code: 'bad_request',
    param: 'config.allow.0',
  })
})
