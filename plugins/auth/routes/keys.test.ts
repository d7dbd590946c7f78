import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway.close())

const works = async (key: string) => (await gateway.api('GET', '/api/plans', undefined, key)).status === 200

/** A user with an admin's and an own view of the same keys. */
async function someone(name: string) {
  const { userId, key } = await gateway.signUp(name)
  return {
    userId,
    key,
    views: [
      { path: '/api/auth/me/keys', with: key },
      { path: `/api/auth/users/${userId}/keys`, with: gateway.adminKey },
    ],
  }
}

describe('keys', () => {
  test('are listed without their secrets, with what was used last', async () => {
    const { key, views } = await someone('lists')
    for (const view of views) {
      const { status, body } = await gateway.api('GET', view.path, undefined, view.with)
      expect(status).toBe(200)
      expect(body).toMatchObject({ total: 1, has_more: false })
      expect(body.keys[0]).toEqual({
        id: expect.stringMatching(/^key_/),
        name: 'first key',
        prefix: key.slice(0, 12),
        last_four: key.slice(-4),
        type: 'user',
        status: 'active',
        expires_at: null,
        last_used_at: expect.any(String),
        created_at: expect.any(String),
        updated_at: expect.any(String),
      })
      expect(Date.now() - Date.parse(body.keys[0].last_used_at)).toBeLessThan(120_000)
    }
  })

  test('are made, work, and stop when they are revoked', async () => {
    const { views } = await someone('makes')
    for (const view of views) {
      const made = await gateway.api('POST', view.path, { name: 'ci' }, view.with)
      expect(made.status).toBe(201)
      expect(made.body).toMatchObject({ name: 'ci', status: 'active', last_used_at: null })
      const { api_key: secret, id } = made.body
      expect(await works(secret)).toBe(true)
      const gone = await gateway.api('DELETE', `${view.path}/${id}`, undefined, view.with)
      expect([gone.status, gone.body]).toEqual([200, { deleted: true, id }])
      expect(await works(secret)).toBe(false)
      const { keys } = (await gateway.api('GET', view.path, undefined, view.with)).body
      expect(keys.find((key: { id: string }) => key.id === id).status).toBe('revoked')
    }
  })

  test('stop at their expiry', { timeout: 20_000 }, async () => {
    const { views } = await someone('expires')
    const at = new Date(Date.now() + 2500).toISOString()
    const { body } = await gateway.api('POST', views[0]!.path, { expires_at: at }, views[0]!.with)
    expect(body.expires_at).toBe(at)
    expect(await works(body.api_key)).toBe(true)
    await vi.waitFor(async () => expect(await works(body.api_key)).toBe(false), { timeout: 15_000 })
    const { keys } = (await gateway.api('GET', views[0]!.path, undefined, views[0]!.with)).body
    expect(keys.find((key: { id: string }) => key.id === body.id).status).toBe('expired')
  })

  test.each([
    [{ name: 7 }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ])('are not made from %j, which names %s', async (wrong, param) => {
    const { views } = await someone(`wrong-${JSON.stringify(wrong).length}`)
    for (const view of views) {
      const { status, body } = await gateway.api('POST', view.path, wrong, view.with)
      expect([status, body.error.param]).toEqual([400, param])
    }
  })

  test('of another user are not found', async () => {
    const mine = await someone('mine')
    const theirs = await someone('theirs')
    const { keys } = (await gateway.api('GET', theirs.views[1]!.path)).body
    for (const view of mine.views) {
      for (const [method, path] of [
        ['DELETE', `${view.path}/${keys[0].id}`],
        ['POST', `${view.path}/${keys[0].id}/rotate`],
      ] as const) {
        expect((await gateway.api(method, path, undefined, view.with)).status).toBe(404)
      }
    }
    expect(await works(theirs.key)).toBe(true)
  })
})

describe('rotation', () => {
  test.each([0, 1])('ends the old key at once, and answers exactly what is documented (%i)', async (n) => {
    const { key, views } = await someone(`rotates-${n}`)
    const { path, with: caller } = views[n]!
    const { id } = (await gateway.api('GET', path, undefined, caller)).body.keys[0]
    const { status, body } = await gateway.api('POST', `${path}/${id}/rotate`, {}, caller)
    expect(status).toBe(200)
    expect(body).toEqual({
      old_key_id: id,
      new_key: expect.stringMatching(/^sy_live_/),
      new_key_id: expect.stringMatching(/^key_/),
      rotated_at: expect.stringMatching(/Z$/),
    })
    expect(await works(key)).toBe(false)
    expect(await works(body.new_key)).toBe(true)
  })

  test('keeps name and expiry, and needs no body', async () => {
    const { userId } = await someone('keeps')
    const path = `/api/auth/users/${userId}/keys`
    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = (await gateway.api('POST', path, { name: 'ci', expires_at })).body
    const { new_key_id } = (await gateway.api('POST', `${path}/${id}/rotate`)).body
    const { keys } = (await gateway.api('GET', path)).body
    expect(keys.find((key: { id: string }) => key.id === new_key_id)).toMatchObject({
      name: 'ci',
      expires_at,
    })
  })

  test('leaves the old key its grace, and no longer', { timeout: 20_000 }, async () => {
    const { key, views } = await someone('grace')
    const [own] = views
    const { keys } = (await gateway.api('GET', own!.path, undefined, key)).body
    const rotate = `${own!.path}/${keys[0].id}/rotate`
    const { body } = await gateway.api('POST', rotate, { grace_seconds: 3 }, key)
    expect(await works(key)).toBe(true)
    expect(await works(body.new_key)).toBe(true)
    const again = await gateway.api('POST', rotate, {}, body.new_key)
    expect([again.status, again.body.error.message]).toEqual([409, expect.stringContaining(body.new_key_id)])
    await vi.waitFor(async () => expect(await works(key)).toBe(false), { timeout: 15_000 })
    expect(await works(body.new_key)).toBe(true)
  })

  test('succeeds once when it is asked for many times at once', async () => {
    const { userId, key } = await someone('rotation-race')
    const path = `/api/auth/users/${userId}/keys`
    const { id } = (await gateway.api('GET', path)).body.keys[0]
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => gateway.api('POST', `${path}/${id}/rotate`, {})),
    )
    const won = answers.filter(({ status }) => status === 200)
    expect(won).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9)
    const { keys } = (await gateway.api('GET', path)).body
    expect(keys.filter(({ status }: { status: string }) => status === 'active')).toHaveLength(1)
    expect(await works(key)).toBe(false)
    expect(await works(won[0]!.body.new_key)).toBe(true)
  })

  test('of a revoked key is refused', async () => {
    const { userId } = await someone('rotates-revoked')
    const path = `/api/auth/users/${userId}/keys`
    const { id } = (await gateway.api('GET', path)).body.keys[0]
    await gateway.api('DELETE', `${path}/${id}`)
    expect((await gateway.api('POST', `${path}/${id}/rotate`, {})).status).toBe(409)
  })

  test.each([
    [{ grace_seconds: -1 }, 'grace_seconds'],
    [{ grace_seconds: '5' }, 'grace_seconds'],
    [{ grace: 5 }, 'grace'],
  ])('refuses %j and names %s', async (wrong, param) => {
    const { userId } = await someone(`rotation-wrong-${JSON.stringify(wrong).length}`)
    const path = `/api/auth/users/${userId}/keys`
    const { id } = (await gateway.api('GET', path)).body.keys[0]
    const { status, body } = await gateway.api('POST', `${path}/${id}/rotate`, wrong)
    expect([status, body.error.param]).toEqual([400, param])
  })
})

