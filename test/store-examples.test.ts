import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import { runInThisContext } from 'node:vm'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { collect, withEngine } from '../storage/conformance/harness.ts'
import type { Store } from '../storage/index.ts'
import { openLevel } from '../storage/level.ts'

type Example = (store: Store, schemas: typeof z) => Promise<unknown>

/** What the examples of the store in the contract's documentation leave in it, by their headings. */
const outcomes: Readonly<Record<string, (store: Store, returned: unknown) => Promise<void>>> = {
  'Several changes as one': async (store) => {
    const accounts = store.collection('accounts', { schema: z.object({ balance: z.number() }) })
    expect([await accounts.get('ada'), await accounts.get('bob')]).toEqual([{ balance: 6 }, { balance: 4 }])
    expect(await collect(store.sequence('ledger', z.unknown()).scan())).toEqual([
      { seq: 1, from: 'ada', to: 'bob', amount: 4 },
    ])
  },
  'Rows by range, and page by page': async (_, returned) => expect(returned).toEqual([10, 20, 30]),
  'Entries queued for a ledger': async (_, returned) =>
    expect(returned).toEqual([
      'signed up after nothing',
      'made a key after signed up',
      'called after made a key',
    ]),
}

const sections = (await readFile('docs/plugins/contract.md', 'utf8')).split(/^## /m).slice(1)
const examples = sections.flatMap((section) => {
  const code = /^```ts\n([\s\S]*?)^```$/m.exec(section)?.[1]
  // Whole plugins run elsewhere.
  return code?.includes('store.') && !code.includes('export default')
    ? [{ heading: section.slice(0, section.indexOf('\n')), code }]
    : []
})

test('each example of the store has an outcome that is looked at', () => {
  expect(examples.map(({ heading }) => heading)).toEqual(Object.keys(outcomes))
})

test.for(examples)('the example of "$heading" does what it says', async ({ heading, code }) => {
  const source = stripTypeScriptTypes(`async (store, z) => {\n${code}\n}`)
  const run = runInThisContext(source) as Example
  await withEngine(openLevel, async ({ engine }) => {
    const store = engine.namespace('plugins').namespace('example')
    await outcomes[heading]!(store, await run(store, z))
  })
})
