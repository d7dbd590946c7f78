import { z } from 'zod'
import { type Claim, type GatewayError, type Left, type Limit, rateLimited } from '#kernel'
import { nanoOf, usdOf } from '#kit'

export type Unit = 'calls' | 'requests' | 'tokens' | 'spend'

interface Kind {
  readonly unit: Unit
  readonly period?: 'day' | 'month'
  readonly windowMs?: number
  readonly description: string
  /** After a number, for people. */
  readonly words: string
}

const minute = { windowMs: 60_000 }
const day = { period: 'day' } as const
const month = { period: 'month' } as const
const tokens = 'Tokens of prompts and answers'

/** What a tenant can have quotas of. All of them hold. */
export const kinds = {
  concurrency: { unit: 'calls', description: 'Calls at a time.', words: 'calls at a time' },
  requests_per_minute: {
    unit: 'requests',
    ...minute,
    description: 'Calls in any minute.',
    words: 'calls a minute',
  },
  requests_per_day: { unit: 'requests', ...day, description: 'Calls in a day.', words: 'calls a day' },
  requests_per_month: {
    unit: 'requests',
    ...month,
    description: 'Calls in a month.',
    words: 'calls a month',
  },
  tokens_per_minute: {
    unit: 'tokens',
    ...minute,
    description: `${tokens} in any minute.`,
    words: 'tokens a minute',
  },
  tokens_per_day: { unit: 'tokens', ...day, description: `${tokens} in a day.`, words: 'tokens a day' },
  tokens_per_month: {
    unit: 'tokens',
    ...month,
    description: `${tokens} in a month.`,
    words: 'tokens a month',
  },
  spend_usd_per_day: {
    unit: 'spend',
    ...day,
    description: 'USD that the calls of a day may cost.',
    words: 'USD a day',
  },
  spend_usd_per_month: {
    unit: 'spend',
    ...month,
    description: 'USD that the calls of a month may cost.',
    words: 'USD a month',
  },
} as const satisfies Record<string, Kind>

export type QuotaName = keyof typeof kinds
export type Quotas = { readonly [K in QuotaName]?: number | undefined }

const names = Object.keys(kinds) as QuotaName[]

const amountOf = (name: QuotaName) => {
  const { unit, description } = kinds[name]
  const title = name.replaceAll('_', ' ').replace('usd', 'USD')
  const amount = unit === 'spend' ? z.number().min(0).max(1_000_000) : z.int().min(0).max(1e15)
  return amount.meta({ title: title[0]!.toUpperCase() + title.slice(1), description })
}
const amounts = Object.fromEntries(names.map((name) => [name, amountOf(name)])) as Record<
  QuotaName,
  z.ZodNumber
>

/** A quota that is absent does not limit. */
export const quotasSchema = z.strictObject(amounts).partial()
/** Absent quotas stay as they are, null removes one. */
export const quotasChange = z
  .strictObject(
    Object.fromEntries(names.map((name) => [name, amounts[name].nullable()])) as Record<
      QuotaName,
      z.ZodNullable<z.ZodNumber>
    >,
  )
  .partial()

/** The amounts that a call may need, as far as they are known before it is made. */
export type Need = Readonly<Record<Unit, number>>

export interface QuotaClaim extends Claim {
  readonly quota: QuotaName
}

/**
 * The claims of a tenant under its quotas. A call that may need more than a quota has in all goes when nothing of it is taken, and
 * takes everything.
 */
export function claimsOf(tenant: string, quotas: Quotas, timezone: string, need: Need): QuotaClaim[] {
  return names.flatMap((quota) => {
    const most = quotas[quota]
    if (most === undefined) return []
    const { unit } = kinds[quota]
    const limit = limitOf(kinds[quota], unit === 'spend' ? nanoOf(most) : most, timezone)
    return [{ quota, name: tenant, unit, limit, amount: Math.min(need[unit], Math.max(1, limit.most)) }]
  })
}

function limitOf({ period, windowMs }: Kind, most: number, timezone: string): Limit {
  if (period) return { kind: period, most, timezone }
  return windowMs === undefined ? { kind: 'concurrency', most } : { kind: 'sliding', most, windowMs }
}

