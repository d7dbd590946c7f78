import { afterEach, describe, expect, test } from 'vitest'
import { type Dropin, writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { ModuleCircuit } from './module-circuit.ts'

let gateway: TestGateway
let upstream: Upstream
let remove: () => Promise<void>
const events: { name: string; data: unknown }[] = []

afterEach(async () => {
  await gateway?.close()
  await upstream?.close()
  await remove?.()
  events.length = 0
})

const quick = { failures: 3, open: '150ms', budget: '30ms', timeout: '200ms' }

async function withModule(
  setup: string,
  manifest: Dropin['manifest'] = {},
  circuit: object = {},
): Promise<void> {
  const dropins = await writeDropins({ bad: { setup, manifest } })
  remove = dropins.remove
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    config: {
      plugin_dirs: [dropins.folder],
      module_circuit: { ...quick, ...circuit },
      // It loads a tokenizer with the first call, for which these limits leave no time.
      modules: { contextwindow: { enabled: false } },
    },
  })
  gateway.kernel.events.onAny((data, { type }) => {
    if (type.name === 'module.tripped' || type.name === 'module.restored')
      events.push({ name: type.name, data })
  })
}

const call = (body: object = {}, path = '/v1/chat/completions'): Promise<Response> =>
  fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }], ...body }),
  })

async function calls(count: number, body: object = {}): Promise<number[]> {
  const statuses: number[] = []
  for (let n = 0; n < count; n += 1) {
    const response = await call(body)
    await response.text()
    statuses.push(response.status)
  }
  return statuses
}

const shown = async () => (await gateway.api('GET', '/api/proxy/modules/bad')).body

/** Every hook, as one that fails. */
const broken: Record<string, string> = {
  admit: `admit() { throw new Error('no') }`,
  request: `request() { throw new Error('no') }`,
  'request, later': `async request() { throw new Error('no') }`,
  around: `async around() { throw new Error('no') }`,
  'around, after the answer': `async around(call, next) { await next(call); throw new Error('no') }`,
  reply: `reply() { throw new Error('no') }, stream: 'buffer'`,
  stream: `stream() { throw new Error('no') }`,
  filter: `stream: () => ({ push() { throw new Error('no') } })`,
  'end of a filter': `stream: () => ({ push(chunk, out) { out.emit(chunk) }, end() { throw new Error('no') } })`,
  attempt: `attempt() { throw new Error('no') }`,
  attempted: `attempted() { throw new Error('no') }`,
  settled: `settled() { throw new Error('no') }`,
  detect: `detect: { request: { reach: 5, scan() { throw new Error('no') } } }`,
  'detect in answers': `detect: { reply: { reach: 5, scan() { throw new Error('no') } } }`,
  'open of a detection': `detect: { reply: { reach: 5, scan: () => [], open() { throw new Error('no') } } }`,
  reveal: `reveal: { reach: 5, applies() { throw new Error('no') }, scan: () => [] }`,
}

/** Every hook, returning a value that the hook does not allow. */
const nonsense: Record<string, string> = {
  'a request of text': `request: () => 'yes'`,
  'a request of something': `request: () => ({ yes: true })`,
  'a request, later': `request: async () => 42`,
  'an around of nothing': `around: async (call, next) => { await next(call) }`,
  'an around that is no promise': `around: () => 7`,
  'a reply of text': `reply: () => 'short', stream: 'buffer'`,
  'a reply of wrong choices': `reply: () => ({ choices: [1] }), stream: 'buffer'`,
  'a filter of text': `stream: () => 'filter'`,
  'findings of text': `detect: { request: { reach: 5, scan: () => 'all of it' } }`,
  'findings without places': `detect: { reply: { reach: 5, scan: () => [{ label: 'x', action: 'block' }] } }`,
  'an index of text': `detect: { reply: { reach: 5, scan: () => [], open: () => 'here' } }`,
  'chunks of text': `stream: () => ({ push(chunk, out) { out.emit('a chunk') } })`,
}

describe.each(Object.entries({ ...broken, ...nonsense }))('a module that fails in %s', (_, hooks) => {
  test('harms no call when calls are to pass, trips, and says why', async () => {
    await withModule(`return { ${hooks} }`, {}, { open: '1h' })
    upstream.reply({ content: ['one ', 'two'], times: 20 })
    const statuses = [...(await calls(5, { stream: true })), ...(await calls(5))]
    expect(new Set(statuses)).toEqual(new Set([200]))
    const module = await shown()
    expect(module).toMatchObject({
      state: 'tripped',
      enabled: true,
      problem: expect.stringContaining('failures within'),
    })
    expect(module.warnings[0]).toContain('calls pass without it')
    const { body } = await gateway.api('GET', '/api/proxy/modules/bad/events')
    expect(body.events.map(({ kind }: { kind: string }) => kind)).toContain('tripped')
    expect(events).toMatchObject([{ name: 'module.tripped', data: { name: 'bad', open_s: 3600 } }])
  })
})

