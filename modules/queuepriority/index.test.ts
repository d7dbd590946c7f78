import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  for (const name of ['retrypilot', 'fallbackrouter']) await gateway.module(name, { enabled: false })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => upstream.reset())

const configure = (config: Record<string, unknown>) =>
  gateway.module('queuepriority', {
    enabled: true,
    config: { max_queue: 1000, max_wait_ms: 30_000, ...config },
  })

interface Sent {
  readonly key?: string
  readonly priority?: string
  readonly stream?: boolean
  readonly signal?: AbortSignal
}

/** A call whose text tells it from others at the provider. */
async function send(text: string, { key = gateway.adminKey, priority, stream = false, signal }: Sent = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(priority && { 'x-priority': priority }),
    },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: text }] }),
    ...(signal && { signal }),
  })
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/** Lets each of the next requests wait for its word; a stream has begun by then. */
function holdNext(count: number, stream = false) {
  const gates = Array.from({ length: count }, () => Promise.withResolvers<void>())
  for (const { promise: opened } of gates)
    upstream.reply({ gate: { opened, ...(stream && { after: 2 }) }, content: ['a ', 'b'] })
  return (index: number) => gates[index]!.resolve()
}

const textOf = (body: unknown): string =>
  (body as { messages: { content: string }[] }).messages.at(-1)!.content
const sentTexts = (): string[] => upstream.requests.map(({ body }) => textOf(body))

const queues = async () => (await gateway.api('GET', '/api/modules/queuepriority/queues')).body.queues

/** Resolves when so many calls wait. */
const waiting = (count: number) =>
  vi.waitFor(async () => expect((await queues())[0]?.waiting ?? 0).toBe(count), { timeout: 10_000 })

const idle = () => vi.waitFor(async () => expect(await queues()).toEqual([]), { timeout: 10_000 })

describe.each([false, true])('a call (streamed: %j)', (stream) => {
  test('has its slot until it ends, and the next one follows it', async () => {
    await configure({ concurrency: { openai: 1 } })
    const release = holdNext(2, stream)
    const first = send('first', { stream })
    await upstream.received(1)
    const second = send('second', { stream })
    await waiting(1)
    expect(sentTexts()).toEqual(['first'])
    release(0)
    expect((await first).status).toBe(200)
    await upstream.received(2)
    expect(sentTexts()).toEqual(['first', 'second'])
    release(1)
    const { status, body, headers } = await second
    expect([status, body.includes('b')]).toEqual([200, true])
    await idle()
    const trace = await vi.waitFor(
      async () => {
        const found = await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
        expect(found.status).toBe(200)
        return found.body
      },
      { timeout: 10_000 },
    )
    expect(JSON.stringify(trace)).toContain('"queued"')
    expect(trace.attempts).toHaveLength(1)
  })

  test('goes by its priority', async () => {
    await configure({ concurrency: { openai: 1 } })
    const release = holdNext(1, stream)
    const calls = [send('first', { stream })]
    await upstream.received(1)
    for (const [n, priority] of ['low', 'normal', 'high', 'high'].entries()) {
      calls.push(send(`${priority} ${n}`, { priority, stream }))
      await waiting(n + 1)
    }
    release(0)
    await Promise.all(calls)
    expect(sentTexts()).toEqual(['first', 'high 2', 'high 3', 'normal 1', 'low 0'])
    await idle()
  })

  test('whose client leaves is taken out of the queue, and out of its slot', async () => {
    await configure({ concurrency: { openai: 1 } })
    holdNext(1, stream)
    const [running, queued] = [new AbortController(), new AbortController()]
    const first = send('first', { stream, signal: running.signal })
    await upstream.received(1)
    const second = send('second', { stream, signal: queued.signal })
    await waiting(1)
    const third = send('third', { stream })
    await waiting(2)
    queued.abort()
    await expect(second).rejects.toThrow()
    await waiting(1)
    running.abort()
    await expect(first).rejects.toThrow()
    expect((await third).status).toBe(200)
    expect(sentTexts()).toEqual(['first', 'third'])
    await idle()
  })

  test('that has waited too long, or finds no place, is told when to try again', async () => {
    await configure({ concurrency: { openai: 1 }, max_queue: 1, max_wait_ms: 50 })
    const release = holdNext(1, stream)
    const first = send('first', { stream })
    await upstream.received(1)
    const late = await send('late', { stream })
    expect(late.status).toBe(429)
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(JSON.parse(late.body)).toMatchObject({
      error: { code: 'rate_limited', module: 'queuepriority', details: { reason: 'waited_too_long' } },
    })
    await configure({ concurrency: { openai: 1 }, max_queue: 0 })
    const full = await send('full', { stream })
    expect([full.status, Number(full.headers.get('retry-after')) >= 1]).toEqual([429, true])
    expect(JSON.parse(full.body).error.details).toMatchObject({ reason: 'queue_full', target: 'openai' })
    release(0)
    await first
    expect(sentTexts()).toEqual(['first'])
    await idle()
  })
})

