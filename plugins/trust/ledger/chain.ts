import type {
  Awaitable,
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
import { chained, entrySchema, type Facts, noHash } from './entry.ts'
import { matches } from './query.ts'

/** The purpose of commitments: those of other plugins to the same facts differ. */
const purpose = 'ledger'

/** The chain of entries, in a sequence of the store: ordered and without gaps, whatever thread appends. */
export class Chain implements Ledger {
  readonly entries: Sequence<LedgerEntry>
  readonly #sealing: () => Sealing
  #dropped = 0

  constructor(store: Store, sealing: () => Sealing) {
    this.entries = store.sequence('ledger', entrySchema)
    this.#sealing = sealing
  }

  async append(draft: LedgerDraft, source: LedgerEntry['source'] = 'gateway'): Promise<LedgerEntry> {
    const facts = await this.#factsOf(draft, source)
    return this.entries.append((previous, seq) => chained(facts, previous, seq))
  }

  async prepare(draft: LedgerDraft): Promise<(transaction: Transaction) => LedgerEntry> {
    const facts = await this.#factsOf(draft, 'gateway')
    return (transaction) => transaction.append(this.entries, (previous, seq) => chained(facts, previous, seq))
  }

  record(draft: LedgerDraft): boolean {
    const facts = this.#factsOf(draft, 'gateway')
    if (!(facts instanceof Promise)) return this.#queue(facts)
    facts.then(
      (known) => this.#queue(known),
      () => {
        this.#dropped += 1
      },
    )
    return true
  }

  async *scan(query: LedgerQuery): AsyncIterable<LedgerEntry> {
    const to = query.toSeq === undefined ? undefined : query.toSeq + 1
    for await (const entry of this.entries.scan(query.fromSeq, to)) if (matches(entry, query)) yield entry
  }

  async head(): Promise<LedgerHead> {
    const seq = await this.entries.last()
    return { seq, hash: (await this.entries.get(seq))?.hash ?? noHash }
  }

  /** Entries that wait, and those that were recorded and are lost, since the start of this thread. */
  status(): { readonly waiting: number; readonly dropped: number } {
    const { depth, dropped } = this.entries.status()
    return { waiting: depth, dropped: dropped + this.#dropped }
  }

  #queue(facts: Facts): boolean {
    return this.entries.queue((previous, seq) => chained(facts, previous, seq))
  }

  /** A promise only while a person's salt is not in memory. */
  #factsOf(draft: LedgerDraft, source: LedgerEntry['source']): Awaitable<Facts> {
    const { personal } = draft
    if (!personal) return factsWith(draft, source)
    const commitments = (commit: (text: string) => string): Facts => {
      const fields = Object.entries(personal.fields).map(([name, text]) => [name, commit(text)])
      return factsWith({ ...draft, detail: { ...draft.detail, ...Object.fromEntries(fields) } }, source)
    }
    const commit = this.#sealing().commitFor(purpose, personal.of)
    return commit instanceof Promise ? commit.then(commitments) : commitments(commit)
  }
}

const factsWith = (draft: LedgerDraft, source: LedgerEntry['source']): Facts => ({
  source,
  event_type: draft.event_type,
  actor: draft.actor,
  resource: draft.resource ?? null,
  action: draft.action,
  detail: draft.detail ?? {},
  trace_id: draft.trace_id ?? null,
  verdict: draft.verdict ?? null,
  at: Date.now(),
})
