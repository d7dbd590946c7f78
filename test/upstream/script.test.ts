import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runs } from '../suite/runs.ts'
import { startUpstream, type Upstream } from './index.ts'

let upstream: Upstream

beforeEach(async () => {
  upstream = await startUpstream()
})

afterEach(() => upstream.close())

function chat(fields: Record<string, unknown> = {}, signal?: AbortSignal): Promise<Response> {
  return fetch(`${upstream.baseUrl()}/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json', 'X-Case': 'kept' },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], ...fields }),
    ...(signal && { signal }),
  })
}

async function contentOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json()
  return (body as { choices: { message: { content: string } }[] }).choices[0]?.message.content
}

test('a request is recorded as it was sent', async () => {
  await chat({ seed: 7 })
  const request = upstream.last()
  expect(request).toMatchObject({
    method: 'POST',
    path: '/v1/chat/completions',
    key: 'sk-test',
    aborted: false,
  })
  expect(request.body).toMatchObject({ model: 'gpt-4o', seed: 7 })
  expect(JSON.parse(request.rawBody)).toEqual(request.body)
  expect(request.headers['x-case']).toBe('kept')
  await request.closed
  expect(request.closedAfterMs).toBeGreaterThan(0)
})

test('scripts are used up in order, then the echo answers again', async () => {
  upstream.reply({ content: 'one' })
  upstream.reply({ content: 'two' })
  expect(upstream.pending).toBe(2)
  expect(await contentOf(await chat())).toBe('one')
  expect(await contentOf(await chat())).toBe('two')
  expect(await contentOf(await chat())).toBe('You said: hi')
  expect(upstream.pending).toBe(0)
})

test('a script waits for the request that it matches', async () => {
  upstream.reply({ model: 'other' }, { content: 'for the other' })
  upstream.reply(({ body }) => JSON.stringify(body).includes('"seed":1'), { content: 'for the seed' })
  expect(await contentOf(await chat())).toBe('You said: hi')
  expect(await contentOf(await chat({ seed: 1 }))).toBe('for the seed')
  expect(await contentOf(await chat({ model: 'other' }))).toBe('for the other')
})

test('a refused request uses up no script', async () => {
  upstream.reply({ content: 'still here' })
  expect((await chat({ nonsense: 1 })).status).toBe(400)
  expect(await contentOf(await chat())).toBe('still here')
})

test('a standing script answers until it is reset', async () => {
  upstream.reply({ content: 'always', times: Number.POSITIVE_INFINITY })
  expect(await contentOf(await chat())).toBe('always')
  expect(await contentOf(await chat())).toBe('always')
  upstream.reset()
  expect(upstream.requests).toHaveLength(0)
  expect(await contentOf(await chat())).toBe('You said: hi')
})

test('a scripted failure has the status, the error and the headers of the script', async () => {
  upstream.reply({
    status: 503,
    error: { message: 'busy' },
    headers: { 'X-Note': 'yes', 'set-cookie': null },
  })
  const busy = await chat()
  expect(busy.status).toBe(503)
  expect(busy.headers.get('x-note')).toBe('yes')
  expect(busy.headers.has('set-cookie')).toBe(false)
  expect(await busy.json()).toEqual({
    error: { message: 'busy', type: 'server_error', param: null, code: null },
  })
  upstream.reply({ retryAfter: 2 })
  const limited = await chat({ stream: true })
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '2'])
})

test('exact chunks are sent as they are, however the bytes are split', async () => {
  const chunks = ['data: {"a":"é"}\r\n\r\n', ': comment\n\n', 'data: {"b":"😀"}\n\n']
  const whole = chunks.join('')
  const offsets = fc.array(fc.nat({ max: Buffer.byteLength(whole) }), { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(fc.oneof(offsets, fc.integer({ min: 1, max: 9 })), async (splitBytes) => {
      upstream.reply({ chunks, splitBytes })
      expect(await (await chat({ stream: true })).text()).toBe(whole)
    }),
    runs(25),
  )
})

test('each piece of a split reply comes as a read of its own', async () => {
  upstream.reply({ splitBytes: [10, 20], gapMs: 5, body: 'x'.repeat(30) })
  const sizes: number[] = []
  for await (const piece of (await chat()).body!) sizes.push(piece.length)
  expect(sizes).toEqual([10, 10, 10])
})

test('garbage is sent byte for byte', async () => {
  upstream.reply({ garbage: Uint8Array.of(0xff, 0x00, 0xfe) })
  expect(new Uint8Array(await (await chat()).arrayBuffer())).toEqual(Uint8Array.of(0xff, 0x00, 0xfe))
})

test('a cut stream ends in an error after the chunks before the cut', async () => {
  upstream.reply({ content: ['a', 'b', 'c'], cutAfter: 2 })
  const response = await chat({ stream: true })
  const read: string[] = []
  const decoder = new TextDecoder()
  const reading = (async () => {
    for await (const piece of response.body!) read.push(decoder.decode(piece))
  })()
  await expect(reading).rejects.toThrow()
  expect(read.join('').match(/^data:/gm)).toHaveLength(2)
  await upstream.last().closed
  expect(upstream.last()).toMatchObject({ aborted: false, chunksSent: 2 })
})

test('a dropped connection gives no response', async () => {
  upstream.reply({ drop: true })
  await expect(chat()).rejects.toThrow()
  await upstream.last().closed
  expect(upstream.last().aborted).toBe(false)
})

test('a hanging request is open until the client leaves, and then counts as aborted', async () => {
  upstream.reply({ hang: true })
  const left = new AbortController()
  const pending = chat({}, left.signal)
  const request = await upstream.received(1)
  await sleep(20)
  expect(request.closedAfterMs).toBeUndefined()
  left.abort()
  await expect(pending).rejects.toThrow()
  await request.closed
  expect(request.aborted).toBe(true)
  expect(request.closedAfterMs).toBeGreaterThanOrEqual(19)
})

test('a stream that hangs has sent its first chunks, and stops when the client leaves', async () => {
  upstream.reply({ hangAfter: 1 })
  const left = new AbortController()
  const reader = (await chat({ stream: true }, left.signal)).body!.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toContain('"role":"assistant"')
  left.abort()
  await upstream.last().closed
  expect(upstream.last()).toMatchObject({ aborted: true, chunksSent: 1 })
})

test('delays come where the script has them', async () => {
  upstream.reply({ delayMs: 30, firstByteDelayMs: 40, gapMs: 15, content: ['a', 'b'] })
  const started = performance.now()
  const response = await chat({ stream: true })
  const headersMs = performance.now() - started
  await response.text()
  const bodyMs = performance.now() - started - headersMs
  expect(headersMs).toBeGreaterThanOrEqual(29)
  expect(bodyMs).toBeGreaterThanOrEqual(39 + 3 * 14)
})

test('a gate holds an answer back until it is opened, from its headers on or after some chunks', async () => {
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  upstream.reply({ gate: { opened: first.promise } })
  let hasHeaders = false
  const whole = chat().then((response) => {
    hasHeaders = true
    return response.text()
  })
  await upstream.received(1)
  upstream.reply({ content: ['a', 'b', 'c'], gate: { opened: second.promise, after: 2 } })
  const stream = await chat({ stream: true })
  await expect.poll(() => upstream.requests[1]!.chunksSent).toBe(2)
  expect(hasHeaders).toBe(false)
  first.resolve()
  await whole
  expect(upstream.requests[1]!.chunksSent).toBe(2)
  second.resolve()
  expect(await stream.text()).toContain('[DONE]')
})

test('requests over one connection carry its number', async () => {
  const socket = connect(upstream.port, '127.0.0.1')
  const request = 'GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-test\r\n\r\n'
  socket.write(request)
  await once(socket, 'data')
  socket.write(request)
  await once(socket, 'data')
  socket.destroy()
  await chat()
  expect(upstream.requests.map(({ connection }) => connection)).toEqual([1, 1, 2])
})

test('a list of models in between changes no id of an answer', async () => {
  const idOf = async (response: Response) => ((await response.json()) as { id: string }).id
  const plain = await idOf(await chat())
  upstream.reset()
  await fetch(`${upstream.baseUrl()}/models`, { headers: { authorization: 'Bearer sk-test' } })
  expect(await idOf(await chat())).toBe(plain)
  expect(await idOf(await chat())).not.toBe(plain)
})
