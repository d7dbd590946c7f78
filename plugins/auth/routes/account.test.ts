import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'

let gateway: TestGateway

/** A request without any key. */
async function stranger(body: unknown) {
  const response = await fetch(`${gateway.url}/api/auth/signup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as { user_id: string; api_key: string } }
}

describe('signup', () => {
  beforeEach(async () => {
    gateway = await startGateway()
  })
  afterEach(() => gateway.close())

  test('gives a stranger an account on the free plan and a key that works', async () => {
    const { status, body } = await stranger({ email: 'ada@example.com', name: 'Ada' })
    expect(status).toBe(201)
    expect(body).toEqual({
      user_id: expect.stringMatching(/^usr_[0-9A-HJKMNP-TV-Z]{26}$/),
      email: 'ada@example.com',
      name: 'Ada',
      api_key: expect.stringMatching(/^sy_live_[0-9A-Za-z]{43}$/),
      plan: 'free',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
    const me = await gateway.api('GET', '/api/auth/me', undefined, body.api_key)
    expect(me.status).toBe(200)
    expect(me.body).toMatchObject({
      user_id: body.user_id,
      email: 'ada@example.com',
      name: 'Ada',
      plan: 'free',
    })
  })

  test('refuses a body of more than 64 KB before it is read, since anybody can send it', async () => {
    const asked = (length: number) =>
      request(`${gateway.url}/api/auth/signup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'content-length': length },
      }).on('error', () => {})
    const announced = asked(9_900_000)
    announced.write('{')
    const [response] = (await once(announced, 'response')) as [IncomingMessage]
    expect([response.statusCode, response.headers.connection]).toEqual([413, 'close'])
    announced.destroy()
    expect((await stranger({ email: 'a@example.com', name: 'x'.repeat(64 * 1024) })).status).toBe(413)
    expect((await stranger({ email: 'a@example.com', name: 'x'.repeat(60_000) })).status).toBe(400)
  })

  test('lets an admin choose the plan, and nobody else', async () => {
    const byAdmin = await gateway.api('POST', '/api/auth/signup', { email: 'a@example.com', plan: 'team' })
    expect(byAdmin.status).toBe(201)
    expect(byAdmin.body.plan).toBe('team')
    const byStranger = await stranger({ email: 'b@example.com', plan: 'team' })
    expect(byStranger.status).toBe(400)
    expect(byStranger.body).toMatchObject({ error: { code: 'bad_request', param: 'plan' } })
    const byUser = await gateway.api(
      'POST',
      '/api/auth/signup',
      { email: 'b@example.com', plan: 'team' },
      byAdmin.body.api_key,
    )
    expect(byUser.status).toBe(400)
  })

  test.each([
    [{}, 'email'],
    [{ email: 5 }, 'email'],
    [{ email: 'not an address' }, 'email'],
    [{ email: `${'a'.repeat(250)}@example.com` }, 'email'],
    [{ email: 'a@example.com', name: '' }, 'name'],
    [{ email: 'a@example.com', name: 'a\nb' }, 'name'],
    [{ email: 'a@example.com', name: 'a'.repeat(201) }, 'name'],
    [{ email: 'a@example.com', role: 'admin' }, 'role'],
    [{ email: 'a@example.com', plan: 'platinum' }, 'plan'],
  ])('refuses %j and names %s', async (body, param) => {
    const answer = await stranger(body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: { code: 'bad_request', param, status: 400 } })
  })

  test('gives an address to one of many who ask for it at once, in whatever spelling', async () => {
    const spellings = ['race@example.com', 'RACE@example.com', 'Race@Example.COM', 'race@EXAMPLE.com']
    const asked = Array.from({ length: 24 }, (_, i) => stranger({ email: spellings[i % 4] }))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(23)
    expect((await gateway.api('GET', '/api/auth/users')).body.total).toBe(1)
  })
})

test('a closed signup is for admins only, and says so', async () => {
  gateway = await startGateway({ config: { auth: { open_signup: false } } })
  const { status, body } = await stranger({ email: 'a@example.com' })
  expect(status).toBe(403)
  expect(body).toMatchObject({
    error: { code: 'forbidden', message: expect.stringContaining('auth.open_signup') },
  })
  expect((await gateway.api('POST', '/api/auth/signup', { email: 'a@example.com' })).status).toBe(201)
  await gateway.close()
})
