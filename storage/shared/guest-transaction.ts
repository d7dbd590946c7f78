import { StoreError } from '../errors.ts'
import type { SequenceEnd, Transaction } from '../index.ts'
import { foreign, notYet, Staging, type StagingSource } from '../level/staging.ts'
import { GuestCollection } from './guest-collection.ts'
import { GuestSequence } from './guest-sequence.ts'
import type { CrossingTransaction, PartAsk, ReadEnd, ReadRow, Refreshed } from './messages.ts'

/**
 * Transactions in a thread that has not the store. The function of one runs here, on rows that were fetched: again when it asks
 * for one that was not, and when one of them is another by the time the changes have crossed. All rows that it has seen are of
 * one moment, so that what it refuses need not be asked again. Those that come too late once take turns from then on, or of
 * many at one row each would be tried as often as there are others.
 */
export class GuestTransactions {
  readonly #owner: object
  readonly #send: (ask: PartAsk) => Promise<unknown>
  #lastTurn: Promise<unknown> = Promise.resolve()

  constructor(owner: object, send: (ask: PartAsk) => Promise<unknown>) {
    this.#owner = owner
    this.#send = send
  }

  async run<R>(write: (transaction: Transaction) => R): Promise<R> {
    const source = new GuestSource(this.#owner)
    const done = await this.#try(write, source)
    if (done) return done.value
    const turn = this.#lastTurn.then(() => this.#untilDone(write, source))
    this.#lastTurn = turn.catch(() => {})
    return turn
  }

  async #untilDone<R>(write: (transaction: Transaction) => R, source: GuestSource): Promise<R> {
    for (;;) {
      const done = await this.#try(write, source)
      if (done) return done.value
    }
  }

  /** Undefined when something of what it has read was changed meanwhile. */
  async #try<R>(
    write: (transaction: Transaction) => R,
    source: GuestSource,
  ): Promise<{ readonly value: R } | undefined> {
    for (let rounds = 0; rounds < mostRounds; rounds += 1) {
      const staging = new Staging(source)
      source.isLacking = false
      const value = staging.perform(write) as R
      const { refusal } = staging
      if (refusal && !source.isLacking && !source.isAssuming) throw refusal.error
      const changes = refusal ? noChanges : changesOf(staging)
      const refreshed = await this.#send({ transact: { ...source.asked, ...changes } })
      if (!refreshed && refusal) throw refusal.error
      if (!refreshed) return { value }
      source.refresh(refreshed as Refreshed)
      if (changes !== noChanges) return undefined
    }
    throw new StoreError('QUERY_INVALID', 'The function of a transaction reads other rows each time it runs.')
  }
}

/** Rows that a transaction may ask for one after the other. */
const mostRounds = 10_000

type Collections = GuestCollection<unknown>
type Sequences = GuestSequence<unknown>

type Changes = Pick<CrossingTransaction, 'writes' | 'entries'>

const noChanges: Changes = { writes: [], entries: [] }

function changesOf({ rows, entries }: Staging<Collections, Sequences>): Changes {
  const writes = [...rows].flatMap(([collection, own]) =>
    Array.from(own, ([id, row]) => ({
      part: collection.parts.part,
      id,
      ...(row !== undefined && { checked: collection.checkedOf(row) }),
    })),
  )
  return {
    writes,
    entries: Array.from(entries, ([{ parts }, { entries }]) => ({ part: parts.part, entries })),
  }
}

/** Rows and ends of sequences as they were fetched. */
class GuestSource implements StagingSource<Collections, Sequences> {
  /** Whether something was asked for that was not fetched. */
  isLacking = false
  /** Whether ids were taken for free of which that is not known. */
  isAssuming = false
  readonly #owner: object
  readonly #rows = new Map<Collections, Map<string, ReadRow>>()
  readonly #ends = new Map<Sequences, ReadEnd>()

  constructor(owner: object) {
    this.#owner = owner
  }

  collection(handle: unknown): Collections {
    if (!(handle instanceof GuestCollection)) throw foreign()
    return this.#own(handle as Collections)
  }

  sequence(handle: unknown): Sequences {
    if (!(handle instanceof GuestSequence)) throw foreign()
    return this.#own(handle as Sequences)
  }

  read(collection: Collections, id: string): unknown {
    const known = this.#knownOf(collection)
    const read = known.get(id)
    if (read?.isKnown) return structuredClone(read.row)
    known.set(id, { part: collection.parts.part, id, isKnown: false, row: undefined })
    return this.#lack()
  }

  /** It is taken for free until the other side says that it is not: an id may be another one each time, as a random one is. */
  isTaken(collection: Collections, id: string): boolean {
    const known = this.#knownOf(collection)
    const read = known.get(id)
    if (!read?.isKnown) {
      this.isAssuming = true
      known.set(id, { part: collection.parts.part, id, isKnown: true, row: undefined })
    }
    return read?.row !== undefined
  }

  #knownOf(collection: Collections): Map<string, ReadRow> {
    const known = this.#rows.get(collection) ?? new Map<string, ReadRow>()
    this.#rows.set(collection, known)
    return known
  }

  parse(collection: Collections, row: unknown): unknown {
    return collection.parse(row)
  }

  /** What is to be prepared, is so on the other side. */
  prepare(): void {}

  end(sequence: Sequences): SequenceEnd<unknown> {
    const read = this.#ends.get(sequence)
    if (read?.isKnown) return structuredClone(read.end)
    this.#ends.set(sequence, {
      part: sequence.parts.part,
      isKnown: false,
      end: { seq: 0, entry: undefined },
    })
    return this.#lack()
  }

  parseEntry(sequence: Sequences, entry: unknown): unknown {
    return sequence.parse(entry)
  }

  /** All that was asked for so far. */
  get asked(): Pick<CrossingTransaction, 'rows' | 'ends'> {
    return {
      rows: [...this.#rows.values()].flatMap((known) => [...known.values()]),
      ends: [...this.#ends.values()],
    }
  }

  /** Takes in what all of that is now. */
  refresh({ rows, ends }: Refreshed): void {
    this.isAssuming = false
    const { rows: asked, ends: askedEnds } = this.asked
    const fresh = asked.map((read, at) => ({ ...read, isKnown: true, row: rows[at] }))
    for (const known of this.#rows.values()) for (const id of known.keys()) known.set(id, fresh.shift()!)
    for (const [at, sequence] of [...this.#ends.keys()].entries())
      this.#ends.set(sequence, { ...askedEnds[at]!, isKnown: true, end: ends[at]! })
  }

  #lack(): never {
    this.isLacking = true
    throw notYet
  }

  #own<P extends Collections | Sequences>(part: P): P {
    if (part.parts.owner !== this.#owner) throw foreign()
    part.parts.gate.check()
    return part
  }
}
