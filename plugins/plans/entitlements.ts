import { forbidden, type Plan, type Principal, type Quota, type Tier, tiers } from '#kernel'
import { type License, type LicenseState, stateOf } from './license.ts'

export interface Terms {
  readonly plans: readonly Plan[]
  /** Whether the plans of users limit them. */
  readonly isEnforced: boolean
  readonly license: LicenseState
}

/** A quota with its limit, for the calendar's month in UTC. */
const quota = (scope: Quota['scope'], name: string, plan: string, most: number): Quota => ({
  scope,
  plan,
  claim: { name, unit: 'requests', limit: { kind: 'month', most, timezone: 'UTC' }, amount: 1 },
})

const rank = (tier: Tier): number => tiers.indexOf(tier)
const isTier = (plan: string): plan is Tier => (tiers as readonly string[]).includes(plan)

/**
 * What callers may use. A user's plan counts where plans are enforced, and the license where one is valid; where both count,
 * the smaller one does. Admin keys have no plan.
 */
export class Entitlements {
  readonly #terms: Terms
  readonly #plans: ReadonlyMap<string, Plan>
  #adding: Promise<unknown> = Promise.resolve()

  constructor(terms: Terms) {
    this.#terms = terms
    this.#plans = new Map(terms.plans.map((plan) => [plan.id, plan]))
  }

  get actsHere(): boolean {
    return this.#terms.isEnforced || this.license !== undefined
  }

  /** The license while it holds. */
  get license(): License | undefined {
    const { status, license } = this.licenseState
    return status === 'active' ? license : undefined
  }

  get licenseState(): LicenseState {
    const { license: state } = this.#terms
    return state.status === 'active' && state.license ? stateOf(state.license, new Date()) : state
  }

  tierOf(principal: Principal): Tier | undefined {
    const { license } = this
    const plan = this.#planOf(principal)
    if (!plan || !isTier(plan.id)) return license?.tier
    return license && rank(license.tier) < rank(plan.id) ? license.tier : plan.id
  }

  quotasOf(principal: Principal): readonly Quota[] {
    const plan = this.#planOf(principal)
    const own = plan ? [quota('user', `user:${principal.userId}`, plan.id, plan.requests_per_month)] : []
    return [...own, ...this.installationQuotas()]
  }

  /** The quotas of all callers together. */
  installationQuotas(): Quota[] {
    const { license } = this
    const most = license?.limits.requests_per_month
    return license && most !== undefined ? [quota('installation', 'installation', license.tier, most)] : []
  }

  demand(principal: Principal, tier: Tier, what: string): void {
    const has = this.tierOf(principal)
    if (has === undefined || rank(has) >= rank(tier)) return
    throw forbidden(`${what} need the tier ${tier} or a higher one, and yours is ${has}.`, {
      details: { tier: has, required_tier: tier },
    })
  }

  /** Adds a user while the license has room for one; `count` tells how many there are. */
  addUser<T>(add: () => Promise<T>, count: () => Promise<number>): Promise<T> {
    const most = this.license?.limits.users
    if (most === undefined) return add()
    const turn = this.#adding.then(async () => {
      if ((await count()) < most) return add()
      throw forbidden(`The license of this gateway allows ${most} users, and there are as many.`, {
        details: { limit: most },
      })
    })
    this.#adding = turn.catch(() => {})
    return turn
  }

  #planOf({ type, userId, plan }: Principal): Plan | undefined {
    const counts = this.#terms.isEnforced && type === 'user' && userId !== undefined
    return counts ? this.#plans.get(plan) : undefined
  }
}
