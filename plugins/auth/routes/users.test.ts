import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Accounts, kernelServices } from '#kernel'
import { startGateway, type TestGateway } from '../../../test/harness.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway.close())

const me = (key: string) => gateway.api('GET', '/api/auth/me', undefined, key)

test('an admin creates, lists and reads users', async () => {
  for (const name of ['one', 'two', 'three']) {
    const { status, body } = await gateway.api('POST', '/api/auth/users', {
      email: `${name}@example.com`,
      name,
      plan: 'pro',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({ name, plan: 'pro', api_key: expect.stringMatching(/^sy_live_/) })
  }
  const page = (await gateway.api('GET', '/api/auth/users?limit=2&offset=1')).body
  expect(page).toMatchObject({ total: 3, has_more: false, limit: 2, offset: 1 })
  expect(page.users.map(({ name }: { name: string }) => name)).toEqual(['two', 'three'])
  const one = (await gateway.api('GET', `/api/auth/users/${page.users[0].user_id}`)).body
  expect(one).toEqual(page.users[0])
})

test('a list has bounds, and says which parameter is wrong', async () => {
  const { status, body } = await gateway.api('GET', '/api/auth/users?limit=501')
  expect([status, body.error.param]).toEqual([400, 'limit'])
})

test('a change of plan or name holds for the next request, and null clears the name', async () => {
  const { userId, key } = await gateway.signUp('changing')
  expect((await me(key)).body).toMatchObject({ plan: 'free', name: 'changing' })
  const path = `/api/auth/users/${userId}`
  expect((await gateway.api('PUT', path, { plan: 'team' })).body).toMatchObject({
    plan: 'team',
    name: 'changing',
  })
  expect((await me(key)).body.plan).toBe('team')
  expect((await gateway.api('PUT', path, { name: null })).body).not.toHaveProperty('name')
  expect((await me(key)).body).not.toHaveProperty('name')
  const accounts = gateway.kernel.container.resolve<Accounts>(kernelServices.accounts)
  const principal = await accounts.authenticate(key)
  expect(principal?.plan).toBe('team')
})

test.each([
  [{ plan: 'gold' }, 'plan'],
  [{ plan: null }, 'plan'],
  [{ email: 'new@example.com' }, 'email'],
])('a change to %j is refused and names %s', async (change, param) => {
  const { userId } = await gateway.signUp(`refused-${param}-${JSON.stringify(change).length}`)
  const { status, body } = await gateway.api('PUT', `/api/auth/users/${userId}`, change)
  expect([status, body.error.param]).toEqual([400, param])
})

test('a deleted user is gone with all keys, and the address is free again', async () => {
  const { userId, key } = await gateway.signUp('leaving')
  await gateway.api('PUT', `/api/auth/users/${userId}/providers/openai`, { api_key: 'sk-leaving' })
  const second = (await gateway.api('POST', '/api/auth/me/keys', {}, key)).body.api_key
  expect((await me(second)).status).toBe(200)

  const { status, body } = await gateway.api('DELETE', `/api/auth/users/${userId}`)
  expect([status, body]).toEqual([200, { deleted: true, id: userId }])
  expect((await me(key)).status).toBe(401)
  expect((await me(second)).status).toBe(401)
  for (const path of ['', '/keys', '/providers', '/usage']) {
    expect((await gateway.api('GET', `/api/auth/users/${userId}${path}`)).status, path).toBe(404)
  }
  expect((await gateway.api('DELETE', `/api/auth/users/${userId}`)).status).toBe(404)
  expect((await gateway.signUp('leaving')).userId).not.toBe(userId)
})

test('a user who does not exist is not found, and an id that cannot be one is refused', async () => {
  const missing = '/api/auth/users/usr_00000000000000000000000000'
  expect((await gateway.api('GET', missing)).status).toBe(404)
  expect((await gateway.api('PUT', missing, { plan: 'pro' })).status).toBe(404)
  expect((await gateway.api('GET', '/api/auth/users/operator/keys')).status).toBe(404)
  const { status, body } = await gateway.api('GET', '/api/auth/users/a%00b')
  expect([status, body.error.param]).toEqual([400, 'id'])
})
