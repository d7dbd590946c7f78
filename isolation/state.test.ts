import { afterEach, describe, expect, test } from 'vitest'
import { type Isolated, places, shareGateways } from '../test/isolated.ts'

/** What a module stores and hears: the same in the process and in a worker. */

const startIsolated = shareGateways()
let far: Isolated

afterEach(() => far?.close())

const permissions = ['store', 'body:read']
const reported = async (kind: string) =>
  (await far.reported()).filter(([one]) => one === kind).map(([, detail]) => detail)

/** The setup of a module that stores; `ctx.store` is made use of in `body`. */
const storing = (body: string): string => `return (async () => {
  const schema = { safeParse: (row) => typeof row.n === 'number'
    ? { success: true, data: { n: row.n, who: row.who ?? 'nobody' } }
    : { success: false, error: { issues: [{ path: ['n'], code: 'invalid_type' }] } } }
  const rows = ctx.store.collection('rows', { schema, indexes: { who: (row) => row.who } })
  const counts = await ctx.store.counters('counts')
  const steps = ctx.store.sequence('steps', { safeParse: (data) => ({ success: true, data }) })
  ${body}
})()`

const asking = storing(`rows.watch(({ id, row }) => ctx.report('watched', id + ' ' + row?.n))
  return { async request(call) {
    const { user } = call.request
    if (user === 'bad') return rows.put('bad', { n: 'one' }).catch((error) => { call.trace.header('x-error', error.name + ' ' + error.code) })
    const row = await rows.update('one', (row) => ({ n: (row?.n ?? 0) + 1, who: user }))
    counts.add('calls', 1)
    await counts.flush()
    const made = await steps.append((before, seq) => ({ seq, sum: (before?.sum ?? 0) + row.n }))
    const { total, items } = await rows.list({ index: 'who', equals: user })
    const scanned = []
    for await (const [id, { n }] of rows.scan()) scanned.push(id + n)
    call.trace.header('x-state', JSON.stringify([row, counts.get('calls'), made, total, items.length, scanned]))
  } }`)

describe.each(places)('%s', (place) => {
  test('a module stores rows, counts and entries, and finds them again', async () => {
    far = await startIsolated(place, asking, { permissions })
    const said = async (user: string) => JSON.parse((await far.call({ user })).headers.get('x-state')!)
    expect(await said('ann')).toEqual([{ n: 1, who: 'ann' }, 1, { seq: 1, sum: 1 }, 1, 1, ['one1']])
    await far.gateway.module('far', { enabled: false })
    await far.gateway.module('far', { enabled: true, isolation: place === 'worker' ? 'inproc' : 'worker' })
    expect(await said('bob')).toEqual([{ n: 2, who: 'bob' }, 2, { seq: 2, sum: 3 }, 1, 1, ['one2']])
    await far.gateway.module('far', { isolation: place })
    expect(await said('ann')).toEqual([{ n: 3, who: 'ann' }, 3, { seq: 3, sum: 6 }, 1, 1, ['one3']])
    const bad = await far.call({ user: 'bad' })
    expect(bad.headers.get('x-error')).toBe('StoreError ROW_INVALID')
    expect(new Set(await reported('watched'))).toEqual(new Set(['one 1', 'one 2', 'one 3']))
  })

  test('many calls at once that change one row lose no change', async () => {
    far = await startIsolated(place, asking, { permissions })
    await Promise.all(Array.from({ length: 12 }, () => far.call({ user: 'ann' })))
    const last = await far.call({ user: 'ann' })
    const [row, calls, step] = JSON.parse(last.headers.get('x-state')!)
    expect([row.n, calls, step.seq]).toEqual([13, 13, 13])
  })

  test('the store is not to be had without its permission', async () => {
    far = await startIsolated(place, `ctx.store.collection('rows', {})`, { permissions: ['body:read'] })
    const { state, problem } = await far.shown()
    expect(state).toBe('failed')
    expect(problem).toContain('uses the store without the permission "store"')
  })

  test('a module hears of calls and of what others tell, and tells something itself', async () => {
    far = await startIsolated(
      place,
      `const kept = ctx.slot(() => ({ n: 0 }))
      const schema = { safeParse: (data) => ({ data }) }
      const type = { name: 'far.happened', alias: 'far_happened', description: 'x', schema }
      ctx.event(type)
      ctx.on({ name: 'call.settled' }, ({ outcome, call }) => {
        ctx.report('settled', [outcome.ending, outcome.usage.output > 0, call.request.messages[0].content, kept(call).n, outcome.body()?.object].join(' '))
        ctx.emit(type, { n: 7 }, { cause: call })
      })
      ctx.on(type, ({ n }, { type, timestamp }) => ctx.report('heard', [n, type.name, type.alias, timestamp > '2020'].join(' ')))
      ctx.on(type, (_, { id, actor, cause }) => ctx.report('known', [id.slice(0, 4), actor.type, cause.slice(0, 3)].join(' ')))
      ctx.onAny((data, { type }) => ctx.report('any', type.name))
      return { request(call) { kept(call).n += 1 } }`,
      { permissions: ['body:read'] },
    )
    await far.call()
    await expect.poll(() => reported('heard')).toEqual(['7 far.happened far_happened true'])
    expect(await reported('known')).toEqual(['evt_ admin tr_'])
    expect(await reported('settled')).toEqual(['ok true hi 1 chat.completion'])
    expect((await reported('any')).toSorted()).toEqual(
      expect.arrayContaining(['call.settled', 'call.started', 'far.happened']),
    )
  })
})

