import { MessageChannel } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { withEngine } from '../storage/conformance/harness.ts'
import type { Store } from '../storage/index.ts'
import { openLevel } from '../storage/level.ts'
import { openShared, shareEngine } from '../storage/shared.ts'
import { Outbox } from './events/outbox.ts'
import { defineEvent, Events, type Occurrence } from './events.ts'

const Posted = defineEvent('post.made', z.strictObject({ n: z.int() }), { description: 'A post was made.' })
const admin = { type: 'admin', keyId: 'key_1', userId: undefined, plan: 'free', tenant: undefined } as const

function listening(parts: Partial<ConstructorParameters<typeof Events>[0]> = {}) {
  const failed: string[] = []
  const fail = (error: unknown): void => void failed.push((error as Error).message)
  const events = new Events({ failed: fail, misused: fail, ...parts })
  const told: Occurrence<{ n: number }>[] = []
  events.on(Posted, (_, occurrence) => void told.push(occurrence))
  return { events, failed, told }
}

test('an occurrence has an id of its own, who did it and what it comes from', () => {
  const { events, told } = listening()
  events.emit(Posted, { n: 1 })
  events.emit(Posted, { n: 2 }, { cause: { requestId: 'req_1', principal: admin, ip: '::1' } })
  events.emit(Posted, { n: 3 }, { cause: { requestId: 'req_2', principal: undefined, ip: '::1' } })
  events.emit(
    Posted,
    { n: 4 },
    { cause: { id: 'tr_1', principal: { ...admin, type: 'user', userId: 'usr_1' } } },
  )
  events.emit(Posted, { n: 5 }, { cause: told[1]! })
  expect(told.map(({ actor, cause }) => ({ actor, cause }))).toEqual([
    { actor: { type: 'gateway', id: 'gateway' }, cause: undefined },
    { actor: { type: 'admin', id: 'key_1', keyId: 'key_1' }, cause: 'req_1' },
    { actor: { type: 'anonymous', id: '::1' }, cause: 'req_2' },
    { actor: { type: 'user', id: 'usr_1', keyId: 'key_1' }, cause: 'tr_1' },
    { actor: { type: 'admin', id: 'key_1', keyId: 'key_1' }, cause: told[1]!.id },
  ])
  expect(new Set(told.map(({ id }) => id)).size).toBe(5)
  for (const { id } of told) expect(id).toMatch(/^evt_[0-9A-Z]{26}$/)
})

test('what a plugin emits without declaring it is told, and logged once', () => {
  const { events, failed, told } = listening()
  for (const n of [1, 2]) events.emit(Posted, { n }, { by: 'board' })
  expect(told.map(({ actor }) => actor)).toEqual(Array(2).fill({ type: 'plugin', id: 'board' }))
  expect(failed).toEqual([expect.stringMatching(/board emitted post.made, which no plugin declares/)])
})

test('data that does not fit its declared type is not told, and logged once', () => {
  const { events, failed, told } = listening()
  const end = events.declare(Posted, 'board')
  for (const n of [1.5, 2.5, 3]) events.emit(Posted, { n }, { by: 'board' })
  expect(told.map(({ data }) => data)).toEqual([{ n: 3 }])
  expect(failed).toEqual([expect.stringMatching(/board emitted post.made, whose data does not fit .* at n/)])
  expect(events.catalogue.list()).toEqual([{ type: Posted, emittedBy: ['board'] }])
  end()
  expect(events.catalogue.list()).toEqual([])
})

test('in development a plugin gets its error', () => {
  const { events, told } = listening({ strict: true })
  expect(() => events.emit(Posted, { n: 1 }, { by: 'board' })).toThrow(/which no plugin declares/)
  events.declare(Posted, 'board')
  expect(() => events.emit(Posted, { n: 1.5 }, { by: 'board' })).toThrow(/does not fit/)
  events.emit(Posted, { n: 1 }, { by: 'board' })
  expect(told).toHaveLength(1)
})

test('of several who declare a type all are listed, and it stays until the last of them goes', () => {
  const { events } = listening()
  const ends = ['one', 'two', 'one'].map((by) => events.declare(Posted, by))
  expect(events.catalogue.list()).toEqual([{ type: Posted, emittedBy: ['one', 'two'] }])
  ends[0]!()
  ends[1]!()
  expect(events.catalogue.list()).toEqual([{ type: Posted, emittedBy: ['one'] }])
})

