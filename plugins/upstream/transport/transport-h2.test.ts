import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createSecureServer, type Http2SecureServer, type Http2ServerResponse } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import tls from 'node:tls'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { Target } from '../../../contract/provider.ts'
import { UpstreamError } from '../../../kit/errors.ts'
import { Cancel } from '../../../kit/work/cancel.ts'
import { providerOf } from '../directory/provider.ts'
import { sections } from '../sections.ts'
import { Transport, type TransportOptions } from './transport.ts'
import type { UpstreamAnswer } from './upstream-answer.ts'

const file = (name: string): string =>
  readFileSync(new URL(`../../../test/fixtures/tls/${name}`, import.meta.url), 'utf8')
const trusted = tls.getCACertificates('default')
const { own } = sections.parse({ providers: { own: { type: 'openai' } } }).providers
const target: Target = { provider: providerOf('own', own, new Map(), {})!, model: 'm', key: undefined }

let server: Http2SecureServer
let transport: Transport
let connections = 0
let closed = 0
let ended = 0
let versions: string[] = []
let answer: (response: Http2ServerResponse) => unknown

beforeAll(async () => {
  tls.setDefaultCACertificates([...trusted, file('cert.pem')])
  server = createSecureServer({ key: file('key.pem'), cert: file('cert.pem'), allowHTTP1: true })
  server.on('secureConnection', (socket) => {
    connections += 1
    socket.on('close', () => {
      ended += 1
    })
  })
  server.on('request', (request, response) => {
    versions.push(request.httpVersion)
    request.resume()
    request.on('end', () => answer(response))
    request.on('close', () => {
      closed += 1
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})

afterEach(async () => {
  await transport.close()
  connections = 0
  closed = 0
  ended = 0
  versions = []
})

afterAll(() => {
  tls.setDefaultCACertificates(trusted)
  server.close()
})

function open(options?: TransportOptions) {
  transport = new Transport(options)
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/x`
  return (cancel = new Cancel(), timeouts = {}): Promise<UpstreamAnswer> =>
    transport.send(
      { method: 'POST', url, headers: { 'content-type': 'application/json' }, body: '{}' },
      target,
      cancel,
      timeouts,
    )
}

const whole = async (sent: Promise<UpstreamAnswer>): Promise<string> =>
  (await (await sent).whole()).toString()

const say = (text: string) => (response: Http2ServerResponse) => {
  response.writeHead(200, { 'content-type': 'text/plain', 'x-own': 'yes' })
  response.end(text)
}

test('a burst shares a connection, and each gets its own answer', async () => {
  let n = 0
  answer = (response) => {
    n += 1
    say(`answer ${n}`)(response)
  }
  const send = open()
  const texts = await Promise.all(Array.from({ length: 60 }, () => whole(send())))
  expect(new Set(texts).size).toBe(60)
  expect(new Set(versions)).toEqual(new Set(['2.0']))
  expect(connections).toBeLessThan(5)
})

test('status and headers are those of the answer', async () => {
  answer = (response) => {
    response.writeHead(429, { 'retry-after': '7', 'x-two': 'a' })
    response.end('slow')
  }
  const got = await open()()
  expect(got).toMatchObject({ status: 429, headers: { 'retry-after': '7', 'x-two': 'a' } })
  expect((await got.whole()).toString()).toBe('slow')
})

test('an answer that goes on behind its end loses its own stream, and the connection stays', async () => {
  answer = (response) => {
    response.writeHead(200)
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    }
    response.on('drain', more)
    more()
  }
  const send = open()
  const endless = await send()
  await endless.read()
  endless.finish()
  await expect.poll(() => closed).toBe(1)
  answer = say('next')
  expect(await whole(send())).toBe('next')
  expect(connections).toBe(1)
})

test('a call that is cancelled takes its own stream with it, and no other', async () => {
  const waiting: Http2ServerResponse[] = []
  answer = (response) => {
    response.writeHead(200)
    response.write('begun ')
    waiting.push(response)
  }
  const send = open()
  const cancel = new Cancel()
  const leaver = await send(cancel)
  const stayer = await send()
  cancel.abort(new Error('gone'))
  await expect(wholeOf(leaver)).rejects.toThrow('gone')
  await expect.poll(() => closed).toBe(1)
  waiting[1]!.end('and done')
  expect((await stayer.whole()).toString()).toBe('begun and done')
  expect(connections).toBe(1)
})

test('a stream that breaks off is an error of the provider', async () => {
  answer = (response) => {
    response.writeHead(200)
    response.write('half')
    setTimeout(() => response.stream.close(2), 20)
  }
  const sent = await open()()
  const error = await wholeOf(sent).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(UpstreamError)
  expect(error).toMatchObject({ fault: 'network' })
})

test('a silent provider is left at the limit, and the connection goes on for others', async () => {
  answer = () => {}
  const send = open()
  await expect(send(new Cancel(), { firstByteMs: 60 })).rejects.toMatchObject({ fault: 'timeout' })
  answer = say('there')
  expect(await whole(send())).toBe('there')
  expect(connections).toBe(1)
})

test('a connection takes new calls for its time only, and calls that run on it end on it', async () => {
  let last: Http2ServerResponse | undefined
  answer = (response) => {
    response.writeHead(200)
    response.write('long ')
    last = response
  }
  const send = open({ connectionMs: 50 })
  const long = await send()
  const running = last!
  await sleep(80)
  answer = say('short')
  expect(await whole(send())).toBe('short')
  expect(connections).toBe(2)
  running.end('done')
  expect((await long.whole()).toString()).toBe('long done')
  await expect.poll(() => ended).toBe(1)
})

test('what runs on connections that take nothing new any more is cut with the rest', async () => {
  answer = (response) => {
    response.writeHead(200)
    response.write('long ')
  }
  const send = open({ connectionMs: 50 })
  const long = await send()
  await sleep(80)
  const next = await send()
  expect(connections).toBe(2)
  await transport.close()
  await expect(wholeOf(long)).rejects.toMatchObject({ fault: 'network' })
  await expect(wholeOf(next)).rejects.toMatchObject({ fault: 'network' })
})

const wholeOf = async (answer: UpstreamAnswer): Promise<Buffer> => answer.whole()
