import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Target, UpstreamRequest } from '../../../contract/provider.ts'
import type { Timeouts } from '../../../kernel/call/call.ts'
import { UpstreamError } from '../../../kit/errors.ts'
import { Cancel } from '../../../kit/work/cancel.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'
import { providerOf } from '../directory/provider.ts'
import { sections } from '../sections.ts'
import { Transport } from './transport.ts'
import type { UpstreamAnswer } from './upstream-answer.ts'

let upstream: Upstream
let transport: Transport

beforeAll(async () => {
  upstream = await startUpstream()
})

afterAll(() => upstream.close())

beforeEach(() => {
  upstream.reset()
  transport = new Transport()
})

afterEach(() => transport.close())

const { own } = sections.parse({ providers: { own: { type: 'openai' } } }).providers
const target: Target = { provider: providerOf('own', own, new Map(), {})!, model: 'm', key: undefined }
const over = new Error('over')

function requestOf(fields: object = {}, url = `${upstream.baseUrl()}/chat/completions`): UpstreamRequest {
  const body = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], ...fields }
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
  return { method: 'POST', url, headers, body: JSON.stringify(body) }
}

const send = (
  request = requestOf(),
  { cancel = new Cancel(), ...timeouts }: Timeouts & { cancel?: Cancel } = {},
) => transport.send(request, target, cancel, timeouts)

/** A server that answers as the test says, for cases that the fake upstream lacks. */
async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
}

async function textOf(answer: UpstreamAnswer): Promise<string> {
  let text = ''
  for (let batch = await answer.read(); batch; batch = await answer.read())
    text += Buffer.concat(batch).toString()
  return text
}

async function failureOf(promise: Promise<unknown>): Promise<UpstreamError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(UpstreamError)
  return error as UpstreamError
}

test('a request arrives as it was made, and its answer comes back whole', async () => {
  const answer = await send({
    ...requestOf({ seed: 7 }),
    url: `${upstream.baseUrl()}/chat/completions?api=1`,
  })
  const body = JSON.parse((await answer.whole()).toString())
  expect(answer.status).toBe(200)
  expect(answer.headers['content-type']).toContain('application/json')
  expect(body.choices[0].message.content).toContain('hi')
  expect(upstream.last()).toMatchObject({ method: 'POST', key: 'sk-test', body: { seed: 7 } })
  expect(upstream.last().query.get('api')).toBe('1')
})

test('an answer can be read as its bytes come, and nothing of it is lost', async () => {
  upstream.reply({ content: ['a', 'b', 'c'], gapMs: 5, splitBytes: 7 })
  const text = await textOf(await send(requestOf({ stream: true })))
  expect(text).toMatch(/^data: .*\n\ndata: \[DONE\]\n\n$/s)
})

test('an error status is an answer like any other', async () => {
  upstream.reply({ status: 500 })
  const answer = await send()
  expect(answer.status).toBe(500)
  expect((await answer.whole()).toString()).toContain('error')
})

test('of a repeated header the last value counts', async () => {
  const url = await serve((_, response) =>
    response
      .writeHead(
        200,
        [
          ['x-a', 'first'],
          ['x-a', 'last'],
        ].flat(),
      )
      .end(),
  )
  expect((await send(requestOf({}, url))).headers['x-a']).toBe('last')
})

test('calls one after the other share connections', async () => {
  for (let n = 0; n < 10; n += 1) await (await send()).whole()
  expect(new Set(upstream.requests.map(({ connection }) => connection)).size).toBeLessThanOrEqual(2)
})

test('a provider that is not there is a network failure that may be tried again', async () => {
  const closed = await startUpstream()
  await closed.close()
  const error = await failureOf(send(requestOf({}, `${closed.url}/v1/chat/completions`)))
  expect(error).toMatchObject({ fault: 'network', retryable: true, provider: 'own', model: 'm', status: 502 })
  expect(error.message).toContain('own')
})

test('a connection reset before the answer is a network failure', async () => {
  upstream.reply({ drop: true })
  expect(await failureOf(send())).toMatchObject({ fault: 'network', retryable: true })
})

test('a connection lost in the middle gives what came, then the failure', async () => {
  upstream.reply({ content: ['a', 'b', 'c', 'd'], cutAfter: 3, gapMs: 10 })
  const answer = await send(requestOf({ stream: true }))
  const first = await answer.read()
  expect(Buffer.concat(first!).toString()).toContain('data: ')
  expect(await failureOf(textOf(answer))).toMatchObject({ fault: 'network' })

  upstream.reply({ content: ['a', 'b', 'c', 'd'], cutAfter: 3, gapMs: 10 })
  expect(await failureOf(send(requestOf({ stream: true })).then((answer) => answer.whole()))).toMatchObject({
    fault: 'network',
  })
})

