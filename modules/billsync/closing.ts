import { z } from 'zod'
import { badRequest, type Collection, newId, type Sequence, type Store } from '#kernel'
import { nameOf } from './entry.ts'
import { bodyOf, type Currency, type InvoiceRow, invoiceRow } from './invoice.ts'
import { type BillRow, billId, type Ledger, type LineRow, nextMonth } from './ledger.ts'

/** How long after a month calls that began in it may still be billed to it. */
const graceMs = 3_600_000

const numbered = z.object({ seq: z.int(), invoice_id: z.string() })

export interface Closed {
  readonly month: string
  readonly invoices: number
}

/** Closes months: each payer of a month gets one invoice, whenever the process dies in between. */
export class Closing {
  readonly invoices: Collection<InvoiceRow>
  readonly #store: Store
  readonly #ledger: Ledger
  readonly #numbers: Sequence<z.infer<typeof numbered>>
  /** The invoice of each payer's month. */
  readonly #made: Collection<{ invoice_id: string }>

  constructor(store: Store, ledger: Ledger) {
    this.#store = store
    this.#ledger = ledger
    this.#numbers = store.sequence('numbers', numbered)
    this.#made = store.collection('made', { schema: z.object({ invoice_id: z.string() }) })
    this.invoices = store.collection('invoices', {
      schema: invoiceRow,
      indexes: {
        number: ({ number }) => number,
        month: ({ month, number }) => [[month, number]],
        payer: ({ payer, number }) => [[nameOf(payer), number]],
        bill: ({ month, payer, number }) => [[billId(month, nameOf(payer)), number]],
      },
    })
  }

  /** Closes a month that is over; throws a bad request for one that is not. Doing it again makes what is missing. */
  close(month: string, currency: Currency): Promise<Closed> {
    if (nextMonth(month) > Date.now())
      throw badRequest(`body month: ${month} is not over; it can be closed from the next month on (UTC).`, {
        param: 'month',
      })
    return this.#ledger.inTurn(async () => {
      await this.#ledger.billWritten()
      await this.#mark(month, 'closing')
      let invoices = 0
      for await (const [, bill] of this.#ledger.bills.scan({ index: 'month', equals: month }))
        if (await this.#invoice(bill, currency)) invoices += 1
      await this.#mark(month, 'closed')
      return { month, invoices }
    })
  }

  /** Closes the months that are over for an hour, and those whose closing did not come to its end. */
  async closeDue(currency: Currency, now = Date.now()): Promise<readonly Closed[]> {
    const done: Closed[] = []
    for await (const [month, { status }] of this.#ledger.months.scan())
      if (status === 'closing' || (status === 'open' && nextMonth(month) + graceMs <= now))
        done.push(await this.close(month, currency))
    return done
  }

  async #mark(month: string, status: 'closing' | 'closed'): Promise<void> {
    await this.#ledger.months.update(month, (row) => {
      if (row?.status === 'closed') return undefined
      return { status, ...(status === 'closed' && { closed_at: new Date().toISOString() }) }
    })
  }

  /** Makes the invoice of a payer's month; false when there is one. */
  async #invoice(bill: BillRow, currency: Currency): Promise<boolean> {
    const key = billId(bill.month, nameOf(bill.payer))
    if (await this.#made.get(key)) return false
    const rows: LineRow[] = []
    for await (const [, row] of this.#ledger.lines.scan({ index: 'bill', equals: key })) rows.push(row)
    const body = bodyOf(bill, rows, currency)
    const id = newId('inv_')
    const created_at = new Date().toISOString()
    return this.#store.transaction((tx) => {
      if (tx.get(this.#made, key)) return false
      const { seq: number } = tx.append(this.#numbers, (_, seq) => ({ seq, invoice_id: id }))
      tx.put(this.#made, key, { invoice_id: id })
      tx.put(this.invoices, id, { id, number, created_at, ...body })
      tx.append(this.#ledger.entries, (_, seq) => ({
        type: 'invoice' as const,
        seq,
        at: Date.now(),
        month: bill.month,
        invoice_id: id,
        payer: bill.payer,
        through_seq: bill.through_seq,
      }))
      return true
    })
  }
}
