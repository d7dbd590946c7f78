import { type Context, Plans, type Principal, type Tier, tiers } from '#kernel'
import type { Decisions } from './decisions/decisions.ts'

/** USD, each of which is told once. */
const milestones = [10_000, 1000, 100, 10]
const keptMs = 30 * 86_400_000

const installation: Principal = {
  ...{ type: 'admin', keyId: '', userId: undefined, plan: 'free', tenant: undefined },
}

/** Tells the operator what autopilot has saved, where a larger plan can be had. */
export class Savings {
  readonly #context: Pick<Context<unknown>, 'find'>
  readonly #decisions: Decisions

  constructor(context: Pick<Context<unknown>, 'find'>, decisions: Decisions) {
    this.#context = context
    this.#decisions = decisions
  }

  async check(now = Date.now()): Promise<void> {
    const plans = this.#context.find(Plans)
    const targetTier = plans?.actsHere ? tierAbove(plans.tierOf(installation)) : undefined
    if (!plans || !targetTier) return
    const { savedUsd } = await this.#decisions.total()
    const milestone = milestones.find((usd) => savedUsd >= usd)
    if (milestone === undefined) return
    await plans.suggest({
      trigger: `autoroute_savings_${milestone}`,
      period: 'once',
      until: now + keptMs,
      priority: 'low',
      title: `Autopilot has saved $${milestone.toLocaleString('en')}`,
      message: `By an estimate, calls would have cost $${savedUsd.toFixed(2)} more at the reference model.`,
      targetTier,
      details: { saved_usd: savedUsd, milestone_usd: milestone },
    })
  }
}

/** The tier above that of the license, or `pro` without one; undefined above the last. */
const tierAbove = (tier: Tier | undefined): Tier | undefined =>
  tier === undefined ? 'pro' : tiers[tiers.indexOf(tier) + 1]
