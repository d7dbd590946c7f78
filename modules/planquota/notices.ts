import { type Left, type Quota, type Tier, tiers, type UpgradePrompt } from '#kernel'
import { ensure } from '#kit'
import { ownerOf } from './quotas.ts'

const mostKnown = 10_000

/** Suggests a larger plan when the quota of one has been used to some percentages, once a month for each. */
export class Notices {
  readonly #percentages: readonly number[]
  readonly #suggest: (prompt: UpgradePrompt) => Promise<unknown>
  /** The month that a quota was told of last, and its highest percentage: most calls need no more than this look. */
  readonly #told = new Map<string, { month: string; percentage: number }>()

  constructor(percentages: readonly number[], suggest: (prompt: UpgradePrompt) => Promise<unknown>) {
    this.#percentages = percentages.toSorted((a, b) => b - a)
    this.#suggest = suggest
  }

  /** The suggestion that is due after a call, if one is. */
  tell(quota: Quota, { used, resetMs }: Left, userId: string | undefined): Promise<unknown> | undefined {
    const { name, limit } = quota.claim
    if (quota.plan === undefined) return undefined
    const percentage = this.#percentages.find((each) => used * 100 >= limit.most * each)
    if (percentage === undefined) return undefined
    // In the midst of what is left: the count may be a moment old when its answer is here.
    const within = new Date(Date.now() + resetMs / 2)
    const until = Date.UTC(within.getUTCFullYear(), within.getUTCMonth() + 1)
    const month = within.toISOString().slice(0, 7)
    const told = ensure(this.#told, name, () => ({ month, percentage: 0 }), mostKnown)
    if (told.month === month && told.percentage >= percentage) return undefined
    told.month = month
    told.percentage = percentage
    const facts = { used: Math.min(used, limit.most), most: limit.most, until, month, percentage }
    return this.#suggest(promptOf(quota, facts, quota.scope === 'user' ? userId : undefined))
  }
}

interface Facts {
  readonly used: number
  readonly most: number
  readonly until: number
  readonly month: string
  readonly percentage: number
}

function promptOf(
  quota: Quota,
  { used, most, until, month, percentage }: Facts,
  userId?: string,
): UpgradePrompt {
  const isReached = percentage === 100
  const { plan } = quota
  return {
    trigger: isReached ? 'quota_reached' : 'quota_near',
    userId,
    period: `${month}:${percentage}`,
    until,
    priority: isReached ? 'high' : 'medium',
    title: isReached ? 'The requests of the month are used up' : 'The requests of the month run out',
    message: `${used} of the ${most} requests of ${ownerOf(quota)} in ${month} are used.`,
    targetTier: tierAbove(plan),
    details: { plan, used, limit: most, percentage, month },
  }
}

/** The tier that helps: the next one that users can have. */
function tierAbove(plan: string | undefined): Tier {
  const [next] = tiers.slice(tiers.indexOf(plan as Tier) + 1).filter((tier) => tier !== 'individual')
  return next ?? 'enterprise'
}
