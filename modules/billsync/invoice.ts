import { z } from 'zod'
import { type Amount, amountOfNano, decimalOf, roundedLines, unitsOf } from './amounts.ts'
import { kinds, payer } from './entry.ts'
import type { BillRow, LineRow } from './ledger.ts'

const nano = z.string().regex(/^\d+$/)

const line = z.object({
  kind: z.enum([...kinds, 'minimum']),
  provider: z.string(),
  model: z.string(),
  calls: z.int(),
  tokens_in: z.int(),
  tokens_out: z.int(),
  /** In hundredths of a percent. */
  markup: z.int(),
  cost_nano: nano,
  /** Nano-units of the currency. */
  amount_nano: nano,
})

/** An invoice as it is stored; it never changes. */
export const invoiceRow = z.object({
  id: z.string(),
  /** Without gaps, in the order in which invoices were made. */
  number: z.int(),
  month: z.string(),
  payer,
  currency: z.string(),
  /** Units of the currency for a dollar, in millionths. */
  rate: z.int(),
  lines: z.array(line),
  calls: z.int(),
  cost_nano: nano,
  total_nano: nano,
  through_seq: z.int(),
  created_at: z.string(),
})
export type InvoiceRow = z.infer<typeof invoiceRow>

/** The currency of invoices. */
export interface Currency {
  readonly code: string
  /** Units for a dollar, in millionths. */
  readonly rate: number
}

type Priced = Omit<InvoiceRow['lines'][number], 'amount_nano'> & { readonly amount: string }

/** What is missing to the least of a month. */
const minimumOf = (amount: Amount): Priced => ({
  kind: 'minimum',
  provider: '',
  model: '',
  markup: 0,
  calls: 0,
  tokens_in: 0,
  tokens_out: 0,
  cost_nano: '0',
  amount: amount.toString(),
})

/** The lines of a payer's month, rounded once each, and their sum. */
export function bodyOf(
  bill: BillRow,
  rows: readonly LineRow[],
  { code, rate }: Currency,
): Omit<InvoiceRow, 'id' | 'number' | 'created_at'> {
  const missing = amountOfNano(bill.min_month_nano) - BigInt(bill.amount)
  const all: readonly Priced[] = missing > 0n ? [...rows, minimumOf(missing)] : rows
  const { lines, total } = roundedLines(
    all.map(({ amount }) => BigInt(amount)),
    rate,
  )
  return {
    month: bill.month,
    payer: bill.payer,
    currency: code,
    rate,
    lines: all.map(({ kind, provider, model, calls, tokens_in, tokens_out, markup, cost_nano }, i) => ({
      kind,
      provider,
      model,
      calls,
      tokens_in,
      tokens_out,
      markup,
      cost_nano,
      amount_nano: lines[i]!.toString(),
    })),
    calls: bill.calls,
    cost_nano: bill.cost_nano,
    total_nano: total.toString(),
    through_seq: bill.through_seq,
  }
}

const usd = z.number().meta({ description: 'USD.' })

/** An invoice as the API shows it. */
export const invoice = z.object({
  id: z.string(),
  number: z.int().meta({ description: 'Numbers have no gaps.' }),
  month: z.string().meta({ description: 'Year and month in UTC.' }),
  payer,
  currency: z.string(),
  exchange_rate: z.number().meta({ description: 'Units of the currency for a dollar.' }),
  calls: z.int(),
  cost_usd: usd.meta({ description: 'What the calls cost at their providers.' }),
  total: z.number().meta({ description: 'The sum of the lines, in the currency.' }),
  created_at: z.string().meta({ format: 'date-time' }),
})

export const fullInvoice = invoice.extend({
  lines: z.array(
    z.object({
      kind: line.shape.kind.meta({
        description:
          'own_keys: the user pays the provider. unpriced: the price is not known. minimum: up to the least of a month.',
      }),
      provider: z.string(),
      model: z.string(),
      calls: z.int(),
      tokens_in: z.int(),
      tokens_out: z.int(),
      markup_pct: z.number(),
      cost_usd: usd,
      amount: z.number().meta({ description: 'In the currency.' }),
    }),
  ),
})

const perRate = 1_000_000
const perPercent = 100

export const shownInvoice = (row: Omit<InvoiceRow, 'lines'>): z.infer<typeof invoice> => ({
  id: row.id,
  number: row.number,
  month: row.month,
  payer: row.payer,
  currency: row.currency,
  exchange_rate: row.rate / perRate,
  calls: row.calls,
  cost_usd: unitsOf(BigInt(row.cost_nano)),
  total: unitsOf(BigInt(row.total_nano)),
  created_at: row.created_at,
})

export const shownInFull = (row: InvoiceRow): z.infer<typeof fullInvoice> => ({
  ...shownInvoice(row),
  lines: row.lines.map(({ markup, cost_nano, amount_nano, ...rest }) => ({
    ...rest,
    markup_pct: markup / perPercent,
    cost_usd: unitsOf(BigInt(cost_nano)),
    amount: unitsOf(BigInt(amount_nano)),
  })),
})

const columns = 'kind,provider,model,calls,tokens_in,tokens_out,markup_pct,cost_usd,amount,currency'

/** A text as a field: one that a spreadsheet would take for a formula is marked as text. */
function field(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** The lines and their total as CSV (RFC 4180), with all nine places. */
export function csvOf(row: InvoiceRow): string {
  const lines = row.lines.map((one) =>
    [
      one.kind,
      field(one.provider),
      field(one.model),
      one.calls,
      one.tokens_in,
      one.tokens_out,
      one.markup / perPercent,
      decimalOf(BigInt(one.cost_nano)),
      decimalOf(BigInt(one.amount_nano)),
      row.currency,
    ].join(','),
  )
  const total = ['total', '', '', row.calls, '', '', '', decimalOf(BigInt(row.cost_nano))].join(',')
  return `${[columns, ...lines, `${total},${decimalOf(BigInt(row.total_nano))},${row.currency}`].join('\r\n')}\r\n`
}