async function withOutbox(
  run: (made: { store: Store; outbox: Outbox; stored: () => Promise<number> }) => Promise<void>,
): Promise<void> {
  await withEngine(openLevel, async ({ engine }) => {
    const store = engine.namespace('kernel')
    const stored = () => store.collection('outbox', { schema: z.unknown() }).count()
    await run({ store, outbox: new Outbox(store), stored })
  })
}

test('what a transaction emits is told when it is on disk, with the id that it got there', () =>
  withOutbox(async ({ store, outbox, stored }) => {
    const { events, told } = listening({ outbox })
    await outbox.open((occurrence) => events.tell(occurrence))
    const made = store.transaction((tx) => {
      events.emit(Posted, { n: 1 }, { in: tx, cause: { requestId: 'req_1', principal: admin, ip: '::1' } })
    })
    expect(told).toEqual([])
    await made
    expect(told.map(({ actor, cause, data }) => [actor.id, cause, data])).toEqual([
      ['key_1', 'req_1', { n: 1 }],
    ])
    await expect.poll(stored).toBe(0)
  }))

test('what a refused transaction emits is never told', () =>
  withOutbox(async ({ store, outbox, stored }) => {
    const { events, told } = listening({ outbox })
    await outbox.open((occurrence) => events.tell(occurrence))
    const refused = store.transaction((tx) => {
      events.emit(Posted, { n: 1 }, { in: tx })
      throw new Error('no')
    })
    await expect(refused).rejects.toThrow('no')
    expect([told.length, await stored()]).toEqual([0, 0])
  }))

test('what was stored and not told is told at the next start, under its id', () =>
  withOutbox(async ({ store, outbox, stored }) => {
    const before = listening({ outbox })
    await store.transaction((tx) => before.events.emit(Posted, { n: 1 }, { in: tx }))
    expect([before.told.length, await stored()]).toEqual([0, 1])
    const after = listening()
    await new Outbox(store).open((occurrence) => after.events.tell(occurrence))
    await expect.poll(stored).toBe(0)
    expect(after.told.map(({ data }) => data)).toEqual([{ n: 1 }])
  }))

test('it stays stored until its listeners have done, also those that fail', () =>
  withOutbox(async ({ store, outbox, stored }) => {
    const { events, failed } = listening({ outbox })
    const gate = Promise.withResolvers<void>()
    events.on(Posted, () => gate.promise)
    events.on(Posted, () => Promise.reject(new Error('deaf')))
    await outbox.open((occurrence) => events.tell(occurrence))
    await store.transaction((tx) => events.emit(Posted, { n: 1 }, { in: tx }))
    await expect.poll(() => failed).toEqual(['deaf'])
    expect(await stored()).toBe(1)
    const closed = outbox.close()
    gate.resolve()
    await closed
    expect(await stored()).toBe(0)
  }))

test('after it was closed it tells nothing more, and keeps what comes', () =>
  withOutbox(async ({ store, outbox, stored }) => {
    const { events, told } = listening({ outbox })
    await outbox.open((occurrence) => events.tell(occurrence))
    await outbox.close()
    await store.transaction((tx) => events.emit(Posted, { n: 1 }, { in: tx }))
    expect([told.length, await stored()]).toEqual([0, 1])
  }))

test('what a transaction of another thread emits is told in the first one', () =>
  withEngine(openLevel, async ({ engine }) => {
    const { port1, port2 } = new MessageChannel()
    const shared = shareEngine(engine)
    const closed = shared.serve(port1)
    const own = shared.open()
    const far = openShared(port2)
    const first = listening()
    const told = new Outbox(own.namespace('kernel'))
    await told.open((occurrence) => first.events.tell(occurrence))
    const second = listening({ outbox: new Outbox(far.namespace('kernel')) })
    await far.transaction((tx) => second.events.emit(Posted, { n: 1 }, { in: tx }))
    await expect.poll(() => first.told.map(({ data }) => data)).toEqual([{ n: 1 }])
    expect(second.told).toEqual([])
    await told.close()
    await far.close()
    await closed
    await own.close()
  }))

test('what is to be told durably is kept only where somebody listens', () =>
  withOutbox(async ({ outbox, stored }) => {
    const { events } = listening({ outbox })
    await events.emitDurably(Posted, { n: 1 })
    await new Events({ failed() {}, outbox }).emitDurably(Posted, { n: 2 })
    expect(await stored()).toBe(1)
  }))
