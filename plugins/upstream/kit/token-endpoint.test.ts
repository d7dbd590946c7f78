import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Target } from '../../../contract/provider.ts'
import { fetchToken } from './token-endpoint.ts'

let answer: (response: ServerResponse) => void
let asked: { request: IncomingMessage; body: string }
const server = createServer(async (request, response) => {
  asked = { request, body: await text(request) }
  answer(response)
})
let url: string

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const target = { provider: { name: 'cloud' }, model: 'm', key: { owner: 'user' } } as Target
const form = () => new URLSearchParams({ grant_type: 'g', secret: 'hidden value' })
const json = (status: number, body: unknown) => (response: ServerResponse) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

test('a token comes with the time it ends', async () => {
  answer = json(200, { access_token: 't', expires_in: 60 })
  const before = Date.now()
  const { value, expiresAt } = await fetchToken({ url, form: form() }, target)
  expect(value).toBe('t')
  expect(expiresAt).toBeGreaterThanOrEqual(before + 60_000)
  expect(expiresAt).toBeLessThanOrEqual(Date.now() + 60_000)
  expect(asked.request.method).toBe('POST')
  expect(new URLSearchParams(asked.body).get('secret')).toBe('hidden value')
})

test('a metadata service is asked by its headers', async () => {
  answer = json(200, { access_token: 't', expires_in: 60 })
  await fetchToken({ url, headers: { 'metadata-flavor': 'Google' } }, target)
  expect([asked.request.method, asked.body]).toEqual(['GET', ''])
  expect(asked.request.headers['metadata-flavor']).toBe('Google')
})

test.each([undefined, 'soon', -1, null])(
  'a lifetime that is none, %s, is taken for an hour',
  async (expires_in) => {
    answer = json(200, { access_token: 't', expires_in })
    const { expiresAt } = await fetchToken({ url, form: form() }, target)
    expect(expiresAt).toBeGreaterThan(Date.now() + 3_500_000)
  },
)

test.each([
  ['a refusal', json(400, { error: 'invalid_grant', error_description: 'hidden value' }), 401, false],
  ['a refusal without words', json(403, null), 401, false],
  ['too many requests', json(429, {}), 429, true],
  ['a failure', json(503, { error: 'temporarily_unavailable' }), 503, true],
  ['no token', json(200, { access_token: '' }), 200, true],
  ['no JSON', (response: ServerResponse) => response.end('<html>hidden value'), 200, true],
])(
  '%s is the provider’s error, and tells nothing of what was sent',
  async (_, answering, status, retryable) => {
    answer = answering
    const error = (await fetchToken({ url, form: form() }, target).catch(
      (thrown: unknown) => thrown,
    )) as Error
    expect(error).toMatchObject({ status: 502, code: 'provider_error', providerStatus: status, retryable })
    expect(error.message).not.toContain('hidden')
  },
)

test('a key is not sent on to where the endpoint points, nor to where nobody is', async () => {
  answer = (response) => response.writeHead(307, { location: `${url}/elsewhere` }).end()
  await expect(fetchToken({ url, form: form() }, target)).rejects.toMatchObject({
    fault: 'network',
    retryable: true,
  })
  expect(asked.request.url).toBe('/token')
  await expect(fetchToken({ url: 'http://127.0.0.1:1/' }, target)).rejects.toMatchObject({ fault: 'network' })
})
