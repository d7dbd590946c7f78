import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LedgerEntry } from '#kernel'
import { startGateway } from '../../../test/harness.ts'
import { bytesOf } from './draft-bytes.ts'
import type { End } from './end.ts'
import { link } from './linking/link.ts'
import { newLedger } from './new-ledger.ts'
import { recordedOf } from './recorded.ts'
import { entriesOf, type Segment } from './segment.ts'

/** A ledger of twenty entries with a checkpoint of the last, which each case changes while no gateway runs. */

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-tampered-'))
  const gateway = await startGateway({ dataDir: path.join(folder, 'whole') })
  for (let n = 0; n < 20; n++)
    await gateway.api('POST', '/api/trust/ledger', { event_type: 'test.done', action: 'do', detail: { n } })
  await gateway.api('POST', '/api/trust/ledger/checkpoints')
  await gateway.close()
})

afterAll(() => rm(folder, { recursive: true, force: true }))

const cases: Record<
  string,
  { change: (stored: Stored) => Promise<void> | void; seq: number; reason: RegExp }
> = {
  'a byte of an entry': {
    change: (stored) =>
      stored.edit(5, (segment) => {
        const [entry] = entriesOf(segment)
        return { ...segment, lines: JSON.stringify({ ...entry!, action: 'dp' }) }
      }),
    seq: 5,
    reason: /was changed/,
  },
  'a byte of what is stored': {
    change: (stored) => stored.edit(6, (segment) => ({ ...segment, lines: `AAAA${segment.lines.slice(4)}` })),
    seq: 6,
    reason: /cannot be read/,
  },
  'what the store finds an entry by': {
    change: (stored) =>
      stored.edit(7, (segment) => {
        const of = [0]
        const column = (value: string) => ({ values: [value], of })
        const columns = { event_type: column('other'), actor: column('other'), resource: column('other') }
        return { ...segment, columns }
      }),
    seq: 7,
    reason: /not what the entry says/,
  },
  'two entries swapped': {
    change: async (stored) => {
      const [a, b] = [stored.get(7), stored.get(8)]
      await stored.put(7, b)
      await stored.put(8, a)
    },
    seq: 7,
    reason: /Entry 8 stands in the place/,
  },
  'an entry changed, and all hashes behind it made anew': {
    change: (stored) => stored.rewrite(9, stored.get(8)),
    seq: 20,
    reason: /checkpoint of .* confirms another hash/,
  },
  'the last ten cut, together with their counter': {
    change: (stored) => stored.cut(10),
    seq: 11,
    reason: /cut off: a checkpoint of .* confirms entry 20/,
  },
  'the whole chain replaced': {
    change: (stored) => stored.rewrite(1, undefined),
    seq: 1,
    reason: /replaced: a checkpoint of .* is of another/,
  },
  'all of it deleted': {
    change: (stored) => stored.cut(0),
    seq: 1,
    reason: /cut off/,
  },
}

test.each(Object.entries(cases))('verification names %s', async (name, { change, seq, reason }) => {
  const dataDir = path.join(folder, name.replaceAll(/\W/g, '-'))
  await cp(path.join(folder, 'whole'), dataDir, { recursive: true })
  const stored = await Stored.open(path.join(dataDir, 'db'))
  await change(stored)
  await stored.close()
  const gateway = await startGateway({ dataDir })
  try {
    const { body } = await gateway.api('GET', '/api/trust/ledger/verify')
    expect(body).toMatchObject({ valid: false, broken_at_seq: seq, reason: expect.stringMatching(reason) })
  } finally {
    await gateway.close()
  }
})

