import { once } from 'node:events'
import { type ClientRequest, get, type IncomingMessage, request } from 'node:http'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { type Served, serveRoutes } from '../../test/served.ts'
import type { Generation } from '../plugin/generation.ts'
import type { Route, ServerEvent } from '../route.ts'

const eventBytes = 64 * 1024

let served: Served
let url: string
let generation: Generation
/** Requests whose handler runs on, whatever becomes of their clients. */
let held = 0
let sent = 0
let ended = false

async function* endless(): AsyncGenerator<ServerEvent> {
  try {
    for (;;) {
      sent += 1
      yield { event: 'more', data: 'x'.repeat(eventBytes) }
    }
  } finally {
    ended = true
  }
}

const routes: Route<unknown, unknown, unknown, unknown>[] = [
  {
    method: 'get',
    path: '/api/unwritable',
    access: 'public',
    summary: 'What JSON cannot hold',
    returns: z.unknown(),
    handle: () => ({ amount: 1n }),
  },
  {
    method: 'get',
    path: '/api/endless',
    access: 'public',
    summary: 'Events without end',
    returns: 'events',
    handle: endless,
  },
  {
    method: 'get',
    path: '/api/plain',
    access: 'any',
    summary: 'Nothing',
    returns: z.object({}),
    handle: () => ({}),
  },
  {
    method: 'post',
    path: '/api/held',
    access: 'public',
    summary: 'Never answers',
    body: z.unknown(),
    returns: z.object({}),
    handle: () => {
      held += 1
      return new Promise(() => {})
    },
  },
]

beforeAll(async () => {
  served = await serveRoutes({ test: routes }, { adminRpm: 3 })
  ;({ url, generation } = served)
  for (const name of ['one', 'two']) await served.accounts.keys.import(`sy_admin_${name}`, { type: 'admin' })
})

afterEach(() => {
  vi.useRealTimers()
})

afterAll(() => served.close())

test('events wait for a client that does not read, and end when it leaves', async () => {
  const left = new AbortController()
  const response = await fetch(`${url}/api/endless`, { signal: left.signal })
  expect(response.headers.get('content-type')).toContain('text/event-stream')
  let before = -1
  await expect
    .poll(
      () => {
        const stands = sent === before
        before = sent
        return stands
      },
      { interval: 200 },
    )
    .toBe(true)
  expect(sent * eventBytes).toBeLessThan(64 * 1024 * 1024)
  left.abort()
  await expect.poll(() => ended).toBe(true)
})

test('a request whose client left holds its generation no longer, wherever it was', async () => {
  const before = generation.leases
  const post = (length: number): ClientRequest =>
    request(`${url}/api/held`, { method: 'POST', headers: { 'content-length': length } }).on(
      'error',
      () => {},
    )
  const running = post(2)
  running.end('{}')
  await expect.poll(() => held).toBe(1)
  const sending = post(100)
  sending.write('{')
  await expect.poll(() => generation.leases).toBe(before + 2)
  running.destroy()
  sending.destroy()
  await expect.poll(() => generation.leases).toBe(before)
})

test('an answer that cannot be written is told in the envelope, and not as text', async () => {
  const response = await fetch(`${url}/api/unwritable`)
  expect(response.headers.get('content-type')).toContain('application/json')
  const { error } = (await response.json()) as { error: { request_id: string; status: number } }
  expect([error.request_id, error.status]).toEqual([response.headers.get('x-request-id'), 500])
})

test('a client that wants a WebSocket is told at once to go on over HTTP', async () => {
  const headers = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const [response] = (await once(get(`${url}/v1/responses`, { headers }), 'response')) as [IncomingMessage]
  response.resume()
  expect(response.statusCode).toBe(426)
  expect(response.headers.upgrade).toBe('HTTP/1.1')
  expect((await fetch(`${url}/v1/responses`)).status).toBe(404)
})

test('an admin key has so many requests a minute, each key for itself', async () => {
  vi.useFakeTimers({ toFake: ['Date'] })
  const ask = async (name: string) => {
    const { status, headers } = await fetch(`${url}/api/plain`, {
      headers: { 'x-admin-key': `sy_admin_${name}` },
    })
    const told = ['limit', 'remaining', 'reset'].map((what) => Number(headers.get(`x-ratelimit-${what}`)))
    return [status, ...told, headers.get('retry-after')]
  }
  expect(await ask('one')).toEqual([200, 3, 2, 60, null])
  vi.setSystemTime(Date.now() + 20_000)
  expect(await ask('one')).toEqual([200, 3, 1, 40, null])
  expect(await ask('one')).toEqual([200, 3, 0, 40, null])
  expect(await ask('one')).toEqual([429, 3, 0, 40, '40'])
  expect(await ask('two')).toEqual([200, 3, 2, 60, null])
  vi.setSystemTime(Date.now() + 39_999)
  expect(await ask('one')).toEqual([429, 3, 0, 1, '1'])
  vi.setSystemTime(Date.now() + 1)
  expect(await ask('one')).toEqual([200, 3, 2, 60, null])
})
