import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { toGatewayError } from '../../kernel/to-gateway-error.ts'
import { openapi } from '../../plugins/system/openapi/document.ts'
import { aRoute, type Served, serveRoutes } from '../../test/served.ts'
import { rawBody, streamedBody } from './body-forms.ts'
import { fileAnswer } from './file-answer.ts'

const megabyte = 2 ** 20
const mostBytes = 300 * megabyte

let served: Served
/** The observations of the handlers. */
let seen: string[]
/** Held by handlers that read slowly. */
let gate: PromiseWithResolvers<void>
let received: number

const sums = z.object({ bytes: z.number(), sha256: z.string() })
const post = { method: 'post', access: 'public', summary: 'Takes bytes' } as const

const routes = [
  aRoute({
    ...post,
    path: '/raw',
    body: rawBody({ maxBytes: 1000 }),
    returns: fileAnswer,
    handle: ({ body }) => ({ body, type: 'bin' }),
  }),
  aRoute({
    ...post,
    path: '/streamed',
    body: streamedBody({ maxBytes: mostBytes }),
    returns: sums.extend({ type: z.string(), size: z.number() }),
    async handle({ body }) {
      const hash = createHash('sha256')
      let bytes = 0
      try {
        for await (const part of body) {
          hash.update(part)
          bytes += part.length
          received = bytes
        }
      } catch (error) {
        seen.push((error as Error).name, toGatewayError(error).code)
        throw error
      }
      return { bytes, sha256: hash.digest('hex'), type: body.type ?? 'none', size: body.size ?? -1 }
    },
  }),
  aRoute({
    ...post,
    path: '/small',
    body: streamedBody({ maxBytes: 1000, types: ['text/csv', 'image/*'] }),
    returns: z.object({ bytes: z.number() }),
    async handle({ body }) {
      let bytes = 0
      for await (const part of body) bytes += part.length
      return { bytes }
    },
  }),
  aRoute({
    ...post,
    path: '/usual',
    body: streamedBody(),
    returns: 'text',
    async handle({ body }) {
      for await (const _ of body);
      return 'read'
    },
  }),
  aRoute({
    ...post,
    path: '/slow',
    body: streamedBody({ maxBytes: mostBytes }),
    returns: 'text',
    async handle({ body }) {
      for await (const part of body) {
        received += part.length
        await gate.promise
      }
      return 'done'
    },
  }),
  aRoute({
    ...post,
    path: '/unread',
    body: streamedBody({ maxBytes: mostBytes }),
    returns: 'text',
    handle: () => 'not for me',
  }),
]

beforeAll(async () => {
  served = await serveRoutes({ test: routes }, { bodyLimits: { bytes: 2000, depth: 16, nodes: 1000 } })
})

beforeEach(() => {
  seen = []
  received = 0
  gate = Promise.withResolvers()
})

afterEach(() => {
  vi.useRealTimers()
})

afterAll(() => served.close())

const send = (path: string, body: NonNullable<RequestInit['body']>, headers: Record<string, string> = {}) =>
  fetch(served.url + path, { method: 'POST', body, headers })

/** A request whose body the test writes by itself. */
function begin(path: string, headers: Record<string, string | number> = {}): ClientRequest {
  return request(served.url + path, { method: 'POST', headers })
}

async function answerTo(
  asked: ClientRequest,
): Promise<{ status: number; connection: unknown; text: string }> {
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString()
  return { status: response.statusCode!, connection: response.headers.connection, text }
}

test('raw bytes come whole, whatever their type, and no more of them than may', async () => {
  const bytes = Buffer.from([0, 255, 1, 254])
  const response = await send('/raw', bytes, { 'content-type': 'application/x-anything' })
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
  expect((await send('/raw', Buffer.alloc(1000))).status).toBe(200)
  expect((await send('/raw', Buffer.alloc(1001))).status).toBe(413)
})

test('256 MB go through a streamed body, and are never in memory', async () => {
  const part = Buffer.alloc(64 * 1024, 'x')
  const parts = (256 * megabyte) / part.length
  const expected = createHash('sha256')
  const asked = begin('/streamed', { 'content-type': 'text/plain', 'content-length': parts * part.length })
  const before = process.memoryUsage().rss
  let most = 0
  for (let i = 0; i < parts; i++) {
    expected.update(part)
    if (!asked.write(part)) await once(asked, 'drain')
    if (i % 64 === 0) most = Math.max(most, process.memoryUsage().rss)
  }
  asked.end()
  const { status, text } = await answerTo(asked)
  expect([status, JSON.parse(text)]).toEqual([
    200,
    {
      bytes: parts * part.length,
      sha256: expected.digest('hex'),
      type: 'text/plain',
      size: parts * part.length,
    },
  ])
  expect(most - before).toBeLessThan(128 * megabyte)
})

