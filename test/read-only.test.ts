import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { ask } from './ask.ts'
import { bareChain } from './bare.ts'
import { writeDropins } from './dropins.ts'
import { startGateway } from './harness.ts'
import { shared } from './shared.ts'
import { startUpstream } from './upstream/index.ts'

/** Modules that write into what they are handed, which changes nothing and is a failure of theirs. */
const writers = {
  messages: `request({ request }) { for (const m of request.messages) m.content += '!' }`,
  list: `request({ request }) { request.messages.push({ role: 'user', content: 'more' }) }`,
  call: `request(call) { call.request = { ...call.request, user: 'another' } }`,
  later: `async request({ request }) { await null; delete request.messages }`,
  principal: `request(call) { call.principal.plan = 'team' }`,
  tags: `request(call) { call.context.tags.team = 'another' }`,
  headers: `request(call) { call.context.headers['x-project'] = 'another' }`,
  notes: `request(call) { call.trace.note('notes', 'seen'); call.trace.notes.length = 0 }`,
  record: `request(call) { call.trace.mayRecord({ model: 'another' }) }`,
  started: `request(call) { call.trace.startedAt = 0 }`,
  tries: `attempted(attempt, call) { call.trace.attempts.pop() }`,
  attempt: `attempt(attempt) { attempt.provider = 'another' }`,
  usage: `attempted(attempt) { attempt.usage = undefined }`,
  inside: `async around(call, next) {
    for (const m of call.request.messages) m.content += '!'
    return next(call)
  }`,
  answer: `async around(call, next) {
    const reply = await next(call)
    if (reply.kind === 'whole') reply.body.choices[0].message.content = 'another'
    else reply.chunks = []
    return reply
  }`,
  body: `reply(body) { body.choices[0].message.content = 'another' }, stream: 'buffer'`,
  chunks: `stream: () => ({
    push(chunk, out) { for (const { delta } of chunk.data.choices) delta.content = 'another'; out.emit(chunk) },
  }), reply(body) { body.choices.pop() }`,
  place: `detect: {
    request: { reach: 1, scan(text, place) { place.role = 'system'; return [] } },
    reply: { reach: 1, scan(text, place, call) { call.request.model = 'another'; return [] } },
  }`,
  outcome: `settled(outcome) { outcome.usage.input = 0 }`,
  ending: `settled(outcome) { outcome.body().choices.pop() }`,
} as const

/** Bytes cannot be frozen: what a module is handed is a copy, and to write there is no failure. */
const scribblers = {
  bytes: `async around(call, next) {
    const reply = await next(call)
    reply.raw?.fill(120)
    return reply
  }`,
  rawbytes: `stream: () => ({ push(chunk, out) { chunk.raw?.fill(120); out.emit(chunk) } }), reply() {}`,
} as const

const ofAll = { ...writers, ...scribblers }
const dropins = Object.fromEntries(
  Object.entries(ofAll).map(([id, hooks]) => [
    id,
    { setup: `return { pure: true, ${hooks} }`, manifest: { permissions: ['body:read'], enabled: false } },
  ]),
)

const played = shared(async () => {
  const { folder, remove } = await writeDropins({
    ...dropins,
    // What a module may not read it may not write into either.
    blind: {
      setup: `return { request({ request }) { request.messages.length = 0 } }`,
      manifest: { permissions: [], enabled: false },
    },
    // Texts that a module may change are changed by giving others.
    writer: {
      setup: `return { request({ request }) { request.messages[0].content = 'another' } }`,
      manifest: { enabled: false },
    },
    closed: {
      setup: `return { request({ request }) { request.messages[0].content = 'another' } }`,
      manifest: { enabled: false, failure: 'closed' },
    },
    // Listeners are told of calls that others go on with.
    listener: {
      setup: `
        ctx.on({ name: 'call.started' }, ({ call }) => { call.request.messages[0].content = 'another' })
        ctx.on({ name: 'call.settled' }, (data) => {
          try { data.outcome.usage.output = 0 } catch { ctx.report('stopped', data.call.request.messages[0].content) }
        })
        return {}`,
      manifest: { enabled: false },
    },
    settings: {
      setup: `ctx.settings.words?.push('another'); return {}`,
      manifest: { enabled: false },
    },
    adder: {
      setup: `return {
        request(call) {
          call.trace.note('adder', 'seen')
          call.trace.decide({ kind: 'way', chosen: 'this', reason: 'it is there' })
          call.trace.header('x-adder', 'yes')
          call.trace.facts.adder = 'here'
          ctx.slot(() => ({ n: 1 }))(call).n += 1
          return call.withRequest({ max_tokens: 7 })
        },
        around: async (call, next) => {
          const reply = await next(call)
          call.trace.attempts.at(-1).reasonNext = 'to see'
          return reply
        },
      }`,
      manifest: { enabled: false },
    },
  })
  const upstream = await startUpstream()
  const gateway = await startGateway({ upstream, config: { plugin_dirs: [folder] } })
  return {
    gateway,
    upstream,
    async close() {
      await gateway.close()
      await upstream.close()
      await remove()
    },
  }
})

type Row = Record<string, unknown>
const modes = ['enforce', 'shadow'] as const
const kinds = [false, true]

