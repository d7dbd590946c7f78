import type {
  Awaitable,
  ImpersonalDraft,
  Ledger,
  LedgerDraft,
  LedgerEntry,
  LedgerHead,
  LedgerQuery,
  Sealing,
  Sequence,
  Store,
  Transaction,
} from '#kernel'
import type { End } from './entry.ts'
import { digested, factsOf, type Made, newLedger, placed } from './facts.ts'
import { matches } from './query.ts'
import { Recorder } from './recorder.ts'
import { entriesOf, joined, type Segment, segmentOf, segmentSchema } from './segment.ts'
import { Segments } from './segments.ts'

/** The purpose of commitments: those of other plugins to the same facts differ. */
const purpose = 'ledger'
/** The chain of entries, in a sequence of the store: ordered and without gaps, whatever thread appends. */
export class Chain implements Ledger {
  readonly segments: Segments
  readonly #sequence: Sequence<Segment>
  readonly #sealing: () => Sealing
  readonly #recorder: Recorder

  constructor(store: Store, sealing: () => Sealing) {
    this.#sequence = store.sequence('ledger', segmentSchema)
    this.#recorder = new Recorder(this.#sequence)
    this.segments = new Segments(this.#sequence, () => this.#recorder.queue())
    this.#sealing = sealing
  }

  async append(draft: LedgerDraft, source: LedgerEntry['source'] = 'gateway'): Promise<LedgerEntry> {
    const made = await this.#digestedOf(draft, source)
    const segment = await this.#sequence.append((last) => this.#segmentOf(made, last))
    return entriesOf(segment)[0]!
  }

  async prepare(draft: LedgerDraft): Promise<(transaction: Transaction) => LedgerEntry> {
    const made = await this.#digestedOf(draft, 'gateway')
    return (transaction) => {
      const segment = this.#segmentOf(made, transaction.end(this.#sequence).entry)
      transaction.append(this.#sequence, () => segment)
      return entriesOf(segment)[0]!
    }
  }

  record(draft: LedgerDraft | (() => ImpersonalDraft)): boolean {
    try {
      const made = this.#factsOf(typeof draft === 'function' ? draft() : draft, 'gateway')
      if (!(made instanceof Promise)) return this.#recorder.record(made)
      made.then(
        (known) => this.#recorder.record(known),
        () => this.#recorder.drop(),
      )
      return true
    } catch {
      // No entry can hold these facts.
      return this.#recorder.drop()
    }
  }

  scan(query: LedgerQuery): AsyncIterable<LedgerEntry> {
    return this.#scan(query)
  }

  async head(): Promise<LedgerHead> {
    return this.segments.head()
  }

  /** Entries that this thread has recorded and that are lost, since it started. */
  get dropped(): number {
    return this.#recorder.dropped
  }

  /** Resolves when all that was recorded before is on disk. */
  flush(): Promise<void> {
    this.#recorder.queue()
    return this.#sequence.flush()
  }

  /** Has what was recorded written with the queue of the sequence; resolves when no thread is left. */
  close(): Promise<void> {
    return this.#recorder.close()
  }

  async *#scan(query: LedgerQuery): AsyncGenerator<LedgerEntry> {
    for await (const entry of this.segments.scan(query.fromSeq, query.toSeq))
      if (matches(entry, query)) yield entry
  }

  async #digestedOf(draft: LedgerDraft, source: LedgerEntry['source']): Promise<Made> {
    const { facts, found } = await this.#factsOf(draft, source)
    return { facts: digested(facts), found }
  }

  #segmentOf({ facts, found }: Made, last: End = newLedger()): Segment {
    const segment = segmentOf(joined([placed(facts, last)]), [found])
    this.#recorder.appended(segment)
    return segment
  }

  /** A promise only while a person's salt is not in memory. */
  #factsOf(draft: LedgerDraft, source: LedgerEntry['source']): Awaitable<Made> {
    const { personal } = draft
    if (!personal) return factsOf(draft, source)
    const committed = (commit: (text: string) => string): Made => {
      const fields = Object.entries(personal.fields).map(([name, text]) => [name, commit(text)])
      return factsOf({ ...draft, detail: { ...draft.detail, ...Object.fromEntries(fields) } }, source)
    }
    const commit = this.#sealing().commitFor(purpose, personal.of)
    return commit instanceof Promise ? commit.then(committed) : committed(commit)
  }
}