test('a handler that reads slowly holds up the client, and no memory', async () => {
  const part = Buffer.alloc(64 * 1024)
  const asked = begin('/slow', { 'transfer-encoding': 'chunked' })
  let written = 0
  const parts = function* (): Generator<Buffer> {
    for (; written < 64 * megabyte; written += part.length) yield part
  }
  const sent = pipeline(Readable.from(parts()), asked)
  let before = -1
  const stands = (): boolean => {
    const same = written === before
    before = written
    return same
  }
  await expect.poll(stands, { interval: 100 }).toBe(true)
  expect(written).toBeLessThan(32 * megabyte)
  expect(received).toBeLessThanOrEqual(part.length * 2)
  gate.resolve()
  const answered = answerTo(asked)
  await sent
  expect(await answered).toMatchObject({ status: 200, text: 'done' })
})

test('what is announced to be too much is refused before it is read, and the rest as soon as it is', async () => {
  const announced = begin('/small', { 'content-type': 'text/csv', 'content-length': 1001 })
  announced.write('x')
  expect(await answerTo(announced)).toMatchObject({ status: 413, connection: 'close' })
  const chunked = begin('/small', { 'content-type': 'text/csv', 'transfer-encoding': 'chunked' })
  chunked.write(Buffer.alloc(1001))
  const refused = await answerTo(chunked)
  expect(refused).toMatchObject({ status: 413, connection: 'close' })
  expect(refused.text).toContain('larger than 1000 bytes')
  const usual = await send('/usual', Buffer.alloc(2001))
  expect([usual.status, (await send('/usual', Buffer.alloc(2000))).status]).toEqual([413, 200])
})

test('a client that goes on sending hears that it is too much, and the connection ends', async () => {
  for (const path of ['/raw', '/small', '/usual', '/unread'])
    for (let n = 0; n < 5; n++) {
      const asked = begin(path, { 'content-type': 'text/csv', 'transfer-encoding': 'chunked' })
      const closed = once(asked, 'close')
      const part = Buffer.alloc(256 * 1024)
      const answered = answerTo(asked)
      let goesOn = true
      asked.on('error', () => {})
      asked.on('close', () => {
        goesOn = false
      })
      const send = (): void => {
        if (goesOn) asked.write(part, () => setImmediate(send))
      }
      send()
      const status = path === '/unread' ? 200 : 413
      expect([path, await answered]).toEqual([path, expect.objectContaining({ status, connection: 'close' })])
      asked.destroy()
      await closed
    }
})

test('the limit is of what is inflated, and what inflates wrongly is refused', async () => {
  const zipped = { 'content-type': 'text/csv', 'content-encoding': 'gzip' }
  const fits = await send('/small', gzipSync(Buffer.alloc(1000)), zipped)
  expect([fits.status, await fits.json()]).toEqual([200, { bytes: 1000 }])
  expect((await send('/small', gzipSync(Buffer.alloc(100_000)), zipped)).status).toBe(413)
  expect((await send('/small', 'no gzip', zipped)).status).toBe(400)
  expect((await send('/small', 'x', { ...zipped, 'content-encoding': 'rot13' })).status).toBe(415)
})

test('a body of a type that the route does not take is refused', async () => {
  for (const [type, status] of [
    ['text/csv; charset=utf-8', 200],
    ['image/png', 200],
    ['application/json', 415],
  ] as const)
    expect((await send('/small', 'x', { 'content-type': type })).status, type).toBe(status)
})

test('a client that leaves ends the reading; it is no failure, and holds nothing', async () => {
  const before = served.generation.leases
  for (const headers of [{ 'content-length': 1000 }, { 'transfer-encoding': 'chunked' }]) {
    received = 0
    const asked = begin('/streamed', headers).on('error', () => {})
    asked.write('begun')
    await expect.poll(() => received).toBe(5)
    asked.destroy()
    await expect.poll(() => served.generation.leases).toBe(before)
  }
  await expect.poll(() => seen).toEqual(['ClientGone', 'internal_error', 'ClientGone', 'internal_error'])
  expect(served.logged.filter((line) => line.includes('failed'))).toEqual([])
})

test('a client that stalls is refused after a minute', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const asked = begin('/streamed', { 'content-length': 1000 })
  asked.write('begun')
  const answered = answerTo(asked)
  await vi.waitFor(() => expect(received).toBe(5))
  await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0))
  vi.advanceTimersByTime(59_000)
  expect(seen).toEqual([])
  vi.advanceTimersByTime(1000)
  expect(await answered).toMatchObject({ status: 408, connection: 'close' })
  expect(seen).toEqual(['GatewayError', 'bad_request'])
})

test('what a handler leaves unread is not read for it', async () => {
  const asked = begin('/unread', { 'content-length': 100 * megabyte }).on('error', () => {})
  asked.write('begun')
  expect(await answerTo(asked)).toEqual({ status: 200, connection: 'close', text: 'not for me' })
  expect((await send('/unread', 'all of it')).status).toBe(200)
})

test('bytes stand in the documentation by the types that are taken', async () => {
  const { paths } = (await openapi(served.generation, '1')) as {
    paths: Record<string, { post: { requestBody: { content: object }; responses: object } }>
  }
  const types = (path: string) => Object.keys(paths[path]!.post.requestBody.content)
  expect(types('/raw')).toEqual(['application/octet-stream'])
  expect(types('/small')).toEqual(['text/csv', 'image/*'])
  expect(Object.keys(paths['/small']!.post.responses)).toEqual(expect.arrayContaining(['408', '413', '415']))
})
