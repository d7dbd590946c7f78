import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { oneByOne } from './one-by-one.ts'

interface Taken {
  readonly url: string
  readonly body: string
  readonly socket: Socket
  answer(): void
}

/** Requests that were handed over, in order; how many had no answer at once; and whether each is answered by itself. */
let taken: Taken[] = []
let open = 0
let mostOpen = 0
let isGiving = false
const server = createServer(
  oneByOne((req: IncomingMessage, res: ServerResponse) => {
    open += 1
    mostOpen = Math.max(mostOpen, open)
    let body = ''
    req.setEncoding('utf8')
    req.on('data', (part: string) => {
      body += part
    })
    const answer = (): void => {
      open -= 1
      res.end(req.url)
    }
    req.on('end', () => {
      taken.push({ url: req.url!, body, socket: req.socket, answer })
      if (isGiving) setImmediate(answer)
    })
  }),
)

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => server.close())
beforeEach(() => {
  taken = []
  open = mostOpen = 0
  isGiving = false
})

function connected(): { readonly socket: Socket; readonly came: () => string } {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  let text = ''
  socket.on('data', (bytes: Buffer) => {
    text += bytes.toString()
  })
  return { socket, came: () => text }
}

const get = (n: number): string => `GET /${n} HTTP/1.1\r\nhost: x\r\n\r\n`
const taking = (count: number) => expect.poll(() => taken.length).toBe(count)

const many = 5000
const urls = Array.from({ length: many }, (_, n) => `/${n}`)
const bytes = urls.map((_, n) => get(n)).join('')

test('requests that come in a row are answered one after the other, in their order', async () => {
  isGiving = true
  const { socket, came } = connected()
  socket.write(bytes)
  await taking(many)
  await expect.poll(() => came().endsWith(urls.at(-1)!)).toBe(true)
  expect(taken.map(({ url }) => url)).toEqual(urls)
  expect(came().match(/HTTP\/1\.1 200/g)).toHaveLength(many)
  expect(mostOpen).toBe(1)
  socket.destroy()
})

test('no more is read of a connection while requests of it wait, and then the rest is', async () => {
  const { socket } = connected()
  socket.write(bytes)
  await taking(1)
  // One that comes later is served meanwhile.
  const other = connected()
  other.socket.write(get(0))
  await taking(2)
  const { socket: served, answer } = taken[0]!
  expect(served.bytesRead).toBeLessThan(bytes.length)
  isGiving = true
  answer()
  await taking(many + 1)
  expect(served.bytesRead).toBe(bytes.length)
  socket.destroy()
  other.socket.destroy()
})

test('a request that waits has a body that comes later', async () => {
  const { socket } = connected()
  socket.write(`${get(0)}POST /1 HTTP/1.1\r\nhost: x\r\ncontent-length: 200000\r\n\r\n`)
  await taking(1)
  socket.write('a'.repeat(200_000))
  taken[0]!.answer()
  await taking(2)
  expect(taken[1]!.body).toHaveLength(200_000)
  socket.destroy()
})

test('those that wait on a connection that is gone are not handed over', async () => {
  const { socket } = connected()
  socket.write(get(0) + get(1) + get(2))
  await taking(1)
  const { socket: served, answer } = taken[0]!
  served.destroy()
  await once(served, 'close')
  answer()
  const other = connected()
  other.socket.write(get(3))
  await taking(2)
  expect(taken[1]!.url).toBe('/3')
  socket.destroy()
  other.socket.destroy()
})
