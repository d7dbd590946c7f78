import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const mb = 1024 * 1024

let upstream: Upstream
let gateway: TestGateway
let userKey: string
const sockets: Socket[] = []

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { server: { body_memory: '4mb' } } })
  userKey = (await gateway.signUp('sender')).key
})

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

test('a body may begin with a byte order mark', async () => {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] })
  const headers = { authorization: `Bearer ${userKey}`, 'content-type': 'application/json' }
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers,
    body: `\ufeff${body}`,
  })
  expect(answer.status).toBe(200)
})

/** A request that stays unfinished: what the gateway answers to it. */
function begin(path: string, bytes: number, key = userKey): Promise<string> {
  const { hostname, port } = new URL(gateway.url)
  const socket = connect(Number(port), hostname)
  sockets.push(socket)
  const head = [
    `POST ${path} HTTP/1.1`,
    `host: ${hostname}`,
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${bytes + 1}`,
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.write(Buffer.alloc(bytes, '{'))
  socket.on('error', () => {})
  let heard = ''
  socket.on('data', (part: Buffer) => {
    heard += part
  })
  return once(socket, 'close').then(() => heard)
}

/** A call whose body has so many blanks behind it. */
const ask = (blanks: number): Promise<Response> =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${userKey}`, 'content-type': 'application/json' },
    body:
      JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }) +
      ' '.repeat(blanks),
  })

test.each(['/v1/chat/completions', '/v1/messages', '/api/auth/users'])(
  'of unfinished bodies to %s that are too large together the first is refused, and later ones are read',
  async (path) => {
    const first = begin(path, 1.5 * mb, gateway.adminKey)
    await expect.poll(() => sockets[0]!.bytesWritten).toBeGreaterThan(1.5 * mb)
    for (let n = 0; n < 3; n++) void begin(path, 1.5 * mb, gateway.adminKey)
    const heard = await first
    expect(heard).toMatch(/^HTTP\/1\.1 503 /)
    expect(heard).toMatch(/\r\nretry-after: \d+\r\n/i)
    expect(heard).toMatch(/"type":"overloaded/)
    expect((await ask(mb)).status).toBe(200)
  },
)

test('small bodies always find room, and what was read or left takes none', async () => {
  for (let n = 0; n < 30; n++) void begin('/v1/chat/completions', 200_000)
  await expect.poll(() => sockets.every(({ bytesWritten }) => bytesWritten > 200_000)).toBe(true)
  for (let n = 0; n < 6; n++) expect((await ask(1.5 * mb)).status).toBe(200)
  expect(sockets.every(({ closed }) => !closed)).toBe(true)
})
