import { z } from 'zod'
import type { Collection, Sequence, Store, TracePlace, TraceReader, TraceSummary, Transaction } from '#kernel'
import { billOf, type CallEntry, kinds, type LedgerEntry, ledgerEntry, nameOf, payer } from './entry.ts'
import { type Rates, ratesRow, termsFor } from './rates.ts'

/** Traces that are billed in one transaction. */
const batch = 500
/** Calls that began this long before the last one that was billed may still end. */
const longestCallMs = 24 * 3_600_000

const placeRow = z.object({ after: z.string().optional(), from: z.int() })

const monthRow = z.object({ status: z.enum(['open', 'closing', 'closed']), closed_at: z.string().optional() })
export type MonthRow = z.infer<typeof monthRow>

/** What a payer owes for a month. Money is exact: costs in nano-dollars, amounts as in the ledger. */
const billRow = z.object({
  month: z.string(),
  payer,
  calls: z.int(),
  cost_nano: z.string(),
  amount: z.string(),
  /** The least for the month by the terms of the latest call. */
  min_month_nano: z.int(),
  /** The last entry of the ledger that is in it. */
  through_seq: z.int(),
})
export type BillRow = z.infer<typeof billRow>

/** Calls that are alike in who paid them, what for, and at what markup. */
const lineRow = z.object({
  month: z.string(),
  payer: z.string(),
  kind: z.enum(kinds),
  provider: z.string(),
  model: z.string(),
  markup: z.int(),
  calls: z.int(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  cost_nano: z.string(),
  amount: z.string(),
})
export type LineRow = z.infer<typeof lineRow>

/** The fact of a trace that says by which rates its call is billed. */
export const fact = 'billing'
const factForm = z.object({ rates: z.string(), plan: z.string().optional() })
export type Billing = z.infer<typeof factForm>

export const monthOf = (ms: number): string => new Date(ms).toISOString().slice(0, 7)

/** The key of what a payer owes for a month. */
export const billId = (month: string, name: string): string => `${month} ${name}`

/**
 * The append-only ledger and the sums over it. Calls come out of their traces: the place up to which they are read is kept in
 * the batch of their entries, so each trace is billed once, whenever the process dies.
 */
export class Ledger {
  readonly months: Collection<MonthRow>
  readonly bills: Collection<BillRow>
  readonly lines: Collection<LineRow>
  readonly entries: Sequence<LedgerEntry>
  readonly #store: Store
  readonly #places: Collection<z.infer<typeof placeRow>>
  readonly #rates: Collection<Rates>
  readonly #known = new Map<string, Rates>()
  readonly #traces: () => TraceReader
  #turn: Promise<unknown> = Promise.resolve()

  constructor(store: Store, traces: () => TraceReader) {
    this.#store = store
    this.#traces = traces
    this.#places = store.collection('places', { schema: placeRow })
    this.#rates = store.collection('rates', { schema: ratesRow })
    this.months = store.collection('months', {
      schema: monthRow,
      indexes: { status: ({ status }) => status },
    })
    this.bills = store.collection('bills', { schema: billRow, indexes: { month: ({ month }) => month } })
    this.lines = store.collection('lines', {
      schema: lineRow,
      indexes: { bill: ({ month, payer: name }) => billId(month, name) },
    })
    this.entries = store.sequence('ledger', ledgerEntry)
  }

  /** Keeps rates for good, so that calls can name them. */
  async keep(id: string, rates: Rates): Promise<void> {
    await this.#rates.create(id, rates)
    this.#known.set(id, rates)
  }

  /** Notes that calls are billed from now on, unless they are already. */
  async begin(): Promise<void> {
    await this.#places.create('traces', { from: Date.now() })
  }

  /** Does something while no traces are being billed. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Bills all traces that were written so far; returns how many entries that made. */
  catchUp(): Promise<number> {
    return this.inTurn(() => this.billWritten())
  }

  /** The same, in a turn of the caller. */
  async billWritten(): Promise<number> {
    let made = 0
    for (;;) {
      const place = await this.#place()
      const { traces, after } = await this.#traces().follow(place, batch)
      if (traces.length === 0 || after === undefined) return made
      const drafts: Draft[] = []
      for (const trace of traces) {
        const draft = await this.#draftOf(trace)
        if (draft) drafts.push(draft)
      }
      const latest = Math.max(...traces.map(({ at }) => at))
      const from = Math.max(place.from, latest - longestCallMs)
      const isDone = await this.#store.transaction((tx) => {
        // Another instance may have billed them meanwhile.
        if (tx.get(this.#places, 'traces')?.after !== place.after) return false
        for (const draft of drafts) this.#enter(tx, draft)
        tx.put(this.#places, 'traces', { after, from })
        return true
      })
      if (isDone) made += drafts.length
      if (traces.length < batch) return made
    }
  }

  /** A clock that was set back leaves no call out. */
  async #place(): Promise<TracePlace> {
    await this.begin()
    const known = (await this.#places.get('traces'))!
    return { ...known, from: Math.min(known.from, Date.now() - longestCallMs) }
  }

  async #draftOf(trace: TraceSummary): Promise<Draft | undefined> {
    const said = factForm.safeParse(trace.facts[fact])
    const rates = said.success && (await this.#ratesOf(said.data.rates))
    if (!rates) return undefined
    const { plan } = said.data
    const terms = termsFor(rates, plan, trace.tenant)
    const bill = billOf(trace, terms)
    return bill && { bill, plan, minMonthNano: terms.minMonthNano }
  }

  async #ratesOf(id: string): Promise<Rates | undefined> {
    const known = this.#known.get(id) ?? (await this.#rates.get(id))
    if (known) this.#known.set(id, known)
    return known
  }

  /** Appends a call and adds it to its line and its payer's month. */
  #enter(tx: Transaction, { bill, plan, minMonthNano }: Draft): void {
    const month = this.#openMonth(tx, bill.at)
    const { seq } = tx.append(this.entries, (_, seq) => ({
      ...bill,
      seq,
      month,
      ...(plan !== undefined && { plan }),
    }))
    const name = nameOf(bill.payer)
    const id = billId(month, name)
    tx.update(this.bills, id, (row) => ({
      month,
      payer: bill.payer,
      calls: (row?.calls ?? 0) + 1,
      cost_nano: plus(row?.cost_nano, bill.cost_nano),
      amount: plus(row?.amount, bill.amount),
      min_month_nano: minMonthNano,
      through_seq: seq,
    }))
    const { kind, provider, model, markup } = bill
    tx.update(this.lines, `${id} ${JSON.stringify([kind, provider, model, markup])}`, (row) => ({
      month,
      payer: name,
      kind,
      provider,
      model,
      markup,
      calls: (row?.calls ?? 0) + 1,
      tokens_in: (row?.tokens_in ?? 0) + bill.tokens_in,
      tokens_out: (row?.tokens_out ?? 0) + bill.tokens_out,
      cost_nano: plus(row?.cost_nano, bill.cost_nano),
      amount: plus(row?.amount, bill.amount),
    }))
  }

  /** The month of a call, or, when that is being closed or is closed, the present one. */
  #openMonth(tx: Transaction, at: number): string {
    const own = monthOf(at)
    const row = tx.get(this.months, own)
    if (row?.status === 'open') return own
    if (!row) {
      tx.put(this.months, own, { status: 'open' })
      return own
    }
    return this.#openMonth(tx, Math.max(Date.now(), nextMonth(own)))
  }
}

interface Draft {
  readonly bill: Omit<CallEntry, 'seq' | 'month' | 'plan'>
  readonly plan: string | undefined
  readonly minMonthNano: number
}

/** The beginning of the month after one, in milliseconds since the epoch. */
export function nextMonth(month: string): number {
  const [year, number] = month.split('-').map(Number)
  return Date.UTC(year!, number!)
}

const plus = (sum: string | undefined, more: number | string): string =>
  (BigInt(sum ?? 0) + BigInt(more)).toString()
