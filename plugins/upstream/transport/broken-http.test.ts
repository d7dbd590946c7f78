import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Target } from '../../../contract/provider.ts'
import { UpstreamError } from '../../../kit/errors.ts'
import { Cancel } from '../../../kit/work/cancel.ts'
import { providerOf } from '../directory/provider.ts'
import { sections } from '../sections.ts'
import { Transport } from './transport.ts'

/** Providers that do not speak HTTP as it is: each is a failure that says what is wrong, whatever the parser calls it. */

let server: Server
let url: string
let transport: Transport
let answer: (socket: Socket) => void

beforeAll(async () => {
  server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
})
afterAll(() => server.close())
beforeEach(() => {
  transport = new Transport()
})
afterEach(() => transport.close())

const { own } = sections.parse({ providers: { own: { type: 'openai' } } }).providers
const target: Target = { provider: providerOf('own', own, new Map(), {})!, model: 'm', key: undefined }
const ok = 'HTTP/1.1 200 OK\r\n'

test.each<[string, string]>([
  ['nothing', ''],
  ['no HTTP', 'Hello there.\r\n\r\n'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.9\r\n'],
  ['a status that is none', 'HTTP/1.1 abc OK\r\n\r\n'],
  ['half of a status line', 'HTTP/1.1 20'],
  ['half of its headers', `${ok}content-type: app`],
  ['a header without a name', `${ok}: x\r\n\r\n`],
  ['headers without end', `${ok}x: ${'x'.repeat(100_000)}`],
  ['a length that is no number', `${ok}content-length: many\r\n\r\n{}`],
  ['two lengths', `${ok}content-length: 2\r\ncontent-length: 3\r\n\r\n{}x`],
  ['a length and chunks', `${ok}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
  ['less than its length', `${ok}content-length: 100\r\n\r\n{}`],
  ['a chunk without its length', `${ok}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
  ['chunks without the last one', `${ok}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`],
  [
    'an upgrade that nobody wanted',
    'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  ],
])('a provider that sends %s fails, and the message says how', async (_, bytes) => {
  answer = (socket) => socket.end(bytes)
  const request = { method: 'POST', url, headers: {}, body: '{}' } as const
  const reading = (async () => (await transport.send(request, target, new Cancel(), {})).whole())()
  const error: unknown = await reading.then(String, (reason: unknown) => reason)
  expect(error).toBeInstanceOf(UpstreamError)
  expect(error).toMatchObject({ fault: 'network', retryable: true, status: 502 })
  expect((error as UpstreamError).message).toMatch(/own could not be reached or broke off \([A-Z]\w+\)\.$/)
  expect((error as UpstreamError).message).not.toMatch(/undefined|null|object/)
})
