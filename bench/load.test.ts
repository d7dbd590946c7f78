import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatCall } from './call-form.ts'
import { burst } from './cold.ts'
import { load } from './load.ts'
import { NodeProcess } from './process.ts'
import { type Pace, REPLY_BYTES, REQUEST_BYTES, RequestTemplate, STREAM_EVENTS } from './request.ts'
import { direct, startBare, startKoa, type Target, verify } from './target.ts'

const chat = chatCall()
let upstream: NodeProcess
let targets: Target[]

beforeAll(async () => {
  upstream = new NodeProcess({ file: new URL('upstream.ts', import.meta.url).pathname, core: 0 })
  const port = await upstream.receive('port')
  const bare = (['dispatch', 'stream', 'request'] as const).map((transport) => startBare(port, transport))
  targets = [direct(upstream, port), ...(await Promise.all([...bare, startKoa(port)]))]
})

afterAll(async () => {
  for (const target of targets) await target.stop()
  await upstream.stop()
})

function run(port: number, pace?: Pace) {
  return load({
    port,
    request: RequestTemplate.build(chat, {}, pace),
    connections: 4,
    ...(pace !== undefined && { events: chat }),
    warmupMs: 0,
    durationMs: 200,
    onWindow: () => {},
  })
}

test('the request and the reply have the sizes that are written down', async () => {
  const [head, body] = RequestTemplate.build(chat, {}).bytes.toString().split('\r\n\r\n')
  expect(body).toHaveLength(REQUEST_BYTES)
  expect(head).toContain(`content-length: ${REQUEST_BYTES}`)
  for (const { port } of targets) {
    const response = await fetch(`http://127.0.0.1:${port}${chat.path}`, { method: 'POST', body: body! })
    const reply = await response.text()
    expect(reply).toHaveLength(REPLY_BYTES)
    expect(JSON.parse(reply)).toMatchObject({ object: 'chat.completion' })
  }
})

test('every sending of a request has a serial number of its own', () => {
  const request = RequestTemplate.build(chat, {})
  expect(request.write(42).toString()).toContain('serial 000000042.')
  const copy = request.copy()
  copy.write(7)
  expect(request.bytes.toString()).toContain('serial 000000042.')
  expect(copy.bytes.toString()).toContain('serial 000000007.')
})

test('all baselines answer plain calls, each with one call of the upstream', async () => {
  for (const { port, name } of targets) {
    const before = await upstream.ask('answered')
    const result = await run(port)
    const answered = (await upstream.ask('answered')) - before
    expect(result.failures, name).toEqual({})
    expect(result.calls, name).toBeGreaterThan(0)
    expect(result.latencies, name).toHaveLength(result.calls)
    expect(answered, name).toBe(result.ended)
  }
})

test('all baselines pass streams on whole, in bursts and paced', async () => {
  for (const { port, name } of targets) {
    const burst = await run(port, 'burst')
    expect({ broken: burst.broken, failures: burst.failures }, name).toEqual({ broken: 0, failures: {} })
    expect(burst.calls, name).toBeGreaterThan(0)
    expect(burst.events, name).toBeGreaterThanOrEqual(burst.calls * STREAM_EVENTS - 4 * STREAM_EVENTS)
    const paced = await run(port, 1)
    expect({ broken: paced.broken, failures: paced.failures }, name).toEqual({ broken: 0, failures: {} })
    expect(paced.events, name).toBeGreaterThan(0)
  }
})

test('refusals and broken connections are failures, not calls that went well', async () => {
  let calls = 0
  const server = createServer((request, response) => {
    request.resume()
    calls += 1
    if (calls % 2 === 0) request.socket.destroy()
    else response.writeHead(429).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { failures } = await run(port)
  server.close()
  expect(failures['429']).toBeGreaterThan(0)
  expect(failures.closed).toBeGreaterThan(0)
})

test('a burst gives one time for each new connection', async () => {
  const { times, failed } = await burst(targets[1]!, 20)
  expect(times).toHaveLength(20)
  expect(failed).toBe(0)
})

test('a target that refuses is found out before it is measured', async () => {
  for (const target of targets) await verify(target)
  const server = createServer((_, response) => response.writeHead(404).end('no such model')).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await expect(verify({ ...targets[0]!, port })).rejects.toThrow('404: no such model')
  server.close()
  server.closeAllConnections()
})
