import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

test.for([
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'Hello' }] }, '"content":"first"'],
  ['/v1/messages', { messages: [{ role: 'user', content: 'Hello' }], max_tokens: 9 }, '"text":"first"'],
  ['/v1/responses', { input: 'Hello', store: false }, '"delta":"first"'],
] as const)('the head of %s and its first words leave in one write', async ([path, asked, words]) => {
  const seen = Promise.withResolvers<void>()
  // The role, and the first words.
  upstream.reply({ content: ['first', 'last'], gate: { opened: seen.promise, after: 2 } })
  const body = JSON.stringify({ model: 'gpt-4o-mini', stream: true, ...asked })
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${hostname}`,
    `authorization: Bearer ${gateway.adminKey}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  const writes: string[] = []
  socket.on('data', (bytes: Buffer) => {
    writes.push(bytes.toString())
    seen.resolve()
  })
  await once(socket, 'close')
  expect(writes[0]).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
  expect(writes[0]).toContain(words)
  expect(writes[0]).not.toContain('last')
})