test.each([
  ['a part behind it', 'from_seq=8', (stored: Stored) => stored.spoil(7)],
  ['all, where the last one is it', '', (stored: Stored) => stored.spoil(20)],
])('an entry that cannot be read is named when %s is verified', async (name, query, change) => {
  const dataDir = path.join(folder, name.replaceAll(/\W/g, '-'))
  await cp(path.join(folder, 'whole'), dataDir, { recursive: true })
  const stored = await Stored.open(path.join(dataDir, 'db'))
  await change(stored)
  await stored.close()
  const gateway = await startGateway({ dataDir })
  try {
    const { status, body } = await gateway.api('GET', `/api/trust/ledger/verify?${query}`)
    expect([status, body]).toMatchObject([
      200,
      { valid: false, broken_at_seq: query ? 7 : 20, reason: expect.stringContaining('cannot be read') },
    ])
  } finally {
    await gateway.close()
  }
})

test('a line of the file of checkpoints that is none makes the ledger invalid, and half of one is left out', async () => {
  const { appendFile } = await import('node:fs/promises')
  const dataDir = path.join(folder, 'lines')
  await cp(path.join(folder, 'whole'), dataDir, { recursive: true })
  const gateway = await startGateway({ dataDir })
  const verdict = async () => (await gateway.api('GET', '/api/trust/ledger/verify')).body
  try {
    await appendFile(path.join(dataDir, 'ledger-checkpoints.jsonl'), '{"ledger":"ldg_0')
    expect(await verdict()).toMatchObject({ valid: true, checkpoints_checked: 1 })
    await appendFile(path.join(dataDir, 'ledger-checkpoints.jsonl'), '\n')
    expect(await verdict()).toMatchObject({ valid: false, reason: expect.stringContaining('Line 2') })
    expect((await gateway.api('GET', '/api/trust/ledger/checkpoints')).status).toBe(409)
  } finally {
    await gateway.close()
  }
})

/** The segments as they lie on disk: here each has one entry. */
class Stored {
  readonly #database: Level<string, string>
  readonly #keys: string[]
  readonly #segments: Segment[]
  readonly #counter: string

  private constructor(database: Level<string, string>, rows: [string, string][]) {
    this.#database = database
    this.#keys = rows.filter(([key]) => key.includes('!e')).map(([key]) => key)
    this.#segments = rows.filter(([key]) => key.includes('!e')).map(([, text]) => JSON.parse(text))
    this.#counter = rows.find(([key]) => key.endsWith('!n'))![0]
  }

  static async open(place: string): Promise<Stored> {
    const database = new Level<string, string>(place)
    const all = await database.iterator({ gte: 's/', lt: 's0' }).all()
    return new Stored(
      database,
      all.filter(([key]) => key.includes('trust/ledger!')),
    )
  }

  close(): Promise<void> {
    return this.#database.close()
  }

  get(seq: number): Segment {
    return this.#segments[seq - 1]!
  }

  put(seq: number, segment: Segment): Promise<void> {
    return this.#database.put(this.#keys[seq - 1]!, JSON.stringify(segment))
  }

  edit(seq: number, change: (segment: Segment) => Segment): Promise<void> {
    return this.put(seq, change(this.get(seq)))
  }

  /** Leaves no JSON in its place. */
  spoil(seq: number): Promise<void> {
    return this.#database.put(this.#keys[seq - 1]!, '{"first":')
  }

  /** Makes all entries from one on anew, the first of them with another content. */
  async rewrite(from: number, before: End | undefined): Promise<void> {
    let end = before
    for (let seq = from; seq <= this.#keys.length; seq++) {
      const [entry] = entriesOf(this.get(seq)) as [LedgerEntry]
      const { action, created_at, detail, event_type, actor, source } = entry
      const draft = { actor, action: seq === from ? 'forge' : action, detail, event_type }
      const recorded = recordedOf(draft, source, Date.parse(created_at))
      const forged = link(bytesOf(recorded), end ?? newLedger()).entries!
      await this.put(seq, forged)
      end = forged
    }
  }

  async cut(after: number): Promise<void> {
    for (const key of this.#keys.slice(after)) await this.#database.del(key)
    await this.#database.put(this.#counter, String(after))
  }
}
