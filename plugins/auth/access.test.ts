import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway
let userKey: string

beforeAll(async () => {
  gateway = await startGateway()
  userKey = (await gateway.signUp()).key
})

afterAll(() => gateway.close())

const documented = `
  post /api/auth/signup
  get /api/auth/me
  get /api/auth/me/keys
  post /api/auth/me/keys
  delete /api/auth/me/keys/{keyId}
  post /api/auth/me/keys/{keyId}/rotate
  get /api/auth/me/providers
  put /api/auth/me/providers/{provider}
  delete /api/auth/me/providers/{provider}
  get /api/auth/me/usage
  get /api/auth/users
  post /api/auth/users
  get /api/auth/users/{id}
  get /api/auth/users/{id}/keys
  post /api/auth/users/{id}/keys
  delete /api/auth/users/{id}/keys/{keyId}
  post /api/auth/users/{id}/keys/{keyId}/rotate
  get /api/auth/users/{id}/providers
  put /api/auth/users/{id}/providers/{provider}
  delete /api/auth/users/{id}/providers/{provider}`
  .trim()
  .split(/\n\s+/)

const routes = () => gateway.kernel.registry.generation.routes.filter(({ plugin }) => plugin === 'auth')
const withAccess = (access: string) => routes().filter((route) => route.access === access)

/** The status of a route called with these headers, with names in its path that do not exist. */
async function statusOf({ method, path }: { method: string; path: string }, headers: Record<string, string>) {
  const response = await fetch(gateway.url + path.replaceAll(/\{\w+\}/g, 'nobody'), {
    method: method.toUpperCase(),
    headers,
  })
  const { error } = (await response.json()) as { error?: { code: string } }
  return [response.status, error?.code]
}

describe('the routes of accounts', () => {
  test('are those of the documentation, and more', () => {
    const live = routes().map(({ method, path }) => `${method} ${path}`)
    expect(live).toEqual(expect.arrayContaining(documented))
  })

  test('need a key, all but signup', async () => {
    expect(withAccess('public').map(({ path }) => path)).toEqual(['/api/auth/signup'])
    for (const route of [...withAccess('user'), ...withAccess('admin')]) {
      expect(await statusOf(route, {}), route.path).toEqual([401, 'unauthorized'])
    }
  })

  test('refuse a key that nobody has', async () => {
    for (const route of routes()) {
      const headers = { authorization: 'Bearer sy_live_0000000000000000000000000000000000000000000' }
      expect(await statusOf(route, headers), route.path).toEqual([401, 'unauthorized'])
    }
  })

  test('refuse a user key where an admin key is needed', async () => {
    for (const route of withAccess('admin')) {
      expect(await statusOf(route, { authorization: `Bearer ${userKey}` }), route.path).toEqual([
        403,
        'forbidden',
      ])
    }
  })

  test('refuse an admin key where they are about the caller', async () => {
    for (const route of withAccess('user')) {
      const headers = { authorization: `Bearer ${gateway.adminKey}` }
      expect(await statusOf(route, headers), route.path).toEqual([403, 'forbidden'])
    }
  })

  test('take the admin key from X-Admin-Key too', async () => {
    const response = await fetch(`${gateway.url}/api/auth/users`, {
      headers: { 'x-admin-key': gateway.adminKey },
    })
    expect(response.status).toBe(200)
  })

  test('take no key from the query string', async () => {
    for (const name of ['key', 'api_key', 'admin_key', 'x-admin-key', 'access_token', 'authorization']) {
      const response = await fetch(`${gateway.url}/api/auth/users?${name}=${gateway.adminKey}`)
      expect(response.status, name).toBe(401)
    }
  })
})