test.each([1, 3])(
  'while one user floods %j slots, the calls of another are each the next to be sent',
  async (slots) => {
    await configure({ concurrency: { openai: slots }, max_queue: 30 })
    const flooder = await gateway.signUp(`flooder-${slots}`)
    const other = await gateway.signUp(`other-${slots}`)
    const release = holdNext(slots + 40)
    const flood = Array.from({ length: slots + 30 }, (_, n) => {
      const leaving = new AbortController()
      const { signal } = leaving
      const of = { key: flooder.key, priority: 'high', stream: n % 2 === 0, signal }
      const status = send(`flood ${n}`, of).then(
        (answer) => answer.status,
        () => 'left',
      )
      return { text: `flood ${n}`, leaving, status }
    })
    await waiting(30)
    await upstream.received(slots)
    let next = 0
    for (let n = 0; n < 6; n += 1) {
      if (n === 3) {
        const { waiting: before } = (await queues())[0]
        const sent = new Set(sentTexts())
        for (const { leaving } of flood.filter(({ text }) => !sent.has(text)).slice(0, 5)) leaving.abort()
        await waiting(before - 5)
      }
      const before = upstream.requests.length
      const mine = send(`mine ${n}`, { key: other.key, stream: n % 2 === 1 })
      await vi.waitFor(
        async () =>
          expect((await queues())[0].owners).toContainEqual({ owner: other.userId, running: 0, waiting: 1 }),
        { timeout: 10_000 },
      )
      release(next)
      await upstream.received(before + 1)
      expect(sentTexts()[before]).toBe(`mine ${n}`)
      release(before)
      expect((await mine).status).toBe(200)
      // The slot that it had is the flood's again.
      await upstream.received(before + 2)
      next += 1
      while (sentTexts()[next]!.startsWith('mine')) next += 1
    }
    for (let n = 0; n < slots + 40; n += 1) release(n)
    const statuses = await Promise.all(flood.map(({ status }) => status))
    // The first of the other's calls found the queue full, and took the place of the flood's last one.
    expect(statuses.filter((status) => status === 429)).toHaveLength(1)
    expect(statuses.filter((status) => status === 'left')).toHaveLength(5)
    expect(statuses.filter((status) => status === 200)).toHaveLength(slots + 24)
    await idle()
  },
)

test('a model has slots of its own where it has an entry, and what has none is not bound', async () => {
  await configure({ concurrency: { openai: 1, 'openai/gpt-4o-*': 1 } })
  const release = holdNext(2)
  const first = send('first')
  await upstream.received(1)
  const other = gateway.api('POST', '/v1/chat/completions', {
    model: 'gpt-4.1',
    messages: [{ role: 'user', content: 'other' }],
  })
  await upstream.received(2)
  expect((await queues()).map(({ target }: { target: string }) => target)).toEqual([
    'openai/gpt-4o-mini',
    'openai',
  ])
  release(0)
  release(1)
  await Promise.all([first, other])
  await idle()
})

test('calls that wait go on while settings change, under the new limit', async () => {
  await configure({ concurrency: { openai: 1 } })
  const release = holdNext(1)
  const calls = [send('first'), send('second'), send('third')]
  await waiting(2)
  await configure({ concurrency: { openai: 3 } })
  const fourth = await send('fourth')
  expect(fourth.status).toBe(200)
  release(0)
  for (const call of calls) expect((await call).status).toBe(200)
  await idle()
})

test('a failed attempt gives its slot back, and the official client sees a rate limit error', async () => {
  await configure({ concurrency: { openai: 1 }, max_queue: 0 })
  upstream.reply({ status: 500 })
  expect((await send('broken')).status).toBeGreaterThanOrEqual(500)
  await idle()
  const release = holdNext(1)
  const first = send('first')
  await upstream.received(2)
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  const create = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hello' }] }
  await expect(client.chat.completions.create(create)).rejects.toThrow(OpenAI.RateLimitError)
  release(0)
  await first
  await idle()
})

test('a priority that there is not is refused', async () => {
  await configure({ concurrency: { openai: 1 } })
  const { status, body } = await send('hello', { priority: 'soon' })
  expect([status, JSON.parse(body).error.param]).toEqual([400, 'X-Priority'])
})
