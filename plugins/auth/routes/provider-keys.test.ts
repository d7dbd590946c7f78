import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream({ apiKey: ['sk-test', 'sk-own-1234', 'sk-other-5678'] })
  gateway = await startGateway({
    upstream,
    config: {
      providers: {
        openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' },
        mycorp: { type: 'openai', base_url: upstream.baseUrl(), models: ['mycorp-*'] },
      },
    },
  })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

let users = 0
const someone = () => {
  users += 1
  return gateway.signUp(`provider-user-${users}`)
}

const chat = (apiKey: string, model = 'gpt-4o-mini') =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 }).chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Hello' }],
  })

describe('a provider key', () => {
  test('is stored, listed by name and status, replaced and removed', async () => {
    const { userId, key } = await someone()
    for (const [path, caller] of [
      ['/api/auth/me/providers', key],
      [`/api/auth/users/${userId}/providers`, gateway.adminKey],
    ] as const) {
      const put = await gateway.api('PUT', `${path}/openai`, { api_key: 'sk-own-1234' }, caller)
      expect(put.status).toBe(200)
      expect(put.body).toEqual({
        provider: 'openai',
        status: 'unverified',
        last_verified_at: null,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      })
      const list = (await gateway.api('GET', path, undefined, caller)).body
      expect(list).toMatchObject({ providers: [put.body], total: 1, has_more: false })
      const gone = await gateway.api('DELETE', `${path}/openai`, undefined, caller)
      expect([gone.status, gone.body]).toEqual([200, { deleted: true, id: 'openai' }])
      expect((await gateway.api('DELETE', `${path}/openai`, undefined, caller)).status).toBe(404)
      expect((await gateway.api('GET', path, undefined, caller)).body.total).toBe(0)
    }
  })

  test("of the user is used before the operator's, from the next call on and as long as it is stored", async () => {
    const mine = await someone()
    const theirs = await someone()
    const keysUsed = async () => {
      upstream.reset()
      await chat(mine.key)
      await chat(theirs.key)
      return upstream.requests.map(({ key }) => key)
    }
    expect(await keysUsed()).toEqual(['sk-test', 'sk-test'])
    await gateway.api('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-own-1234' }, mine.key)
    expect(await keysUsed()).toEqual(['sk-own-1234', 'sk-test'])
    await gateway.api('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-other-5678' }, mine.key)
    expect(await keysUsed()).toEqual(['sk-other-5678', 'sk-test'])
    await gateway.api('DELETE', '/api/auth/me/providers/openai', undefined, mine.key)
    expect(await keysUsed()).toEqual(['sk-test', 'sk-test'])
  })

  test('opens a provider that the operator has no key for', async () => {
    const { key } = await someone()
    const put = await gateway.api('PUT', '/api/auth/me/providers/mycorp', { api_key: 'sk-own-1234' }, key)
    expect(put.status).toBe(200)
    await chat(key, 'mycorp-large')
    expect(upstream.last().key).toBe('sk-own-1234')
  })

  test('of one user is out of reach of another', async () => {
    const mine = await someone()
    const theirs = await someone()
    await gateway.api('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-own-1234' }, mine.key)
    expect((await gateway.api('GET', '/api/auth/me/providers', undefined, theirs.key)).body.total).toBe(0)
    expect((await gateway.api('DELETE', '/api/auth/me/providers/openai', undefined, theirs.key)).status).toBe(
      404,
    )
    expect((await gateway.api('GET', '/api/auth/me/providers', undefined, mine.key)).body.total).toBe(1)
  })

  test('is tried when that is asked for, and the status says what came of it', async () => {
    const { userId, key } = await someone()
    const path = '/api/auth/me/providers/openai'
    expect((await gateway.api('POST', `${path}/check`, undefined, key)).status).toBe(404)

    await gateway.api('PUT', path, { api_key: 'sk-own-1234' }, key)
    const good = await gateway.api('POST', `${path}/check`, undefined, key)
    expect(good.body).toMatchObject({ status: 'configured', last_verified_at: expect.any(String) })
    expect(upstream.last()).toMatchObject({ method: 'GET', key: 'sk-own-1234' })

    await gateway.api('PUT', path, { api_key: 'sk-nobody-knows' }, key)
    const bad = await gateway.api('POST', `/api/auth/users/${userId}/providers/openai/check`)
    expect(bad.body).toMatchObject({ status: 'invalid', message: expect.stringContaining('your own key') })
    const list = await gateway.api('GET', '/api/auth/me/providers', undefined, key)
    expect(list.body.providers[0].status).toBe('invalid')
  })

  test.each([
    [{}, 'api_key'],
    [{ api_key: 7 }, 'api_key'],
    [{ api_key: '' }, 'api_key'],
    [{ api_key: 'sk own' }, 'api_key'],
    [{ api_key: 'sk-own\nx-evil: 1' }, 'api_key'],
    [{ api_key: 'schlüssel' }, 'api_key'],
    [{ api_key: 'k'.repeat(4097) }, 'api_key'],
    [{ api_key: 'sk-own', base_url: 'http://127.0.0.1' }, 'base_url'],
  ])('%# is refused when it is malformed, and is not repeated', async (body, param) => {
    const { key } = await someone()
    const answer = await gateway.api('PUT', '/api/auth/me/providers/openai', body, key)
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
    const secret = 'api_key' in body ? String(body.api_key) : ''
    if (secret.length > 3) expect(JSON.stringify(answer.body)).not.toContain(secret)
  })

  test.each(['nobody', 'OpenAI', 'open%20ai', 'mock'])('for %s is refused', async (provider) => {
    const { key } = await someone()
    const answer = await gateway.api('PUT', `/api/auth/me/providers/${provider}`, { api_key: 'sk-own' }, key)
    expect([answer.status, answer.body.error.param]).toEqual([400, 'provider'])
  })

  test('for an unknown provider is refused with the names of those there are', async () => {
    const { key } = await someone()
    const { body } = await gateway.api('PUT', '/api/auth/me/providers/nobody', { api_key: 'sk-own' }, key)
    expect(body.error.message).toMatch(/There are: .*mycorp, .*openai/)
    expect(body.error.message).not.toContain('mock')
  })
})
