import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { clientAddress } from '../../kernel/http/client.ts'
import { endWithAnswer } from '../../kernel/http/early-answer.ts'
import { IpRanges } from '../../kit/http/ip-ranges.ts'
import { ForwardedServer, forwardTo } from './forward.ts'

const servers: Server[] = []
const forwarded: ForwardedServer[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
  await Promise.all(forwarded.splice(0).map((server) => server.close()))
})

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** The server of the first thread, which is forwarded to. */
function first(answer: RequestListener): Promise<{ readonly port: number; readonly secret: string }> {
  const server = new ForwardedServer(10_000, answer)
  forwarded.push(server)
  return server.listen()
}

/** A server that forwards everything to another. */
async function between(answer: RequestListener): Promise<string> {
  const forward = forwardTo(await first(answer))
  return `http://127.0.0.1:${await serve((req, res) => void forward(req, res))}`
}

test('a request and its answer come through as they are', async () => {
  const url = await between(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    res.writeHead(207, { 'x-own': 'yes' })
    res.end(`${req.method} ${req.url} ${req.headers['x-asked']} ${Buffer.concat(chunks)}`)
  })
  for (const method of ['POST', 'DELETE', 'PUT']) {
    const response = await fetch(`${url}/a?b=c`, { method, headers: { 'x-asked': 'this' }, body: 'body' })
    expect([response.status, response.headers.get('x-own'), await response.text()]).toEqual([
      207,
      'yes',
      `${method} /a?b=c this body`,
    ])
  }
  expect(await (await fetch(`${url}/plain`)).text()).toBe('GET /plain undefined ')
})

test('the client is who asked, and nothing of how it was handed on is seen', async () => {
  const url = await between((req, res) => {
    res.end(
      JSON.stringify([
        clientAddress(req, new IpRanges([])),
        Object.keys(req.headers).filter((name) => /handed/.test(name)),
      ]),
    )
  })
  const headers = { 'x-forward-for': '8.8.8.8', 'x-forward-secret': 'guessed' }
  expect(await (await fetch(url, { headers })).json()).toEqual(['127.0.0.1', []])
})

test('whoever does not know the secret is not answered', async () => {
  const { port, secret } = await first((_, res) => res.end('in'))
  const other = secret.replaceAll(/./g, (letter) => (letter === 'a' ? 'b' : 'a'))
  const headers = { 'x-forward-for': '8.8.8.8', 'x-forward-secret': other }
  await expect(fetch(`http://127.0.0.1:${port}`, { headers })).rejects.toThrow()
  await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow()
})

test('an answer comes as it is written, and ends where it was made when the client leaves', async () => {
  const left = Promise.withResolvers<void>()
  const url = await between((_, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    res.write('event: first\n\n')
    res.once('close', () => left.resolve())
  })
  const leaving = new AbortController()
  const response = await fetch(url, { signal: leaving.signal })
  const { value } = await response.body!.getReader().read()
  expect(Buffer.from(value!).toString()).toBe('event: first\n\n')
  leaving.abort()
  await left.promise
})

test('says so when the first thread cannot be reached', async () => {
  const hand = forwardTo({ port: 1, secret: 'any' })
  const port = await serve((req, res) => void hand(req, res))
  const response = await fetch(`http://127.0.0.1:${port}`)
  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({ error: { code: 'internal_error' } })
})

test('an answer that comes before the request is over reaches the client, and ends the connection', async () => {
  const url = await between((req, res) => {
    endWithAnswer(req, res)
    res.writeHead(413)
    res.end('too much')
  })
  const asked = request(url, { method: 'POST', headers: { 'transfer-encoding': 'chunked' } })
  const answered = once(asked, 'response') as Promise<[IncomingMessage]>
  asked.on('error', () => {})
  const part = Buffer.alloc(64 * 1024)
  const sending = setInterval(() => asked.write(part), 1)
  try {
    const [response] = await answered
    expect([response.statusCode, response.headers.connection]).toEqual([413, 'close'])
    expect(Buffer.concat(await response.toArray()).toString()).toBe('too much')
  } finally {
    clearInterval(sending)
    asked.destroy()
  }
})

test('a client that leaves in the middle of an upload ends it where it is read', async () => {
  const seen = Promise.withResolvers<void>()
  const left = Promise.withResolvers<boolean>()
  const url = await between((req) => {
    req.on('data', () => seen.resolve())
    req.on('close', () => left.resolve(req.complete))
    req.on('error', () => {})
  })
  const asked = request(url, { method: 'POST', headers: { 'content-length': 1000 } }).on('error', () => {})
  asked.write('begun')
  await seen.promise
  asked.destroy()
  expect(await left.promise).toBe(false)
})
