import { z } from 'zod'
import { notFound, type OnceContext, type Principal } from '#kernel'
import { fileAnswer, listed, listOf, listQuery, shown, storedPage } from '#kit'
import { decimalOf, roundedLines, unitsOf } from './amounts.ts'
import type { Closing } from './closing.ts'
import { nameOf, payer } from './entry.ts'
import {
  type Currency,
  csvOf,
  fullInvoice,
  type InvoiceRow,
  invoice,
  shownInFull,
  shownInvoice,
} from './invoice.ts'
import { type BillRow, billId, type Ledger } from './ledger.ts'

const month = z
  .string()
  .regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a year and a month, such as 2026-11')
  .meta({ description: 'Year and month in UTC.' })

const params = z.strictObject({ id: z.string().max(100) })

const bill = z.object({
  month: z.string(),
  payer,
  calls: z.int(),
  cost_usd: z.number(),
  amount: z.number().meta({ description: 'In the currency, without the least of a month.' }),
})

const closed = z.object({
  month: z.string(),
  status: z.literal('closed'),
  invoices: z.int().meta({ description: 'Invoices that were made by this request.' }),
})

const path = '/api/modules/billsync'

/** Invoices, what is owed so far, and the ledger. */
export function addRoutes(
  { route }: Pick<OnceContext, 'route'>,
  ledger: Ledger,
  closing: Closing,
  currency: () => Currency,
): void {
  /** A user's own invoices, any for an admin. */
  async function find(id: string, { type, userId }: Principal): Promise<InvoiceRow> {
    const found = await closing.invoices.get(id)
    const isOwn = found?.payer.kind === 'user' && found.payer.id === userId
    if (!found || (type !== 'admin' && !isOwn)) throw notFound(`There is no invoice ${id}.`, { param: 'id' })
    return found
  }

  route({
    method: 'get',
    path: `${path}/invoices`,
    access: 'any',
    summary: 'The invoices, newest first: your own, or with an admin key all',
    query: listQuery.extend({ month: month.optional() }),
    returns: listOf('invoices', invoice),
    async handle({ query, principal }) {
      const range = rangeOf(principal!, query.month)
      const page = await storedPage(query, (window) =>
        closing.invoices.list({ ...window, ...range, reverse: true }),
      )
      return listed('invoices', shown(page, shownInvoice), query)
    },
  })

  route({
    method: 'get',
    path: `${path}/invoices/{id}`,
    access: 'any',
    summary: 'An invoice with its lines',
    params,
    returns: fullInvoice,
    handle: async ({ params: { id }, principal }) => shownInFull(await find(id, principal!)),
  })

  route({
    method: 'get',
    path: `${path}/invoices/{id}/csv`,
    access: 'any',
    summary: 'The lines of an invoice as CSV, with all nine places',
    params,
    returns: fileAnswer,
    async handle({ params: { id }, principal }) {
      const found = await find(id, principal!)
      const name = `invoice-${found.number}-${found.month}.csv`
      return { body: Buffer.from(csvOf(found)), type: 'text/csv; charset=utf-8', name }
    },
  })

  route({
    method: 'get',
    path: `${path}/bills`,
    access: 'admin',
    summary:
      'What each payer owes for a month, with all calls that ended so far; by default the present month',
    query: listQuery.extend({ month: month.optional() }),
    returns: listOf('bills', bill),
    async handle({ query }) {
      await ledger.catchUp()
      const { rate } = currency()
      const shownBill = (row: BillRow): z.infer<typeof bill> => ({
        month: row.month,
        payer: row.payer,
        calls: row.calls,
        cost_usd: unitsOf(BigInt(row.cost_nano)),
        amount: unitsOf(roundedLines([BigInt(row.amount)], rate).total),
      })
      const wanted = query.month ?? new Date().toISOString().slice(0, 7)
      const page = await storedPage(query, (window) =>
        ledger.bills.list({ ...window, index: 'month', equals: wanted }),
      )
      return listed('bills', shown(page, shownBill), query)
    },
  })

  route({
    method: 'get',
    path: `${path}/ledger.jsonl`,
    access: 'admin',
    summary: 'The ledger as lines of JSON, from an entry on: calls, and the invoices that were made of them',
    query: z.strictObject({ from_seq: z.coerce.number().int().min(1).default(1) }),
    returns: fileAnswer,
    async handle({ query: { from_seq: from } }) {
      await ledger.catchUp()
      return { body: linesOf(ledger, from), type: 'application/jsonl', name: 'billing-ledger.jsonl' }
    },
  })

  route({
    method: 'post',
    path: `${path}/close`,
    access: 'admin',
    summary: 'Close a month that is over: each payer gets its invoice; a closed month stays as it is',
    body: z.strictObject({ month }),
    returns: closed,
    async handle({ body }) {
      const { invoices } = await closing.close(body.month, currency())
      return { month: body.month, status: 'closed' as const, invoices }
    },
  })
}

/** The invoices that a caller may see, of a month or of all. */
function rangeOf({ type, userId = '' }: Principal, month: string | undefined) {
  const own = nameOf({ kind: 'user', id: userId })
  if (type === 'admin') return month === undefined ? { index: 'number' } : { index: 'month', equals: month }
  return month === undefined ? { index: 'payer', equals: own } : { index: 'bill', equals: billId(month, own) }
}

async function* linesOf(ledger: Ledger, from: number): AsyncIterable<Uint8Array> {
  for await (const entry of ledger.entries.scan(from)) {
    const { cost_nano, amount, ...rest } = { cost_nano: undefined, amount: undefined, ...entry }
    const money = entry.type === 'call' && {
      cost_usd: decimalOf(BigInt(cost_nano ?? 0)),
      // Ten-thousandths of a nano-dollar: thirteen places.
      amount_usd: exactUsd(amount ?? '0'),
    }
    yield Buffer.from(`${JSON.stringify({ ...rest, ...money })}\n`)
  }
}

function exactUsd(amount: string): string {
  const digits = amount.padStart(14, '0')
  return `${digits.slice(0, -13)}.${digits.slice(-13)}`
}
