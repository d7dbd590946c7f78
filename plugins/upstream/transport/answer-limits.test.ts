import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { Target } from '../../../contract/provider.ts'
import { UpstreamError } from '../../../kit/errors.ts'
import { Cancel, over } from '../../../kit/work/cancel.ts'
import { startPlayed } from '../../../test/played.ts'
import { shared } from '../../../test/shared.ts'
import { type Script, startUpstream, type Upstream } from '../../../test/upstream/index.ts'
import { providerOf } from '../directory/provider.ts'
import { sections } from '../sections.ts'
import { Transport } from './transport.ts'
import type { AnswerLimits, UpstreamAnswer } from './upstream-answer.ts'

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

function send({
  url = `${upstream.baseUrl()}/chat/completions`,
  stream = true,
  cancel = new Cancel(),
} = {}): Promise<UpstreamAnswer> {
  const headers = { authorization: 'Bearer sk-test', 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], stream })
  return transport.send({ method: 'POST', url, headers, body }, target, cancel, {})
}

/** What comes of a script within limits. */
async function answerTo(script: Script, limits: AnswerLimits, stream = true): Promise<UpstreamAnswer> {
  await transport.close()
  transport = new Transport({ limits })
  upstream.reply(script)
  return send({ stream })
}

/** All bytes that come, and what ended them early. */
async function read(answer: UpstreamAnswer): Promise<{ size: number; error: unknown }> {
  let size = 0
  try {
    for (let batch = await answer.read(); batch; batch = await answer.read())
      for (const { length } of batch) size += length
    return { size, error: undefined }
  } catch (error) {
    return { size, error }
  }
}

describe('the size of an answer', () => {
  const events = Array.from({ length: 100 }, () => `data: ${'x'.repeat(92)}\n\n`)

  test('may be what the limit says', async () => {
    const answer = await answerTo({ chunks: events }, { maxSize: 10_000 })
    expect(await read(answer)).toEqual({ size: 10_000, error: undefined })
  })

  test('over the limit is a failure after what came before', async () => {
    const answer = await answerTo({ chunks: events, splitBytes: 1000 }, { maxSize: 9_999 })
    const { size, error } = await read(answer)
    expect(error).toBeInstanceOf(UpstreamError)
    expect(error).toMatchObject({ code: 'provider_error', status: 502, fault: 'protocol', retryable: true })
    expect(size).toBeGreaterThan(0)
    expect(size).toBeLessThan(10_000)
  })

  test('is that of a whole answer too, whose connection is closed', async () => {
    const answer = await answerTo({ body: { text: 'x'.repeat(200) }, endless: 'x' }, { maxSize: 100 }, false)
    await expect((async () => answer.whole())()).rejects.toMatchObject({ fault: 'protocol' })
    await upstream.last().closed
    expect(upstream.last().aborted).toBe(true)
  })
})

describe('the time of an answer', () => {
  const late = { code: 'provider_error', type: 'timeout', status: 504, fault: 'timeout', retryable: true }

  test('ends one that does not begin', async () => {
    await expect(answerTo({ hang: true }, { maxTime: 500 })).rejects.toMatchObject(late)
    await upstream.last().closed
    expect(upstream.last().aborted).toBe(true)
  })

  test('ends one that never stops, though it is never silent', async () => {
    const drip = { chunks: Array.from({ length: 3000 }, () => 'data: x\n\n'), gapMs: 5 }
    const { size, error } = await read(await answerTo(drip, { maxTime: 1000 }))
    expect(error).toMatchObject(late)
    expect(size).toBeGreaterThan(0)
  })

  test('does not end what ended in time', async () => {
    const answer = await answerTo({ content: 'hi' }, { maxTime: 1000 }, false)
    const body = await answer.whole()
    await new Promise((resolve) => setTimeout(resolve, 1050))
    expect(await answer.whole()).toEqual(body)
  })
})

/** A provider that reports its answer as complete, and goes on as the test says. */
async function providerThat(goesOn: (response: ServerResponse) => void) {
  const sockets = new Set<unknown>()
  let closed = 0
  const server = createServer((request, response) => {
    if (!sockets.has(request.socket)) request.socket.on('close', () => (closed += 1))
    sockets.add(request.socket)
    request.resume()
    response.write('all of it')
    goesOn(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`
  return { url, connections: () => sockets.size, closed: () => closed }
}

describe('an answer that was complete before its body ended', () => {
  test('leaves its connection to the next, also when its call is over by then', async () => {
    const bodies: ServerResponse[] = []
    const { url, connections } = await providerThat((response) => bodies.push(response))
    for (let n = 0; n < 3; n += 1) {
      const cancel = new Cancel()
      const answer = await send({ url, cancel })
      await answer.read()
      answer.finish()
      answer.cancel()
      cancel.abort(over)
      const ended = once(bodies[n]!, 'close')
      bodies[n]!.end('and a little more')
      await ended
      await expect.poll(() => bodies[n]!.socket).toBe(null)
    }
    expect(connections()).toBeLessThanOrEqual(2)
  })

  test('is cut when its body goes on', async () => {
    const { url, closed } = await providerThat((response) => {
      const more = (): boolean | undefined => {
        while (!response.destroyed && response.write('x'.repeat(10_000)));
        return response.destroyed
      }
      response.on('drain', more)
      more()
    })
    const answer = await send({ url })
    await answer.read()
    answer.finish()
    await expect.poll(closed).toBe(1)
  })

  test('is cut when its body stays open', async () => {
    const { url, closed } = await providerThat(() => {})
    const answer = await send({ url })
    await answer.read()
    answer.finish()
    await expect.poll(closed, { timeout: 10_000 }).toBe(1)
  })
})

describe('a client whose provider’s answer is beyond its limits', () => {
  /** A gateway for each limit, so that none ends what the other is to end. */
  const playedWith = (answers: object) =>
    shared(() => startPlayed({}, (upstream) => ({ upstream, config: { answers } })))
  // More than comes at once, so that a stream begins before it is too large.
  const small = playedWith({ max_size: '512kb' })
  const quick = playedWith({ max_time: '2s' })
  beforeEach(() => {
    for (const played of [small, quick]) played.upstream.reset()
  })
  const messages = [{ role: 'user' as const, content: 'hi' }]

  test.each([
    ['too large', small, { content: ['x'.repeat(600_000)] }, 502, 'upstream_error'],
    ['too slow', quick, { hang: true }, 504, 'timeout'],
  ])('is told so before the answer begins: %s', async (_, played, script, status, type) => {
    for (const stream of [false, true]) {
      played.upstream.reply(script)
      const asked = played.client.chat.completions.create({ model: 'gpt-4o', messages, stream })
      await expect(asked).rejects.toMatchObject({ status, code: 'provider_error', type })
    }
  })

  const event = (content: string): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`

  test.each([
    ['too large', small, { chunks: [event('Well')], endless: event('and so on '.repeat(100)) }, /too large/],
    ['too slow', quick, { chunks: [event('Well'), event('then')], hangAfter: 1 }, /within 2000 ms/],
  ])('is told so inside the stream once it has begun: %s', async (_, played, script, told) => {
    played.upstream.reply(script)
    const stream = await played.client.chat.completions.create({ model: 'gpt-4o', messages, stream: true })
    const said: string[] = []
    const reading = (async () => {
      for await (const { choices } of stream) said.push(choices[0]?.delta.content ?? '')
    })()
    await expect(reading).rejects.toThrow(told)
    expect(said[0]).toBe('Well')
    await played.upstream.last().closed
    expect(played.upstream.last().aborted).toBe(true)
  })
})