test('a module whose policy is to refuse refuses with 503 and its name while it is left out, but lets admins in', async () => {
  await withModule(
    `return { admit() {}, request() { throw new Error('no') } }`,
    { failure: 'closed' },
    { open: '1h' },
  )
  expect(await calls(3)).toEqual([500, 500, 500])
  const response = await call()
  expect(response.status).toBe(503)
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(3000)
  expect(await response.json()).toMatchObject({
    error: { code: 'circuit_open', type: 'module_tripped', module: 'bad' },
  })
  expect(upstream.requests).toHaveLength(0)
  expect((await shown()).state).toBe('tripped')
})

test('one call at a time tries it again, and a probe that succeeds restores it', async () => {
  await withModule(`const fail = ctx.memory('fail', () => ({ left: 4 }))
    return { request(call) {
      if (fail.left-- > 0) throw new Error('no')
      call.trace.header('x-back', 'yes')
    } }`)
  await calls(3)
  expect((await shown()).state).toBe('tripped')
  await new Promise((resolve) => setTimeout(resolve, 200))
  await calls(1)
  expect((await shown()).state).toBe('tripped')
  expect((await call()).headers.get('x-back')).toBeNull()
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect((await call()).headers.get('x-back')).toBe('yes')
  await expect.poll(async () => (await shown()).state).toBe('active')
  expect(events.map(({ name }) => name)).toEqual(['module.tripped', 'module.tripped', 'module.restored'])
  expect(events[2]!.data).toEqual({ name: 'bad', by: 'probe' })
  expect(events[1]!.data).toMatchObject({ open_s: 0.3 })
})

test('a change by the operator restores it at once', async () => {
  await withModule(
    `return { request(call) { if (!ctx.settings.good) throw new Error('no'); call.trace.header('x-good', '1') } }`,
    {},
    { open: '1h' },
  )
  await calls(3)
  expect((await shown()).state).toBe('tripped')
  await gateway.module('bad', { config: { good: true } })
  expect((await shown()).state).toBe('active')
  expect((await call()).headers.get('x-good')).toBe('1')
  expect(events.at(-1)).toEqual({ name: 'module.restored', data: { name: 'bad', by: 'operator' } })
})

test.each([
  ['request', `request: () => never`],
  ['around', `around: () => never`],
  ['around after the answer', `around: async (call, next) => { await next(call); return never }`],
  ['reply', `reply: () => never, stream: 'buffer'`],
  ['settled', `settled: () => never`],
])('a hook that never resolves is waited for no longer than the limit: %s', async (_, hooks) => {
  await withModule(
    `const never = new Promise(() => {}); return { ${hooks} }`,
    {},
    { open: '1h', failures: 1 },
  )
  expect(await calls(2)).toEqual([200, 200])
  await expect.poll(async () => (await shown()).problem).toContain('no answer within')
  expect(upstream.requests).toHaveLength(2)
})

test('an around that comes too late does not ask the provider once more', async () => {
  await withModule(`return { async around(call, next) {
    await new Promise((resolve) => setTimeout(resolve, 500))
    return next(call)
  } }`)
  expect(await calls(1)).toEqual([200])
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(upstream.requests).toHaveLength(1)
})

test('the time of the provider is not the time of an around', async () => {
  await withModule(`return { around: async (call, next) => next(call) }`)
  upstream.reply({ content: 'late', delayMs: 500, times: 4 })
  expect(await calls(4)).toEqual([200, 200, 200, 200])
  const module = await shown()
  expect(module).toMatchObject({ state: 'active', stats: { errors: 0 } })
})

test('runs over the budget count as failures, and the calls keep what they made', async () => {
  await withModule(
    `return { request(call) {
      const until = performance.now() + 40
      while (performance.now() < until);
      call.trace.header('x-slow', 'yes')
    } }`,
    {},
    { open: '1h' },
  )
  expect((await call()).headers.get('x-slow')).toBe('yes')
  await calls(2)
  const module = await shown()
  expect(module).toMatchObject({ state: 'tripped', problem: expect.stringContaining('more than 30 ms') })
})

test('a call that began with a module ends with it, although it trips meanwhile', async () => {
  await withModule(
    `return {
      request(call) { if (call.request.user) throw new Error('no') },
      stream: () => ({ push(chunk, out) { out.emit(chunk) }, end() { ctx.report('ended', 'whole') } }),
    }`,
    {},
    { open: '1h' },
  )
  upstream.reply({ content: ['one ', 'two ', 'three'], gapMs: 100 })
  const running = call({ stream: true })
  await expect.poll(() => upstream.requests.length).toBe(1)
  await calls(3, { user: 'x' })
  expect((await shown()).state).toBe('tripped')
  expect(await (await running).text()).toContain('three')
  const { body } = await gateway.api('GET', '/api/proxy/modules/bad/events')
  expect(body.events.filter(({ kind }: { kind: string }) => kind === 'ended')).toHaveLength(1)
})

test('what fails now and then among many good runs does not trip', () => {
  const circuit = new ModuleCircuit()
  for (let runs = 1; runs <= 1000; runs += 1) if (runs % 3 === 0) circuit.failed('request', runs, 'Error')
  expect(circuit.state).toBe('closed')
})
