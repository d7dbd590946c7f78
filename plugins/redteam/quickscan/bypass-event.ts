import { type Context, Plans, type Principal, tiers } from '#kernel'
import type { Scan } from './shapes.ts'

/** Tells, once a month, a caller whose tier has no campaigns that probes got through. */
export async function suggestCampaigns(
  { find }: Pick<Context<unknown>, 'find'>,
  principal: Principal,
  { scan_id, bypassed, probes_run, score }: Scan,
  now = new Date(),
): Promise<void> {
  const plans = find(Plans)
  if (!plans?.actsHere || bypassed === 0) return
  const tier = plans.tierOf(principal)
  if (tier !== undefined && tiers.indexOf(tier) >= tiers.indexOf('team')) return
  await plans.suggest({
    trigger: 'redteam_bypass_detected',
    userId: principal.userId,
    period: now.toISOString().slice(0, 7),
    until: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1),
    priority: 'high',
    title: 'Attacks get through',
    message: `${bypassed} of ${probes_run} probes of a quick scan got through. Campaigns look for more, and suggest rules.`,
    targetTier: 'team',
    details: { scan_id, bypassed, probes_run, score },
  })
}