test('in a worker, without the permission to read texts, events hold none', async () => {
  far = await startIsolated(
    'worker',
    `ctx.on({ name: 'call.settled' }, ({ outcome, call }) => ctx.report('settled', JSON.stringify([call.request, outcome.body()])))
    return {}`,
    { permissions: [] },
  )
  far.upstream.reply({ content: 'a word' })
  await far.call()
  await expect.poll(() => reported('settled')).toHaveLength(1)
  const [seen] = await reported('settled')
  expect(seen).toContain('gpt-4o-mini')
  expect(seen).not.toMatch(/"hi"|a word/)
})

test('a lost worker leaves nothing behind: its listings, its watches, what it listened to', async () => {
  const setup = storing(`
    for (let n = 0; n < 250; n += 1) await rows.put('row' + n, { n })
    rows.watch(({ id }) => ctx.report('watched', id))
    ctx.on({ name: 'call.settled' }, ({ call }) => ctx.report('settled', call.request.user ?? 'nobody'))
    return { async request(call) {
      if (call.request.user !== 'harm') return
      rows.put('pending', { n: 1 }).catch(() => {})
      for await (const _ of rows.scan()) { await new Promise((resolve) => setTimeout(resolve, 20)); process.exit(1) }
    } }`)
  far = await startIsolated(
    'worker',
    setup,
    { permissions },
    { module_circuit: { open: '50ms', timeout: '5s' } },
  )
  for (let n = 0; n < 3; n += 1) {
    expect((await far.call({ user: 'harm' })).status).toBe(200)
    await expect
      .poll(async () => {
        await far.call()
        return (await far.shown()).state
      })
      .toBe('active')
  }
  await far.call({ user: 'first' })
  await far.call({ user: 'last' })
  await expect.poll(() => reported('settled')).toContain('last')
  expect((await reported('settled')).filter((user) => user === 'first')).toHaveLength(1)
  expect((await far.gateway.api('GET', '/health')).status).toBe(200)
})

test('a module that only listens comes back when its worker was lost', async () => {
  const setup = `ctx.on({ name: 'call.settled' }, ({ call }) => {
    if (call.request.user === 'harm') process.exit(1)
    ctx.report('settled', call.request.user)
  })
  return {}`
  far = await startIsolated(
    'worker',
    setup,
    { permissions },
    { module_circuit: { open: '50ms', timeout: '5s', failures: 1 } },
  )
  await far.call({ user: 'one' })
  await expect.poll(() => reported('settled')).toEqual(['one'])
  await far.call({ user: 'harm' })
  await expect.poll(async () => (await far.shown()).state).toBe('tripped')
  await expect
    .poll(async () => {
      await far.call({ user: 'two' })
      return reported('settled')
    })
    .toContain('two')
  expect((await far.shown()).state).toBe('active')
})

test('what is no data is made anew by the next instance, the rest is remembered', async () => {
  const setup = `class Cache { hits = 0 }
  const cache = ctx.memory('cache', () => new Cache())
  const count = ctx.memory('count', () => new Map())
  return { request(call) {
    count.set('n', (count.get('n') ?? 0) + 1)
    call.trace.header('x-memory', [cache instanceof Cache, count.get('n')].join(' '))
  } }`
  far = await startIsolated('worker', setup)
  expect((await far.call()).headers.get('x-memory')).toBe('true 1')
  await far.gateway.module('far', { config: { again: true } })
  expect((await far.call()).headers.get('x-memory')).toBe('true 2')
})