describe('a key that exists already', () => {
  const brought = (prefix: string) => `${prefix}${'brought_from_elsewhere'.padEnd(40, prefix.at(-2))}`

  test.each([
    ['sy_', 'user'],
    ['sy_live_', 'user'],
    ['sk-sy-', 'user'],
    ['sy_admin_', 'admin'],
  ])('is taken in with the prefix %s as a key of type %s', async (prefix, type) => {
    const { userId } = await someone(`brings-${prefix}`)
    const key = brought(prefix)
    expect(await works(key)).toBe(false)
    const { status, body } = await gateway.api('POST', `/api/auth/users/${userId}/keys`, { key, name: 'old' })
    expect(status).toBe(201)
    expect(body).toMatchObject({ type, name: 'old', prefix: key.slice(0, 12) })
    expect(body).not.toHaveProperty('api_key')
    expect(await works(key)).toBe(true)
    expect((await gateway.api('GET', '/api/auth/users', undefined, key)).status).toBe(
      type === 'admin' ? 200 : 403,
    )
    expect((await gateway.api('GET', '/api/auth/me', undefined, key)).status).toBe(
      type === 'admin' ? 403 : 200,
    )
  })

  test('is taken in once, by whomever', async () => {
    const [one, two] = [await someone('brings-first'), await someone('brings-second')]
    const key = brought('sy_once_')
    const asked = [one, two, one, two].map(({ userId }) =>
      gateway.api('POST', `/api/auth/users/${userId}/keys`, { key }),
    )
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.toSorted()).toEqual([201, 409, 409, 409])
    const { body } = await gateway.api('POST', `/api/auth/users/${one.userId}/keys`, { key: two.key })
    expect(body.error).toMatchObject({ status: 409, param: 'key' })
  })

  test.each([
    'short',
    'sk-0123456789012345678901234567890123456789',
    `sy_${'a b'.repeat(20)}`,
    `sy_${'a'.repeat(300)}`,
  ])('is refused when it is %j', async (key) => {
    const { userId } = await someone(`brings-wrong-${key.length}`)
    const { status, body } = await gateway.api('POST', `/api/auth/users/${userId}/keys`, { key })
    expect([status, body.error.param]).toEqual([400, 'key'])
    expect(JSON.stringify(body)).not.toContain(key)
  })

  test('is brought by admins only', async () => {
    const { key } = await someone('brings-none')
    const { status, body } = await gateway.api('POST', '/api/auth/me/keys', { key: brought('sy_') }, key)
    expect([status, body.error.param]).toEqual([400, 'key'])
  })

  test('does not make its user an admin', async () => {
    const { userId, key } = await someone('holds-admin')
    const { id } = (
      await gateway.api('POST', `/api/auth/users/${userId}/keys`, { key: brought('sy_admin_2_') })
    ).body
    for (const [method, path] of [
      ['POST', `/api/auth/me/keys/${id}/rotate`],
      ['DELETE', `/api/auth/me/keys/${id}`],
    ] as const) {
      expect((await gateway.api(method, path, undefined, key)).status).toBe(403)
    }
  })
})

