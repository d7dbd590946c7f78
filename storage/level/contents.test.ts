import { expect, test } from 'vitest'
import { z } from 'zod'
import { withEngine } from '../conformance/harness.ts'
import type { Store } from '../index.ts'
import { openLevel } from '../level.ts'
import { rangesOf } from './contents.ts'

const Row = z.object({ n: z.number() })
const rowOptions = { id: (row: { id: string }) => row.id, time: () => 1 }

async function put(store: Store, name: string, count: number): Promise<void> {
  const rows = store.collection(name, { schema: Row, indexes: { n: ({ n }) => n } })
  for (let n = 0; n < count; n++) await rows.put(`id${n}`, { n })
  await rows.put('gone', { n: 0 })
  await rows.delete('gone')
}

test('the parts below a prefix are found by kind and path, with how much is in them', () =>
  withEngine(openLevel, async ({ engine }) => {
    const app = engine.namespace('app')
    await put(app, 'a', 2)
    await put(app, 'a-b', 1)
    await put(app.namespace('a'), 'b', 0)
    for (const beside of ['ap', 'app', 'app-2', 'b']) await put(engine, beside, 1)
    const log = app.log('calls', rowOptions)
    for (const id of ['x', 'y', 'z']) log.append({ id }, () => 'body')
    const chain = app.sequence('chain', Row)
    for (const n of [1, 2]) await chain.append(() => ({ n }))
    const counters = await app.counters('use')
    counters.add('x', 7)
    counters.add('y', 1)
    const collections = [
      { kind: 'collection', path: 'app/a', entries: 2 },
      { kind: 'collection', path: 'app/a-b', entries: 1 },
      { kind: 'collection', path: 'app/a/b', entries: 0 },
    ]
    const others = [
      { kind: 'log', path: 'app/calls', entries: 3 },
      { kind: 'sequence', path: 'app/chain', entries: 2 },
      { kind: 'counters', path: 'app/use', entries: 2 },
    ]
    expect(await engine.contents('app/')).toEqual([...collections, ...others])
    expect(await engine.contents('app/a')).toEqual(collections)
    expect(await engine.contents('none/')).toEqual([])
    expect((await engine.contents('')).map(({ path }) => path)).toEqual([
      'ap',
      'app',
      'app-2',
      ...collections.map(({ path }) => path),
      'b',
      ...others.map(({ path }) => path),
    ])
  }))

test('the keys of a prefix are those of each kind of part', () => {
  const isIn = (key: string) => rangesOf('app/').some(({ gte, lt }) => gte <= key && key < lt)
  for (const letter of ['c', 'l', 's', 'n']) {
    expect([isIn(`${letter}/app/a!r!id`), isIn(`${letter}/app/~`)]).toEqual([true, true])
    expect([isIn(`${letter}/app!r!id`), isIn(`${letter}/app0`)]).toEqual([false, false])
  }
  expect([isIn('!version'), isIn('x/app/a')]).toEqual([false, false])
})
