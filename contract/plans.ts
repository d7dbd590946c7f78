import type { Principal } from '../kernel/call/call.ts'
import { guardedToken } from '../kernel/token.ts'
import type { Claim } from './counting.ts'

/** What features may ask for, from the smallest up. A plan is a tier of a user, a license one of the whole gateway. */
export const tiers = ['free', 'individual', 'pro', 'team', 'enterprise'] as const
export type Tier = (typeof tiers)[number]

/** A plan that users can have. */
export interface Plan {
  readonly id: string
  readonly name: string
  readonly requests_per_month: number
  /** Per month. */
  readonly price_usd: number
}

/** Requests in a month that hold for a caller: by the plan of the user, or by the license for all callers together. */
export interface Quota {
  readonly scope: 'user' | 'installation'
  /** The plan of the user, or the tier of the license; undefined for a limit of the operator's own. */
  readonly plan: string | undefined
  /** Counted in the budget `planBudget`, for one request. */
  readonly claim: Claim
}

/** The name of the budget that quotas are counted in. */
export const planBudget = 'plans'

/** A reason to take a larger plan, shown until it is over and emitted as an event once. */
export interface UpgradePrompt {
  /** `quota_near` for the event `upgrade.quota_near`; one that the catalogue of events lists. */
  readonly trigger: string
  /** Whose it is; the operator's without it. */
  readonly userId?: string | undefined
  /** It is emitted once for each of these, such as `2026-11`. */
  readonly period: string
  /** When it is over, in milliseconds since the epoch. */
  readonly until: number
  readonly priority: 'high' | 'medium' | 'low'
  readonly title: string
  readonly message: string
  readonly targetTier: Tier
  /** Facts: never texts of calls. */
  readonly details: Readonly<Record<string, unknown>>
}

/**
 * Plans of users and the license of the gateway. Limits and gates act only where `plans.enforce` is set or a license is
 * valid; everything is open otherwise.
 */
export interface Plans {
  /** From the smallest up. */
  readonly all: readonly Plan[]
  /** Whether limits and gates can act for anybody as this process is configured. */
  readonly actsHere: boolean
  /** The tier that gates compare with: the smaller of the user's and the license's; undefined where nothing is gated. */
  tierOf(principal: Principal): Tier | undefined
  /** The quotas of a caller; none where nothing is limited. */
  quotasOf(principal: Principal): readonly Quota[]
  /** Throws `forbidden`, naming the tier, unless the caller has it; `what` is the subject of a sentence: `Replays`. */
  demand(principal: Principal, tier: Tier, what: string): void
  /** Adds a user, one at a time; throws `forbidden` when the license allows no more. */
  addUser<T>(add: () => Promise<T>): Promise<T>
  /** Has a prompt shown and its event emitted; false when that was done for this period. */
  suggest(prompt: UpgradePrompt): Promise<boolean>
  /** Ends a checkout that was paid for: the user has its plan when it resolves. Throws a conflict when it is not open. */
  completeCheckout(id: string): Promise<void>
}

export const Plans = guardedToken<Plans>('plans')
