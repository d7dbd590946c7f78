import { cp, mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { collect } from '../conformance/harness.ts'
import type { Engine } from '../index.ts'
import { openLevel } from '../level.ts'
import { accountOptions, Link, linkAfter } from './crash-parts.ts'

let home: string
/** Copies of a store that was never closed, and the sizes of its write-ahead file before and after a transaction. */
let source: string
let file: string
let before: number
let after: number

const partsOf = (engine: Engine) => ({
  accounts: engine.collection('accounts', accountOptions),
  others: engine.namespace('deep').collection('others', accountOptions),
  chain: engine.sequence('chain', Link),
})

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'torn-'))
  const live = join(home, 'live')
  source = join(home, 'source')
  const engine = await openLevel(live)
  const { accounts, others, chain } = partsOf(engine)
  await accounts.put('old', { owner: 'a', balance: 1 })
  await others.put('gone', { owner: 'a', balance: 1 })
  await chain.append(linkAfter)
  file = (await readdir(live)).find((name) => name.endsWith('.log'))!
  before = (await stat(join(live, file))).size
  await engine.transaction((tx) => {
    tx.update(accounts, 'old', (row) => row && { ...row, owner: 'b' })
    for (let n = 0; n < 20; n++) tx.create(accounts, `new${n}`, { owner: `o${n}`, balance: n })
    tx.delete(others, 'gone')
    for (let n = 0; n < 5; n++) tx.append(chain, linkAfter)
  })
  after = (await stat(join(live, file))).size
  await cp(live, source, { recursive: true })
  await engine.close()
})

afterAll(() => rm(home, { recursive: true }))

test('a transaction whose writing was cut short at any byte is not there, and a whole one is', async () => {
  expect(after - before).toBeGreaterThan(2000)
  const cuts = fc.oneof(fc.integer({ min: before, max: after }), fc.constant(after))
  await fc.assert(
    fc.asyncProperty(cuts, async (cut) => {
      const folder = join(home, 'torn')
      await rm(folder, { recursive: true, force: true })
      await cp(source, folder, { recursive: true })
      await truncate(join(folder, file), cut)
      const engine = await openLevel(folder)
      const { accounts, others, chain } = partsOf(engine)
      const found = {
        owner: (await accounts.get('old'))?.owner,
        accounts: (await collect(accounts.scan())).length,
        counted: (await accounts.list({ index: 'owner', limit: 1 })).total,
        others: await others.count(),
        links: (await collect(chain.scan())).length,
        last: await chain.last(),
      }
      await engine.close()
      const old = { owner: 'a', accounts: 1, counted: 1, others: 1, links: 1, last: 1 }
      const whole = { owner: 'b', accounts: 21, counted: 21, others: 0, links: 6, last: 6 }
      expect(found).toEqual(cut === after ? whole : old)
    }),
    runs(40),
  )
}, 60_000)
