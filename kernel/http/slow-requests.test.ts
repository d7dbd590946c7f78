import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ config: { server: { request_timeout: '300ms' } } })
})

afterAll(() => gateway.close())

test.each(['/api/auth/users', '/v1/chat/completions'])(
  'a client that never ends its request to %s is refused',
  async (path) => {
    const { hostname, port } = new URL(gateway.url)
    const socket = connect(Number(port), hostname)
    const head = [
      `POST ${path} HTTP/1.1`,
      `host: ${hostname}`,
      `authorization: Bearer ${gateway.adminKey}`,
      'content-type: application/json',
      'content-length: 100',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n{`)
    let heard = ''
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.toString()
    })
    await once(socket, 'close')
    expect(heard).toMatch(/^HTTP\/1\.1 408 /)
  },
)

test('a client that is in time is answered', async () => {
  expect((await gateway.api('GET', '/api/auth/users')).status).toBe(200)
})
