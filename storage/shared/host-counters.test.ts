import { expect, test } from 'vitest'
import { withHost } from './host-parts.ts'

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
    await call(1, 'flush')
    expect((await engine.contents('deep/')).map(({ kind, entries }) => [kind, entries])).toEqual([
      ['counters', 2],
    ])
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

test('counters that cannot be are refused when they are used', () =>
  withHost(async ({ open, call }) => {
    await open({ ...use, name: 'in!valid' }).catch(() => {})
    await open(use)
    expect(await call(1, 'load')).toEqual([])
  }))
