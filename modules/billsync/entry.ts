import { z } from 'zod'
import { operator, type TraceSummary } from '#kernel'
import { type Amount, amountOfNano, priceOf } from './amounts.ts'
import type { Terms } from './rates.ts'

/** Who pays: the tenant of the caller, else the user, else the operator. */
export const payer = z.object({ kind: z.enum(['tenant', 'user', 'operator']), id: z.string() })
export type Payer = z.infer<typeof payer>

export const kinds = ['calls', 'own_keys', 'cached', 'unpriced'] as const
/**
 * `own_keys`: the user pays the provider. `cached`: answered without a provider. `unpriced`: something was used, and its
 * price is not known.
 */
export type Kind = (typeof kinds)[number]

/** Ten-thousandths of a nano-dollar as a text: JSON has no big integers. */
const amount = z.string().regex(/^\d+$/)

/** An entry of the ledger: a call, or an invoice that was made of such entries. */
export const ledgerEntry = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('call'),
    seq: z.int(),
    trace_id: z.string(),
    /** When the call began, in milliseconds since the epoch. */
    at: z.int(),
    /** The month whose invoice has it: a later one, if that of the call was closed. */
    month: z.string(),
    payer,
    plan: z.string().optional(),
    kind: z.enum(kinds),
    provider: z.string(),
    model: z.string(),
    tokens_in: z.int(),
    tokens_out: z.int(),
    cost_nano: z.int(),
    /** In hundredths of a percent. */
    markup: z.int(),
    amount,
  }),
  z.object({
    type: z.literal('invoice'),
    seq: z.int(),
    at: z.int(),
    month: z.string(),
    invoice_id: z.string(),
    payer,
    /** The last entry that is in it. */
    through_seq: z.int(),
  }),
])

export type LedgerEntry = z.infer<typeof ledgerEntry>
export type CallEntry = Extract<LedgerEntry, { type: 'call' }>

export function payerOf({ tenant, user_id }: Pick<TraceSummary, 'tenant' | 'user_id'>): Payer {
  if (tenant !== undefined) return { kind: 'tenant', id: tenant }
  return user_id === undefined ? { kind: 'operator', id: operator } : { kind: 'user', id: user_id }
}

export const nameOf = ({ kind, id }: Payer): string => `${kind}:${id}`

/** How a call is billed; undefined when it used nothing. */
function kindOf({ status, cost, usage, own_key }: TraceSummary, ownKeys: boolean): Kind | undefined {
  if (status === 'cache_hit') return 'cached'
  if (!cost && usage.input === 0 && usage.output === 0) return undefined
  if (own_key && !ownKeys) return 'own_keys'
  return cost ? 'calls' : 'unpriced'
}

/** The bill of a trace, without its place in the ledger. */
export function billOf(
  trace: TraceSummary,
  { markup, minCallNano, ownKeys }: Terms,
): Omit<CallEntry, 'seq' | 'month' | 'plan'> | undefined {
  const kind = kindOf(trace, ownKeys)
  if (kind === undefined) return undefined
  const costNano = kind === 'calls' ? (trace.cost?.total_nano ?? 0) : 0
  const due: Amount = kind === 'unpriced' ? amountOfNano(0) : priceOf(costNano, markup, minCallNano)
  return {
    type: 'call',
    trace_id: trace.id,
    at: trace.at,
    payer: payerOf(trace),
    kind,
    provider: trace.provider ?? '',
    model: trace.model,
    tokens_in: trace.usage.input,
    tokens_out: trace.usage.output,
    cost_nano: costNano,
    markup,
    amount: due.toString(),
  }
}
