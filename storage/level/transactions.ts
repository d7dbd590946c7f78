import type { SequenceEnd, Transaction } from '../index.ts'
import type { Backing } from './backing.ts'
import { LevelCollection } from './collection.ts'
import type { Gate } from './gate.ts'
import type { EncodedRow } from './row-writer.ts'
import { LevelSequence } from './sequence.ts'
import { foreign, notYet, Staging, type StagingSource } from './staging.ts'

/** A row that a transaction writes: as it is, and as it lies on disk. */
interface Written {
  readonly collection: LevelCollection<unknown>
  readonly id: string
  readonly row: unknown
  readonly encoded: EncodedRow | undefined
}

/** What came of one try; `lacking` has to resolve before the next. */
type Outcome<R> = { readonly value: R } | { readonly lacking: Promise<unknown> }

/**
 * Transactions in LevelDB. One reads, decides and joins the waiting group within one turn of the event loop, as every write
 * does; a group is one batch. Nothing joins before all of it is known to be right.
 */
export class Transactions {
  readonly #backing: Backing

  constructor(backing: Backing) {
    this.#backing = backing
  }

  async run<R>(write: (transaction: Transaction) => R): Promise<R> {
    for (;;) {
      const outcome = await this.#backing.gate.run(() => this.#try(write))
      if ('value' in outcome) return outcome.value
      await outcome.lacking
    }
  }

  async #try<R>(write: (transaction: Transaction) => R): Promise<Outcome<R>> {
    const source = new LevelSource(this.#backing)
    const staging = new Staging(source)
    const value = staging.perform(write) as R
    if (source.lacking.length > 0) return { lacking: Promise.all(source.lacking) }
    if (staging.refusal) {
      await source.settled()
      throw staging.refusal.error
    }
    const written = encodeAll(staging)
    for (const { collection, id, encoded } of written) collection.rows.write(id, encoded)
    for (const [sequence, { after, entries }] of staging.entries) sequence.write(after.seq, entries)
    const isChange = written.length > 0 || staging.entries.size > 0
    const done = isChange ? this.#backing.writer.commit() : source.settled()
    await Promise.all(source.gates.map((gate) => gate.within(() => done)))
    for (const { collection, id, row } of written) collection.announce(id, row)
    return { value }
  }
}

/** Throws what an index function throws, and for what is not JSON. Deleting what is not there is no change. */
function encodeAll({ rows }: Staging<LevelCollection<unknown>, LevelSequence<unknown>>): Written[] {
  const all: Written[] = []
  for (const [collection, own] of rows) {
    for (const [id, row] of own) {
      const encoded = row === undefined ? undefined : collection.rows.encode(row)
      if (encoded || collection.rows.has(id)) all.push({ collection, id, row, encoded })
    }
  }
  return all
}

/** Rows and entries as they are in this turn, and the promises that must settle before they are known. */
class LevelSource implements StagingSource<LevelCollection<unknown>, LevelSequence<unknown>> {
  readonly lacking: Promise<unknown>[] = []
  readonly #backing: Backing
  readonly #parts = new Set<LevelCollection<unknown> | LevelSequence<unknown>>()
  readonly #reads: (() => Promise<void>)[] = []

  constructor(backing: Backing) {
    this.#backing = backing
  }

  /** The gates of all parts. */
  get gates(): Gate[] {
    return Array.from(this.#parts, ({ backing }) => backing.gate)
  }

  /** Resolves when nothing that was read waits any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#reads.map((settled) => settled()))
  }

  collection(handle: unknown): LevelCollection<unknown> {
    if (!(handle instanceof LevelCollection)) throw foreign()
    return this.#take(handle as LevelCollection<unknown>)
  }

  sequence(handle: unknown): LevelSequence<unknown> {
    if (!(handle instanceof LevelSequence)) throw foreign()
    return this.#take(handle as LevelSequence<unknown>)
  }

  read(collection: LevelCollection<unknown>, id: string): unknown {
    if (this.#lacks(collection)) throw notYet
    this.#reads.push(() => collection.rows.settled(id))
    return collection.rows.read(id)
  }

  isTaken(collection: LevelCollection<unknown>, id: string): boolean {
    if (this.#lacks(collection)) return false
    this.#reads.push(() => collection.rows.settled(id))
    return collection.rows.has(id)
  }

  parse(collection: LevelCollection<unknown>, row: unknown): unknown {
    return collection.rows.shape.parse(row)
  }

  prepare(collection: LevelCollection<unknown>, id: string): void {
    if (!this.#lacks(collection) && collection.rows.isDamaged(id))
      this.lacking.push(collection.run(() => collection.rows.mend(id)))
  }

  end(sequence: LevelSequence<unknown>): SequenceEnd<unknown> {
    this.#reads.push(() => sequence.settled())
    return sequence.end()
  }

  parseEntry(sequence: LevelSequence<unknown>, entry: unknown): unknown {
    return sequence.parse(entry)
  }

  #lacks(collection: LevelCollection<unknown>): boolean {
    if (!collection.isReady) this.lacking.push(collection.run(() => {}))
    return !collection.isReady
  }

  #take<P extends LevelCollection<unknown> | LevelSequence<unknown>>(part: P): P {
    if (part.backing.database !== this.#backing.database) throw foreign()
    part.backing.gate.check()
    this.#parts.add(part)
    return part
  }
}
