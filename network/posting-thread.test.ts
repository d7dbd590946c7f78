import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { HookFault } from '../kit/work/hook-fault.ts'
import { PostingThread } from './posting-thread.ts'

interface Received {
  readonly path: string
  readonly body: string
  readonly signature: unknown
}

let receiver: Server
let port: number
let posts: PostingThread
const received: Received[] = []
/** Requests to `/hang` whose connection is open. */
let hanging = 0

beforeAll(async () => {
  receiver = createServer(async (request, response) => {
    const path = request.url!
    if (path === '/hang') {
      hanging += 1
      request.on('close', () => (hanging -= 1))
      return
    }
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    received.push({
      path,
      body: Buffer.concat(parts).toString(),
      signature: request.headers['webhook-signature'],
    })
    if (path === '/moved') response.writeHead(302, { location: '/elsewhere' }).end()
    else response.writeHead(429, { 'retry-after': '7' }).end('later')
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  port = (receiver.address() as AddressInfo).port
})

beforeEach(() => {
  received.length = 0
  posts = new PostingThread(['127.0.0.1'])
})
afterEach(() => posts.close())
afterAll(() => {
  receiver.closeAllConnections()
  receiver.close()
})

const never = new AbortController().signal

const sent = (path: string, more: { timeoutMs?: number; hosts?: string[] } = {}) => ({
  plugin: 'tells',
  hosts: ['*'],
  url: `http://127.0.0.1:${port}${path}`,
  body: '{"event":"ümlaut"}',
  headers: { 'webhook-signature': 'v1,abc' },
  ...more,
})

test('a post arrives as it was made, and the head of its answer comes back', async () => {
  const answer = await posts.post(sent('/word'), never)
  expect(answer.status).toBe(429)
  expect(answer.headers['retry-after']).toBe('7')
  expect(received).toEqual([{ path: '/word', body: '{"event":"ümlaut"}', signature: 'v1,abc' }])
})

test('a redirect is an answer, and nothing is sent to where it leads', async () => {
  expect((await posts.post(sent('/moved'), never)).status).toBe(302)
  expect(received.map(({ path }) => path)).toEqual(['/moved'])
})

test('a plugin reaches no host that it has no permission for', async () => {
  const post = posts.post(sent('/word', { hosts: ['elsewhere.example'] }), never)
  await expect(post).rejects.toThrow(HookFault)
  await expect(post).rejects.toThrow('tells reaches for 127.0.0.1 without the permission "network:127.0.0.1"')
  expect(received).toEqual([])
})

test('an address inside is refused unless the operator allows it', async () => {
  const strict = new PostingThread([])
  try {
    await expect(strict.post(sent('/word'), never)).rejects.toThrow('127.0.0.1 is at 127.0.0.1 (loopback)')
    expect(received).toEqual([])
  } finally {
    await strict.close()
  }
})

test('a receiver that hangs is left when its time is up, and holds up nobody else', async () => {
  const late = Array.from({ length: 20 }, () => posts.post(sent('/hang', { timeoutMs: 300 }), never))
  const failed = Promise.allSettled(late)
  expect((await posts.post(sent('/word'), never)).status).toBe(429)
  for (const result of await failed)
    expect(result).toMatchObject({ status: 'rejected', reason: { name: 'TimeoutError' } })
  await expect.poll(() => hanging).toBe(0)
})

test('a post that is not wanted any more closes its connection', async () => {
  const unwanted = new AbortController()
  const post = posts.post(sent('/hang'), unwanted.signal)
  post.catch(() => {})
  await expect.poll(() => hanging).toBe(1)
  unwanted.abort()
  await expect(post).rejects.toThrow()
  await expect.poll(() => hanging).toBe(0)
})

test('what was aborted before is never sent', async () => {
  await expect(posts.post(sent('/word'), AbortSignal.abort())).rejects.toThrow()
  await posts.post(sent('/last'), never)
  expect(received.map(({ path }) => path)).toEqual(['/last'])
})

test('closing ends the posts under way', async () => {
  const post = posts.post(sent('/hang'), never)
  post.catch(() => {})
  await expect.poll(() => hanging).toBe(1)
  await posts.close()
  await expect(post).rejects.toThrow('it was switched off')
  await expect.poll(() => hanging).toBe(0)
})
