import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { EventSplitter } from '../../kit/streams/sse.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

interface LiveEvent {
  readonly id: string | undefined
  readonly event: string
  readonly data: Record<string, unknown>
}

let upstream: Upstream
let gateway: TestGateway
let ada: string
let bob: string
const open: View[] = []

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  ada = (await gateway.signUp('ada')).key
  bob = (await gateway.signUp('bob')).key
})

afterEach(() => {
  for (const view of open.splice(0)) view.close()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** A live view, as a browser's. */
class View {
  readonly events: LiveEvent[] = []
  readonly #left = new AbortController()

  static async open(key: string, lastId?: string): Promise<View> {
    const view = new View()
    open.push(view)
    const response = await fetch(`${gateway.url}/api/observe/live`, {
      headers: { authorization: `Bearer ${key}`, ...(lastId && { 'last-event-id': lastId }) },
      signal: view.#left.signal,
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    view.#read(response).catch(() => {})
    await view.has('heartbeat')
    return view
  }

  async #read(response: Response): Promise<void> {
    const splitter = new EventSplitter()
    for await (const bytes of response.body!) {
      for (const event of splitter.push(Buffer.from(bytes))) this.events.push(parsed(event.toString()))
    }
  }

  names(): string[] {
    return this.events.map(({ event }) => event).filter((event) => event !== 'heartbeat')
  }

  has(event: string): Promise<void> {
    return expect.poll(() => this.events.map((e) => e.event)).toContain(event) as Promise<void>
  }

  close(): void {
    this.#left.abort()
  }
}

function parsed(text: string): LiveEvent {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(text)?.[1]
  return { id: field('id'), event: field('event')!, data: JSON.parse(field('data')!) }
}

async function ask(key: string, stream: boolean, content = 'Hello'): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content }] }),
  })
  await response.text()
  return response.headers.get('x-trace-id')!
}

test('what a guard finds is told of when the call ends, to those who see the call', async () => {
  await gateway.module('maskmode', { enabled: true })
  const [view, other] = [await View.open(ada), await View.open(bob)]
  const id = await ask(ada, false, 'Write to ada@example.com')
  await view.has('request.finished')
  const told = view.events.filter(({ event }) => event === 'guardrail').map(({ data }) => data)
  expect(told).toMatchObject([{ trace_id: id, module: 'maskmode', type: 'pii', label: 'email' }])
  expect(JSON.stringify(told)).not.toContain('example.com')
  expect(other.names()).not.toContain('guardrail')
  await gateway.module('maskmode', { enabled: false })
})

test('a call is told of as it happens', async () => {
  const view = await View.open(ada)
  const id = await ask(ada, true)
  await view.has('request.finished')
  expect(view.names()).toEqual(['request.started', 'request.first_token', 'request.finished'])
  const [started, first, finished] = view.events.filter(({ event }) => event !== 'heartbeat')
  expect(started!.data).toMatchObject({
    id,
    model_requested: 'gpt-4o-mini',
    stream: true,
    project: 'default',
  })
  expect(first!.data).toMatchObject({ id, ttft_ms: expect.any(Number) })
  const { body } = await gateway.api('GET', '/api/observe/traces?limit=1', undefined, ada)
  expect(finished!.data).toEqual(body.traces[0])
})

test('a user sees nothing of others, an admin everything', async () => {
  const [admin, user] = [await View.open(gateway.adminKey), await View.open(bob)]
  const ofAda = await ask(ada, false)
  const ofBob = await ask(bob, false)
  await user.has('request.finished')
  await expect.poll(() => admin.names()).toHaveLength(4)
  expect(user.events.filter(({ event }) => event !== 'heartbeat').map(({ data }) => data.id)).toEqual([
    ofBob,
    ofBob,
  ])
  expect(new Set(admin.events.map(({ data }) => data.id ?? 'none'))).toEqual(new Set(['none', ofAda, ofBob]))
})

test('toggling a module is told to everybody', async () => {
  const view = await View.open(bob)
  await gateway.kernel.registry.change('outputcap', { enabled: true })
  await gateway.kernel.registry.change('outputcap', { enabled: false })
  await expect.poll(() => view.names()).toEqual(['module.changed', 'module.changed'])
  expect(view.events.at(-1)!.data).toMatchObject({ name: 'outputcap', enabled: false })
})

test('a view that comes back gets what it missed, once, also across a reconfiguration', async () => {
  const view = await View.open(ada)
  await ask(ada, false)
  await view.has('request.finished')
  view.close()
  const last = view.events.at(-1)!.id!
  const missed = await ask(ada, false)
  await gateway.kernel.registry.change('observe', { config: { max_body_bytes: 2048 } })
  await gateway.kernel.registry.change('observe', { config: { max_body_bytes: null } })

  const again = await View.open(ada, last)
  await again.has('request.finished')
  const got = again.events.filter(({ event }) => event.startsWith('request.'))
  expect(got.map(({ event, data }) => [event, data.id])).toEqual([
    ['request.started', missed],
    ['request.finished', missed],
  ])
  const next = await ask(ada, false)
  await expect.poll(() => again.events.at(-1)!.data.id).toBe(next)
})

test('a view is counted while it is open', async () => {
  const viewers = async () => (await gateway.api('GET', '/api/observe/status')).body.live.viewers
  await expect.poll(viewers).toBe(0)
  const view = await View.open(ada)
  expect(await viewers()).toBe(1)
  view.close()
  await expect.poll(viewers).toBe(0)
})

test('an erasure takes from the view also what calls repeated of the user', async () => {
  await gateway.module('mirrortest', { enabled: true, config: { target: 'gpt-4o', percent: 100 } })
  const { key, userId } = await gateway.signUp('carl')
  const view = await View.open(gateway.adminKey)
  const first = await ask(bob, false)
  await expect.poll(() => finished(view)).toHaveLength(2)
  await ask(key, true)
  const kept = await ask(bob, false)
  await expect.poll(() => finished(view)).toHaveLength(6)
  view.close()
  const repeats = finished(view).filter(({ data }) => data.source === 'plugin:mirrortest')
  expect(repeats.map(({ data }) => data.user_id ?? null)).toEqual([null, null, null])
  await gateway.module('mirrortest', { enabled: false })

  expect((await gateway.api('DELETE', `/api/auth/users/${userId}/data`)).status).toBe(200)
  const again = await View.open(gateway.adminKey, view.events.find(({ data }) => data.id === first)!.id)
  await again.has('module.changed')
  const ids = new Set(finished(again).map(({ data }) => data.id))
  expect([ids.size, ids.has(first), ids.has(kept)]).toEqual([4, true, true])
})

const finished = ({ events }: View): LiveEvent[] => events.filter(({ event }) => event === 'request.finished')
