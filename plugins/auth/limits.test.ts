import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

const limits = { signup_per_hour: 3, keys_per_user: 4, failed_keys_per_minute: 5 }
const wrong = 'sy_live_0000000000000000000000000000000000000000000'
/** As an operator may have brought one: longer than 32 characters, and yet such as one could guess. */
const brought = (n: number) => `sy_brought_key_of_the_old_gateway_${n}`

let gateway: TestGateway
let user: { userId: string; key: string }

beforeAll(async () => {
  gateway = await startGateway({
    config: { auth: { admin_rpm: 1_000_000, ...limits }, server: { trusted_proxies: ['127.0.0.1'] } },
  })
  user = await gateway.signUp('ada')
})

afterAll(() => gateway.close())

/** A request of a client at this address, through a proxy that is trusted. */
async function from(address: string, method: string, path: string, key?: string, body?: object) {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      'x-forwarded-for': address,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const { status, headers } = response
  return { status, headers, body: (await response.json()) as { error: { code: string; type: string } } }
}

/** How many strangers were refused so far, as the status tells. */
const refused = async () => {
  const { body } = await gateway.api('GET', '/api/status')
  return body.refused as { failed_keys: number; signups: number }
}

describe('signups', () => {
  const signUp = (address: string, name: string, key?: string) =>
    from(address, 'POST', '/api/auth/signup', key, { email: `${name}@example.com` })

  test('are so many an hour from one address, also those for an address that is taken', async () => {
    expect((await signUp('192.0.2.1', 'one')).headers.get('x-ratelimit-remaining')).toBe('2')
    expect((await signUp('192.0.2.1', 'not an address')).status).toBe(400)
    expect((await signUp('192.0.2.1', 'one')).status).toBe(409)
    expect((await signUp('spoofed, 192.0.2.1', 'two', user.key)).status).toBe(201)
    const before = await refused()
    const { status, headers, body } = await signUp('192.0.2.1', 'three')
    expect([status, body.error.code]).toEqual([429, 'rate_limited'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(3500)
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(3600)
    expect(headers.get('x-ratelimit-remaining')).toBe('0')
    expect((await signUp('192.0.2.2', 'three')).status).toBe(201)
    await signUp('192.0.2.1', 'four')
    const lines = gateway.logged.filter((line) => line.includes('too many signups'))
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ address: '192.0.2.1', level: 'warn' }])
    expect(await refused()).toEqual({ ...before, signups: before.signups + 2 })
  })

  test('by an admin are any number', async () => {
    const names = Array.from({ length: 5 }, (_, n) => `made-${n}`)
    const made = await Promise.all(names.map((name) => signUp('192.0.2.3', name, gateway.adminKey)))
    expect(made.map(({ status }) => status)).toEqual(names.map(() => 201))
    expect((await signUp('192.0.2.3', 'stranger')).status).toBe(201)
  })

  test('from one IPv6 connection count as from one address', async () => {
    const statuses: number[] = []
    for (let n = 1; n <= 4; n += 1) statuses.push((await signUp(`2001:db8::${n}`, `six-${n}`)).status)
    expect(statuses).toEqual([201, 201, 201, 429])
    expect((await signUp('2001:db8:0:1::1', 'six-other')).status).toBe(201)
  })
})