/** How a quota stands, in its own unit: USD for spend. */
export const quotaState = z.object({
  quota: z.enum(names),
  limit: z.number(),
  used: z.number().meta({ description: 'Used, and set apart for calls under way.' }),
  remaining: z.number(),
  resets_in_s: z.int().meta({ description: 'Seconds until all of it is there again.' }),
})

export function stateOf({ quota, unit, limit }: QuotaClaim, left: Left): z.infer<typeof quotaState> {
  const shown = (amount: number): number => (unit === 'spend' ? usdOf(amount) : amount)
  return {
    quota,
    limit: shown(limit.most),
    used: shown(left.used),
    remaining: shown(Math.max(0, left.remaining)),
    resets_in_s: Math.ceil(left.resetMs / 1000),
  }
}

/** Whether a quota is of what calls use, which is known when they are over; the rest of what is set apart for them comes back then. */
export const isUsage = ({ unit }: QuotaClaim): boolean => unit === 'tokens' || unit === 'spend'

/** Claims of the same amounts for as long as a call is under way, which say what part of a quota is only set apart; they refuse nothing. */
export const reservedOf = (claims: readonly QuotaClaim[]): Claim[] =>
  claims.filter(isUsage).map(({ name, quota, amount }) => ({
    name,
    unit: `reserved ${quota}`,
    amount,
    limit: { kind: 'concurrency', most: Number.MAX_SAFE_INTEGER },
  }))

/** Calls under way end soon, and most use less than what was set apart for them. */
const soonMs = 5000

/** A quota that has no room for a call. */
interface Full {
  readonly claim: QuotaClaim
  readonly retryMs: number | undefined
  /** What is used, and what is set apart, where only calls under way stand in the way. */
  readonly soon: { readonly used: number; readonly reserved: number } | undefined
}

/** The refusal by the quota that has no room for longest, by how these claims stand and then what is set apart under them. */
export function refusalOf(
  claims: readonly QuotaClaim[],
  left: readonly Left[],
): { readonly claim: QuotaClaim; readonly isSoon: boolean; readonly error: GatewayError } {
  const ofUsage = claims.filter(isUsage)
  const full = claims.flatMap((claim, i): Full[] => {
    const { used, retryMs } = left[i]!
    if (retryMs === 0) return []
    const reserved = isUsage(claim) ? left[claims.length + ofUsage.indexOf(claim)]!.used : 0
    const spent = Math.max(0, used - reserved)
    const isSoon = reserved > 0 && spent < claim.limit.most && spent + claim.amount <= claim.limit.most
    return [
      isSoon
        ? { claim, retryMs: soonMs, soon: { used: spent, reserved } }
        : { claim, retryMs, soon: undefined },
    ]
  })
  const msOf = ({ retryMs = Number.POSITIVE_INFINITY }: Full): number => retryMs
  const longest = full.reduce((one, other) => (msOf(other) > msOf(one) ? other : one))
  return { claim: longest.claim, isSoon: longest.soon !== undefined, error: refusedBy(longest) }
}

/** The refusal of a call that a quota has no room for. It tells the caller of its own tenant only. */
function refusedBy({ claim: { quota, limit, unit }, retryMs, soon }: Full): GatewayError {
  const retryAfterS = retryMs === undefined ? undefined : Math.max(1, Math.ceil(retryMs / 1000))
  const shown = (amount: number): number => (unit === 'spend' ? usdOf(amount) : amount)
  const most = shown(limit.most)
  const why = soon
    ? `has no room for this call yet: ${shown(soon.used)} is used and ${shown(soon.reserved)} set apart for calls under way`
    : 'is used up'
  const when = retryAfterS === undefined ? 'Ask an admin to raise it' : `Try again in ${retryAfterS} s`
  return rateLimited(`Your organisation's quota of ${most} ${kinds[quota].words} ${why}. ${when}.`, {
    retryAfterS,
    details: { quota, limit: most, retry_after_s: retryAfterS ?? null },
  })
}