describe("the operator's admin keys", () => {
  test('are made, listed, rotated and revoked', async () => {
    const made = await gateway.api('POST', '/api/auth/admin/keys', { name: 'second operator' })
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ type: 'admin', api_key: expect.stringMatching(/^sy_admin_/) })
    const listed = await gateway.api('GET', '/api/auth/admin/keys', undefined, made.body.api_key)
    expect(listed.body.keys.map(({ name }: { name: string }) => name)).toEqual(['second operator'])

    const self = await gateway.api(
      'DELETE',
      `/api/auth/admin/keys/${made.body.id}`,
      undefined,
      made.body.api_key,
    )
    expect(self.status).toBe(409)
    const { body } = await gateway.api(
      'POST',
      `/api/auth/admin/keys/${made.body.id}/rotate`,
      {},
      made.body.api_key,
    )
    expect((await gateway.api('GET', '/api/auth/users', undefined, made.body.api_key)).status).toBe(401)
    expect((await gateway.api('GET', '/api/auth/users', undefined, body.new_key)).status).toBe(200)
    expect((await gateway.api('DELETE', `/api/auth/admin/keys/${body.new_key_id}`)).status).toBe(200)
    expect((await gateway.api('GET', '/api/auth/users', undefined, body.new_key)).status).toBe(401)
  })

  test('are none that lack the prefix of admin keys', async () => {
    const { status, body } = await gateway.api('POST', '/api/auth/admin/keys', {
      key: `sy_${'x'.repeat(40)}`,
    })
    expect([status, body.error.param]).toEqual([400, 'key'])
  })

  test('are not those of users', async () => {
    const { userId } = await someone('no-operator')
    const { keys } = (await gateway.api('GET', `/api/auth/users/${userId}/keys`)).body
    expect((await gateway.api('DELETE', `/api/auth/admin/keys/${keys[0].id}`)).status).toBe(404)
  })
})
