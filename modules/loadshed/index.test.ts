import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
/** Each test calls a model of its own, which nothing is known about. */
let model: string

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  for (const name of ['retrypilot', 'fallbackrouter']) await gateway.module(name, { enabled: false })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => {
  upstream.reset()
  model = `gpt-4o-mini-${crypto.randomUUID()}`
})

const limit = (min: number, max: number) =>
  gateway.module('loadshed', { enabled: true, config: { min, max } })

const ask = (priority: string, { stream = false, signal }: { stream?: boolean; signal?: AbortSignal } = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminKey}`,
      'content-type': 'application/json',
      'x-priority': priority,
    },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Hello' }] }),
    ...(signal && { signal }),
  })

/** Calls that the provider has and does not answer until they are let go. */
async function hold(count: number, stream: boolean) {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  const before = upstream.requests.length
  upstream.reply({ gate: { opened, ...(stream && { after: 2 }) }, times: count, content: ['a ', 'b ', 'c'] })
  const held = Array.from({ length: count }, () => ask('high', { stream }))
  if (stream) await Promise.all(held)
  await upstream.received(before + count)
  return async () => {
    open()
    return Promise.all(held.map(async (call) => (await call).text()))
  }
}

const statusesOf = async (...priorities: string[]) => {
  const statuses: number[] = []
  for (const priority of priorities) {
    const response = await ask(priority)
    await response.text()
    statuses.push(response.status)
  }
  return statuses
}

test.each([false, true])('what runs fills the limit until it ends (streamed: %j)', async (stream) => {
  await limit(10, 10)
  const release = await hold(10, stream)
  const refused = await ask('high', { stream })
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(await refused.json()).toMatchObject({
    error: {
      code: 'circuit_open',
      type: 'overloaded',
      module: 'loadshed',
      details: { priority: 'high', limit: 10, running: 10 },
    },
  })
  expect(upstream.requests).toHaveLength(10)
  await release()
  await vi.waitFor(async () => expect(await statusesOf('high')).toEqual([200]), { timeout: 10_000 })
})

test.each([false, true])('the least urgent calls are refused first (streamed: %j)', async (stream) => {
  await limit(10, 10)
  const six = await hold(6, stream)
  expect(await statusesOf('low', 'normal', 'high')).toEqual([503, 200, 200])
  const two = await hold(2, stream)
  expect(await statusesOf('low', 'normal', 'high')).toEqual([503, 503, 200])
  const more = await hold(2, stream)
  expect(await statusesOf('low', 'normal', 'high')).toEqual([503, 503, 503])
  await Promise.all([six(), two(), more()])
})

test.each([false, true])('a client that leaves makes room (streamed: %j)', async (stream) => {
  await limit(1, 1)
  upstream.reply({ hang: true })
  const leaving = new AbortController()
  const left = ask('high', { stream, signal: leaving.signal })
  await upstream.received(1)
  expect(await statusesOf('high')).toEqual([503])
  leaving.abort()
  await expect(left).rejects.toThrow()
  await vi.waitFor(async () => expect(await statusesOf('high')).toEqual([200]), { timeout: 10_000 })
})

test('health checks and management pass while calls are refused, and the official client sees the reason', async () => {
  await limit(1, 1)
  const release = await hold(1, false)
  expect((await fetch(`${gateway.url}/health`)).status).toBe(200)
  expect((await gateway.api('GET', '/api/proxy/modules/loadshed')).status).toBe(200)
  expect((await gateway.api('GET', '/api/proxy/modules/loadshed/events')).status).toBe(200)
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  const call = client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hello' }] })
  await expect(call).rejects.toMatchObject({ status: 503, type: 'overloaded' })
  await release()
})

test('another model has another limit, and a change of settings forgets nothing that runs', async () => {
  await limit(1, 1)
  const release = await hold(1, true)
  const before = model
  model = `${model}-other`
  expect(await statusesOf('high')).toEqual([200])
  model = before
  await limit(1, 2)
  expect(await statusesOf('high')).toEqual([503])
  await release()
})

test('models that clients make up do not push out what runs of others', async () => {
  await limit(1, 1)
  const release = await hold(1, true)
  const before = model
  upstream.reply({ status: 404, times: 210 })
  for (let n = 0; n < 210; n += 1) {
    model = `made-up-${n}`
    await ask('high').then((answer) => answer.text())
  }
  model = before
  expect(await statusesOf('high')).toEqual([503])
  await release()
})

test('it begins with as many places as calls run when it is switched on', async () => {
  await gateway.module('loadshed', { enabled: false })
  const before = await hold(30, false)
  await limit(4, 1024)
  // Those that run keep their places, and the lowest limit is there beside them.
  const beside = await hold(4, false)
  expect(await statusesOf('high')).toEqual([503])
  let settled = 0
  const end = gateway.kernel.events.onAny((_, { type }) => {
    if (type.name === 'call.settled') settled += 1
  })
  await before()
  await expect.poll(() => settled).toBe(30)
  end()
  const after = await hold(30, false)
  expect(await statusesOf('high')).toEqual([503])
  await Promise.all([beside(), after()])
})

test('a priority that there is not is refused with its header named', async () => {
  await limit(8, 1024)
  const refused = await ask('urgent')
  expect(refused.status).toBe(400)
  expect(await refused.json()).toMatchObject({ error: { param: 'X-Priority', module: 'loadshed' } })
})

test('settings that contradict each other are refused', async () => {
  await expect(limit(9, 8)).rejects.toThrow('must not be less than min')
})

/**
 * A clock that stands still until every one of the clients waits for it: what takes how long is the same on a busy machine. What waits
 * without an end of its own, such as a call for its turn, is `idle`.
 */
function playClock(clients: number) {
  const due: { readonly at: number; readonly go: () => void }[] = []
  let now = performance.now()
  let idle = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
  const goOn = (): void => {
    if (due.length === 0 || due.length + idle < clients) return
    const next = due.toSorted((a, b) => a.at - b.at)[0]!
    due.splice(due.indexOf(next), 1)
    now = next.at
    next.go()
  }
  return {
    pass: (ms: number) =>
      new Promise<void>((go) => {
        due.push({ at: now + ms, go })
        goOn()
      }),
    idle(change: number) {
      idle += change
      goOn()
    },
    stop: () => clock.mockRestore(),
  }
}

/** A provider that works on four calls at a time; the others wait for their turn. It notes how many do when a call comes. */
async function slowUpstream(clock: ReturnType<typeof playClock>) {
  const queue: (() => void)[] = []
  const seen: number[] = []
  let working = 0
  const server = createServer(async (request, response) => {
    const body = await text(request)
    seen.push(queue.length)
    if (working === 4) {
      await new Promise<void>((go) => {
        queue.push(go)
        clock.idle(1)
      })
      clock.idle(-1)
    } else working += 1
    await clock.pass(60)
    const answer = await fetch(`${upstream.baseUrl()}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body,
    })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
    const next = queue.shift()
    if (next) next()
    else working -= 1
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return { server, seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

test('of a flood, hardly a call waits at the provider', async () => {
  const clients = 20
  const clock = playClock(clients)
  const { server, seen, url } = await slowUpstream(clock)
  const other = await startGateway({ config: { providers: { openai: { base_url: url, api_key: 'k' } } } })
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }
  let refused = 0
  const flood = async (calls: number) => {
    const from = seen.length
    const client = async (): Promise<void> => {
      while (seen.length - from < calls) {
        if ((await other.api('POST', '/v1/chat/completions', body)).status === 200) continue
        refused += 1
        await clock.pass(250)
      }
      clock.idle(1)
    }
    await Promise.all(Array.from({ length: clients }, client))
    clock.idle(-clients)
    const late = seen.slice(from + calls / 2)
    return late.reduce((sum, waiting) => sum + waiting, 0) / late.length
  }
  try {
    expect(await flood(40)).toBeGreaterThan(10)
    expect(refused).toBe(0)
    await other.module('loadshed', { enabled: true, config: { min: 4 } })
    expect(await flood(120)).toBeLessThan(8)
    expect(refused).toBeGreaterThan(0)
  } finally {
    clock.stop()
    await other.close()
    server.close()
  }
})
