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
import { Batch, type Draft } from './batch.ts'
import { type Facts, factsOf, placed } from './facts.ts'
import { matches } from './query.ts'
import { entriesOf, mostEntries, type Segment, segmentOf, segmentSchema } from './segment.ts'
import { Segments } from './segments.ts'

/** The purpose of commitments: those of other plugins to the same facts differ. */
const purpose = 'ledger'
/** Batches that may wait; what is recorded beyond them is dropped and counted. */
const mostBatches = Math.ceil(50_000 / mostEntries)

/** The chain of entries, in a sequence of the store: ordered and without gaps, whatever thread appends. */
export class Chain implements Ledger {
  readonly segments: Segments
  readonly #sequence: Sequence<Segment>
  readonly #sealing: () => Sealing
  #batch: Batch | undefined
  #dropped = 0

  constructor(store: Store, sealing: () => Sealing) {
    this.#sequence = store.sequence('ledger', segmentSchema)
    this.segments = new Segments(this.#sequence)
    this.#sealing = sealing
  }

  async append(draft: LedgerDraft, source: LedgerEntry['source'] = 'gateway'): Promise<LedgerEntry> {
    const facts = await this.#factsOf(draft, source)
    const segment = await this.#sequence.append((last) => segmentOf([placed(facts, last)]))
    return entriesOf(segment)[0]!
  }

  async prepare(draft: LedgerDraft): Promise<(transaction: Transaction) => LedgerEntry> {
    const facts = await this.#factsOf(draft, 'gateway')
    return (transaction) => {
      const segment = segmentOf([placed(facts, transaction.end(this.#sequence).entry)])
      transaction.append(this.#sequence, () => segment)
      return entriesOf(segment)[0]!
    }
  }

  record(draft: LedgerDraft | (() => ImpersonalDraft)): boolean {
    if (typeof draft === 'function') {
      const at = Date.now()
      return this.#queue(() => factsOf(draft(), 'gateway', at))
    }
    try {
      const facts = this.#factsOf(draft, 'gateway')
      if (!(facts instanceof Promise)) return this.#queue(facts)
      facts.then(
        (known) => this.#queue(known),
        () => this.#drop(),
      )
      return true
    } catch {
      // No entry can hold these facts.
      this.#drop()
      return false
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
    return this.#dropped
  }

  /** Resolves when all that was recorded before is on disk. */
  flush(): Promise<void> {
    return this.#sequence.flush()
  }

  async *#scan(query: LedgerQuery): AsyncGenerator<LedgerEntry> {
    for await (const entry of this.segments.scan(query.fromSeq, query.toSeq))
      if (matches(entry, query)) yield entry
  }

  /** Drafts that come together wait in one batch, which becomes one segment. */
  #queue(draft: Draft): boolean {
    if (this.#batch?.add(draft)) return true
    const batch = new Batch(draft, () => this.#drop())
    const isTaken =
      this.#sequence.status().depth < mostBatches && this.#sequence.queue((last) => batch.segment(last))
    if (isTaken) this.#batch = batch
    else this.#drop()
    return isTaken
  }

  #drop(): void {
    this.#dropped += 1
  }

  /** A promise only while a person's salt is not in memory. */
  #factsOf(draft: LedgerDraft, source: LedgerEntry['source']): Awaitable<Facts> {
    const { personal } = draft
    if (!personal) return factsOf(draft, source)
    const committed = (commit: (text: string) => string): Facts => {
      const fields = Object.entries(personal.fields).map(([name, text]) => [name, commit(text)])
      return factsOf({ ...draft, detail: { ...draft.detail, ...Object.fromEntries(fields) } }, source)
    }
    const commit = this.#sealing().commitFor(purpose, personal.of)
    return commit instanceof Promise ? commit.then(committed) : committed(commit)
  }
}