describe('keys of one user', () => {
  const own = '/api/auth/me/keys'
  const make = (key: string) => gateway.api('POST', own, {}, key)

  test('that work are so many, also when they are asked for all at once, and by an admin', async () => {
    const { userId, key } = await gateway.signUp('bob')
    const asked = Array.from({ length: 10 }, () => make(key))
    const answers = await Promise.all([...asked, gateway.api('POST', `/api/auth/users/${userId}/keys`, {})])
    const made = answers.filter(({ status }) => status === 201)
    expect(made).toHaveLength(3)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(8)
    expect((await make(key)).body.error.message).toContain('auth.keys_per_user')

    const expires_at = new Date(Date.now() + 3_600_000).toISOString()
    await gateway.api('DELETE', `${own}/${made[0]!.body.id}`, undefined, key)
    expect((await gateway.api('POST', own, { expires_at }, key)).status).toBe(201)
    expect((await make(key)).status).toBe(409)
  })

  test('are rotated at will, and with a grace so many times', async () => {
    const { key } = await gateway.signUp('cyd')
    for (let n = 0; n < 3; n += 1) await make(key)
    const { keys } = (await gateway.api('GET', own, undefined, key)).body
    let id = keys[1].id as string
    const rotate = async (body: object) => {
      const answer = await gateway.api('POST', `${own}/${id}/rotate`, body, key)
      if (answer.status === 200) id = answer.body.new_key_id
      return answer.status
    }
    const statuses: number[] = []
    for (let n = 0; n < 5; n += 1) statuses.push(await rotate({ grace_seconds: 3600 }))
    expect(statuses).toEqual([200, 200, 200, 200, 409])
    expect(await rotate({})).toBe(200)
    expect((await make(key)).status).toBe(409)
  })

  test('are no limit for the operator', async () => {
    for (let n = 0; n < 5; n += 1) {
      expect((await gateway.api('POST', '/api/auth/admin/keys', {})).status).toBe(201)
    }
  })
})

describe('an address from which keys fail', () => {
  const me = (address: string, key: string) => from(address, 'GET', '/api/plans', key)
  const fail = async (address: string, key = wrong) => {
    for (let n = 0; n < 5; n += 1) expect((await me(address, key)).status).toBe(401)
  }

  test('has to wait, for every kind of request and in the words of each wire', async () => {
    const before = await refused()
    await fail('198.51.100.1')
    expect(await refused()).toEqual({ ...before, failed_keys: before.failed_keys + 5 })
    const paths = [
      ['GET', '/api/auth/me', 'rate_limit_error'],
      ['POST', '/api/auth/signup', 'rate_limit_error'],
      ['POST', '/v1/chat/completions', 'rate_limit_error'],
      ['POST', '/v1/messages', 'rate_limit_error'],
    ]
    for (const [method, path, type] of paths) {
      const { status, headers, body } = await from(
        '198.51.100.1',
        method!,
        path!,
        wrong,
        method === 'POST' ? {} : undefined,
      )
      expect([status, body.error.type], path).toEqual([429, type])
      expect(Number(headers.get('retry-after')), path).toBeGreaterThan(0)
      expect(Number(headers.get('retry-after')), path).toBeLessThanOrEqual(60)
    }
    expect((await me('198.51.100.2', wrong)).status).toBe(401)
    expect((await from('198.51.100.1', 'GET', '/api/plans')).status).toBe(200)
    expect((await from('198.51.100.1', 'GET', '/api/auth/me')).status).toBe(401)
  })

  test('does not lock out keys that were made here', async () => {
    const { body } = await gateway.api('POST', '/api/auth/me/keys', {}, user.key)
    await fail('198.51.100.3')
    expect((await me('198.51.100.3', body.api_key)).status).toBe(200)
    expect((await me('198.51.100.3', wrong)).status).toBe(429)
  })

  test('locks out keys that were brought, or configured, unless they have worked from there', async () => {
    const { userId } = await gateway.signUp('dan')
    for (const n of [1, 2]) await gateway.api('POST', `/api/auth/users/${userId}/keys`, { key: brought(n) })
    expect((await me('198.51.100.4', brought(1))).status).toBe(200)
    expect((await me('198.51.100.5', brought(2))).status).toBe(200)
    expect((await me('198.51.100.4', gateway.adminKey)).status).toBe(200)
    await fail('198.51.100.4', 'sy_a_guess')
    expect((await me('198.51.100.4', brought(1))).status).toBe(200)
    expect((await me('198.51.100.4', brought(2))).status).toBe(429)
    expect((await me('198.51.100.4', gateway.adminKey)).status).toBe(200)
    expect((await me('198.51.100.5', brought(2))).status).toBe(200)
    await fail('198.51.100.5')
    expect((await me('198.51.100.5', gateway.adminKey)).status).toBe(429)
  })
})