test('a provider that does not answer in time is cut off, and it is a timeout', async () => {
  upstream.reply({ hang: true })
  const error = await failureOf(send(requestOf(), { firstByteMs: 50 }))
  expect(error).toMatchObject({ fault: 'timeout', type: 'timeout', status: 504, retryable: true })
  await upstream.last().closed
  expect(upstream.last().aborted).toBe(true)
})

test('a provider that stops in the middle is cut off, and it is a timeout', async () => {
  upstream.reply({ content: ['a', 'b', 'c'], hangAfter: 2 })
  const answer = await send(requestOf({ stream: true }), { idleMs: 50 })
  expect(await failureOf(textOf(answer))).toMatchObject({ fault: 'timeout' })
  await upstream.last().closed
  expect(upstream.last().aborted).toBe(true)
})

test('a stream that goes on, however slowly, is not cut off', async () => {
  upstream.reply({ content: ['a', 'b', 'c', 'd', 'e', 'f'], gapMs: 40 })
  const text = await textOf(await send(requestOf({ stream: true }), { idleMs: 400, firstByteMs: 400 }))
  expect(text).toContain('[DONE]')
})

test('a slow reader makes the provider wait, and is not taken for a silent provider', async () => {
  const size = 64 * 1024 * 1024
  let written = 0
  const url = await serve((_, response) => {
    const block = Buffer.alloc(256 * 1024, 'x')
    const more = (): void => {
      while (written < size) {
        written += block.length
        if (!response.write(block)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
  })
  const answer = await send(requestOf({}, url), { idleMs: 500 })
  await sleep(1_000)
  expect(written).toBeLessThan(size / 2)
  let read = 0
  for (let batch = await answer.read(); batch; batch = await answer.read()) {
    read += batch.reduce((sum, { length }) => sum + length, 0)
  }
  expect(read).toBe(size)
})

test('a call that is over before it is sent is not sent', async () => {
  const cancel = new Cancel()
  cancel.abort(over)
  await expect(send(requestOf(), { cancel })).rejects.toBe(over)
  await (await send()).whole()
  expect(upstream.requests).toHaveLength(1)
})

test('a call that ends while it waits closes the connection, with its own reason', async () => {
  upstream.reply({ hang: true })
  const cancel = new Cancel()
  const answer = send(requestOf(), { cancel })
  const request = await upstream.received(1)
  cancel.abort(over)
  await expect(answer).rejects.toBe(over)
  await request.closed
  expect(request.aborted).toBe(true)
})

test('a call that ends in the middle of an answer closes the connection', async () => {
  upstream.reply({ content: ['a', 'b', 'c'], hangAfter: 2 })
  const cancel = new Cancel()
  const answer = await send(requestOf({ stream: true }), { cancel })
  await answer.read()
  const rest = textOf(answer)
  cancel.abort(over)
  await expect(rest).rejects.toBe(over)
  await upstream.last().closed
  expect(upstream.last().aborted).toBe(true)
})

test('an answer that is not wanted any more closes its connection', async () => {
  upstream.reply({ content: ['a', 'b', 'c'], hangAfter: 2 })
  const left = await send(requestOf({ stream: true }))
  await left.read()
  left.cancel()
  await upstream.last().closed
  expect(upstream.last().aborted).toBe(true)
})

test('a cancel that comes after the answer changes nothing', async () => {
  const cancel = new Cancel()
  const answer = await send(requestOf(), { cancel })
  const body = await answer.whole()
  cancel.abort(over)
  expect(await answer.whole()).toEqual(body)
})

test('a header that cannot be sent is a failure, not a hang', async () => {
  const request = requestOf()
  request.headers.authorization = 'Bearer a\nb'
  await expect(send(request)).rejects.toBeInstanceOf(UpstreamError)
})

test('closing cuts what still runs', async () => {
  upstream.reply({ hang: true })
  const other = new Transport()
  const answer = other.send(requestOf(), target, new Cancel(), {})
  await upstream.received(1)
  const [error] = await Promise.all([failureOf(answer), other.close()])
  expect(error).toMatchObject({ fault: 'network' })
})