/** All that a call leaves behind at the client, the provider and in its trace, as far as it does not depend on time. */
async function witness(stream: boolean) {
  const { gateway, upstream } = played
  const { status, headers, body } = await ask(gateway, {
    headers: { 'x-service-tags': 'team=blue' },
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }], stream, max_tokens: 9 },
  })
  const url = `/api/observe/traces/${headers.get('x-request-id')}`
  const trace: Row = await vi.waitFor(async () => {
    const { status, body } = await gateway.api('GET', url)
    expect(status).toBe(200)
    return body
  }, 10_000)
  const { attempts, usage, cost, tags, project, request, response, timestamp } = trace
  const tries = (attempts as Row[]).map(({ provider, model, status }) => ({ provider, model, status }))
  expect(Date.parse(String(timestamp))).toBeGreaterThan(Date.now() - 60_000)
  return timeless({
    status,
    body,
    sent: upstream.last().rawBody,
    trace: { tries, usage, cost, tags, project, request, response },
  })
}

/** Without what differs from answer to answer. */
const timeless = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value, (field, one) => (['id', 'created'].includes(field) ? undefined : one)))

const faults = async (id: string): Promise<string[]> =>
  (await played.gateway.api('GET', `/api/proxy/modules/${id}/events`)).body.events
    .filter(({ kind }: { kind: string }) => kind === 'failed')
    .map(({ detail }: { detail: string }) => detail)

const without = new Map<boolean, Awaited<ReturnType<typeof witness>>>()
beforeAll(async () => {
  await bareChain(played.gateway)
  for (const stream of kinds) without.set(stream, await witness(stream))
})
beforeEach(() => bareChain(played.gateway))

describe.each(modes)('a module (%s) that writes into what it is handed', (mode) => {
  test.each(Object.keys(writers))('changes nothing, and has failed: %s', async (id) => {
    await played.gateway.module(id, { enabled: true, mode })
    for (const stream of kinds) expect(await witness(stream)).toEqual(without.get(stream))
    await expect.poll(() => faults(id)).not.toEqual([])
    expect((await faults(id)).join()).toContain('wrote into a read-only value')
  })

  test.each(Object.keys(scribblers))('has copies of bytes: %s', async (id) => {
    await played.gateway.module(id, { enabled: true, mode })
    for (const stream of kinds) expect(await witness(stream)).toEqual(without.get(stream))
    expect(await faults(id)).toEqual([])
  })

  test.each(['blind', 'writer'])('changes nothing, whatever it may read or change: %s', async (id) => {
    await played.gateway.module(id, { enabled: true, mode })
    expect(await witness(false)).toEqual(without.get(false))
    expect((await faults(id)).join()).toContain('wrote into a read-only value')
  })
})

test('a guard that writes refuses the call', async () => {
  await played.gateway.module('closed', { enabled: true })
  const { status, body } = await ask(played.gateway, {
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
  })
  expect([status, (body.error as Row).module]).toEqual([500, 'closed'])
})

test('explaining a call shows that a module would fail over it, and change nothing', async () => {
  await played.gateway.module('messages', { enabled: true, mode: 'enforce' })
  await played.gateway.module('closed', { enabled: true })
  const { body } = await played.gateway.api('POST', '/api/proxy/chain/explain', {
    request: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
  })
  const of = (id: string) => body.modules.find(({ name }: Row) => name === id)
  expect(of('messages')).toMatchObject({ outcome: 'broken', effect: 'known', changes: [] })
  expect(of('messages').reason).toContain('wrote into a read-only value')
  expect(of('closed')).toMatchObject({ outcome: 'runs', effect: 'unknown' })
})

test('a listener changes nothing of a call', async () => {
  await played.gateway.module('listener', { enabled: true })
  expect(await witness(false)).toEqual(without.get(false))
  const { body } = await played.gateway.api('GET', '/api/proxy/modules/listener/events')
  expect(body.events).toMatchObject([{ kind: 'stopped', detail: 'hi' }])
  expect(played.gateway.logged.join()).toContain('a listener failed')
})

test('a module that writes into its settings does not start with them', async () => {
  await played.gateway.module('settings', { enabled: true })
  const { status, body } = await played.gateway.api('PUT', '/api/proxy/modules/settings', {
    config: { words: ['one'] },
  })
  expect([status, body.error.message]).toEqual([409, expect.stringContaining('settings')])
  const shown = (await played.gateway.api('GET', '/api/proxy/modules/settings')).body
  expect(shown).toMatchObject({ state: 'active', config: {} })
})

test('a module adds to the trace by its methods, and gives another call', async () => {
  await played.gateway.module('adder', { enabled: true })
  const { headers } = await ask(played.gateway, {
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
  })
  expect(headers.get('x-adder')).toBe('yes')
  expect(played.upstream.last().body).toMatchObject({ max_tokens: 7 })
  const url = `/api/observe/traces/${headers.get('x-request-id')}`
  await expect.poll(async () => (await played.gateway.api('GET', url)).status).toBe(200)
  const { body } = await played.gateway.api('GET', url)
  expect(body).toMatchObject({
    decisions: [{ kind: 'way', chosen: 'this', reason: 'it is there' }],
    modules: [
      { module: 'adder', hook: 'request', verdict: 'seen' },
      { module: 'adder', hook: 'around' },
    ],
    attempts: [{ reason_next: 'to see' }],
  })
  expect(await faults('adder')).toEqual([])
})
