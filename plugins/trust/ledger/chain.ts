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
import { foundBy } from './columns.ts'
import { digestOf } from './digest.ts'
import { bytesOf } from './draft-bytes.ts'
import type { End } from './end.ts'
import { link } from './linking/link.ts'
import { newLedger } from './new-ledger.ts'
import { matches } from './query.ts'
import { checkedOf, type Recorded, recordedOf } from './recorded.ts'
import { Recorder } from './recorder.ts'
import { entriesOf, type Segment } from './segment.ts'
import { Segments, segmentSchema } from './segments.ts'

/** The purpose of commitments: those of other plugins to the same facts differ. */
const purpose = 'ledger'
/** The chain of entries, in a sequence of the store: ordered and without gaps, whatever thread appends. */
export class Chain implements Ledger {
  readonly segments: Segments
  readonly #sequence: Sequence<Segment>
  readonly #sealing: () => Sealing
  readonly #recorder: Recorder

  /** `cores` that this process may use, all without it. */
  constructor(store: Store, sealing: () => Sealing, cores?: number) {
    this.#sequence = store.sequence('ledger', segmentSchema)
    this.#recorder = new Recorder(this.#sequence, cores)
    this.segments = new Segments(this.#sequence, () => this.#recorder.queue())
    this.#sealing = sealing
  }

  async append(draft: LedgerDraft, source: LedgerEntry['source'] = 'gateway'): Promise<LedgerEntry> {
    const recorded = await this.#recordedAtOnce(draft, source)
    const segment = await this.#sequence.append((last) => this.#segmentOf(recorded, last))
    return entriesOf(segment)[0]!
  }

  async prepare(draft: LedgerDraft): Promise<(transaction: Transaction) => LedgerEntry> {
    const recorded = await this.#recordedAtOnce(draft, 'gateway')
    return (transaction) => {
      const segment = this.#segmentOf(recorded, transaction.end(this.#sequence).entry)
      transaction.append(this.#sequence, () => segment)
      return entriesOf(segment)[0]!
    }
  }

  record(draft: LedgerDraft | (() => ImpersonalDraft)): boolean {
    try {
      const known = this.#withoutPersons(typeof draft === 'function' ? draft() : draft)
      if (!(known instanceof Promise)) return this.#record(known)
      known.then((later) => this.#record(later)).catch(() => this.#recorder.drop())
      return true
    } catch {
      // What is no JSON can be no entry.
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

  #record(draft: ImpersonalDraft): boolean {
    return this.#recorder.record(recordedOf(draft, 'gateway'), foundBy(draft))
  }

  /** With its hashes made already: then it can be an entry, wherever it comes. */
  async #recordedAtOnce(draft: LedgerDraft, source: LedgerEntry['source']): Promise<Recorded> {
    const { digests = {}, ...known } = await this.#withoutPersons(draft)
    const hashes = Object.entries(digests).map(([name, json]) => [name, digestOf(json)])
    return checkedOf({ ...known, detail: { ...known.detail, ...Object.fromEntries(hashes) } }, source)
  }

  #segmentOf(recorded: Recorded, last: End = newLedger()): Segment {
    const segment = link(bytesOf(recorded), last).entries!
    this.#recorder.appended(segment)
    return segment
  }

  /** A draft with commitments in place of facts about a person. A promise only while the person's salt is not in memory. */
  #withoutPersons(draft: LedgerDraft): Awaitable<ImpersonalDraft> {
    const { personal } = draft
    if (!personal) return draft
    const committed = (commit: (text: string) => string): ImpersonalDraft => {
      const fields = Object.entries(personal.fields).map(([name, text]) => [name, commit(text)])
      return { ...draft, detail: { ...draft.detail, ...Object.fromEntries(fields) } }
    }
    const commit = this.#sealing().commitFor(purpose, personal.of)
    return commit instanceof Promise ? commit.then(committed) : committed(commit)
  }
}
