import { expect, test, vi } from 'vitest'
import { settled, withHost } from './host-parts.ts'
import { HostStore } from './host-store.ts'

const use = { part: 1, kind: 'counters', path: ['deep'], name: 'use' } as const

test('what a thread counts is counted, and told to the others that have loaded the same counters', () =>
  withHost(async ({ engine, open, call, news }) => {
    for (const part of [1, 2, 3, 4]) await open({ ...use, part, path: part === 4 ? [] : use.path })
    await call(1, 'change', [['set', 'before', 7]])
    expect(await call(1, 'load')).toEqual([['before', 7]])
    for (const part of [2, 4]) await call(part, 'load')
    const steps = [
      ['add', 'x', 2],
      ['add', 'x', 3],
      ['set', 'y', 4],
      ['add', 'z', 1],
      ['clear', 'z', 0],
      ['clear', 'before', 0],
    ]
    await call(1, 'change', steps)
    expect(news).toEqual([{ part: 2, counted: steps }])
    expect(await call(3, 'load')).toEqual([
      ['x', 5],
      ['y', 4],
    ])
    const flush = vi.spyOn(await engine.namespace('deep').counters('use'), 'flush')
    await call(1, 'flush')
    expect(flush).toHaveBeenCalledOnce()
    expect((await engine.contents('deep/')).map(({ kind, entries }) => [kind, entries])).toEqual([
      ['counters', 2],
    ])
  }))

test('a thread that is gone is told nothing that others count', () =>
  withHost(async ({ engine, open, call, host, peers, news }) => {
    const other = new HostStore(
      () => engine,
      async () => undefined,
      peers,
    )
    await other.answer({ open: use })
    const count = () => other.answer({ call: { part: 1, method: 'change', args: [[['add', 'x', 1]]] } })
    await open(use)
    await call(1, 'load')
    await count()
    expect(news).toHaveLength(1)
    host.clear()
    await settled()
    await count()
    expect(news).toHaveLength(1)
  }))

test('a thread that cannot be told is let be', () =>
  withHost(
    async ({ open, call }) => {
      for (const part of [1, 2]) await open({ ...use, part })
      for (const part of [1, 2]) await call(part, 'load')
      await call(1, 'change', [['add', 'x', 1]])
      expect(await call(2, 'load')).toEqual([['x', 1]])
    },
    () => Promise.reject(new Error('gone')),
  ))
