import { Level } from 'level'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { collect, withEngine } from '../conformance/harness.ts'
import { openLevel } from '../level.ts'
import { accountOptions, type Event, eventOptions } from './crash-parts.ts'

let opened: number
let closed: number

beforeEach(() => {
  opened = closed = 0
  for (const method of ['snapshot', 'iterator', 'keys'] as const) {
    const original: (...given: unknown[]) => { close(): Promise<void> } = Level.prototype[method] as never
    vi.spyOn(Level.prototype, method).mockImplementation(function (this: Level, ...given: unknown[]) {
      const made = original.apply(this, given)
      const close = made.close.bind(made)
      let isOpen = true
      opened += 1
      made.close = () => {
        if (isOpen) closed += 1
        isOpen = false
        return close()
      }
      return made
    } as never)
  }
})

afterEach(() => {
  vi.restoreAllMocks()
})

/** Reads one item and no more. */
async function breakOff(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) return
}

test('reading leaves no snapshot and no iterator open, which would keep on disk what was overwritten since', () =>
  withEngine(openLevel, async ({ engine }) => {
    const accounts = engine.collection('accounts', accountOptions)
    const events = engine.log<Event>('events', eventOptions)
    for (const id of ['a', 'b', 'c']) {
      await accounts.put(id, { owner: 'o', balance: 1 })
      events.append({ id, at: 1, kind: 'k' }, () => 'body')
    }
    await events.flush()
    const fails = (): never => {
      throw new Error('a filter of somebody else')
    }
    const readings = [
      () => accounts.list({ index: 'owner' }),
      () => accounts.list({ offset: 1, limit: 1 }),
      () => accounts.count({ from: 'a' }),
      () => collect(accounts.scan()),
      () => breakOff(accounts.scan()),
      () => events.list({ where: { kind: 'k' } }),
      () => events.list({ filter: fails }).catch(() => {}),
      () => events.get('a'),
      () => events.body('a'),
      () => collect(events.scan()),
      () => breakOff(events.scan()),
      () => collect(events.scan({ filter: fails })).catch(() => {}),
    ]
    for (const read of readings) {
      const before = opened
      await read()
      expect(opened).toBeGreaterThan(before)
      expect(closed).toBe(opened)
    }
  }))
