import type { Principal } from '#kernel'
import type { CampaignRow } from '../campaigns/rows.ts'
import { type Attempt, attempt, freshOrigin } from '../hunts/attempt.ts'
import type { Hunting } from '../hunts/hunting.ts'
import { Money } from '../hunts/money.ts'
import type { VulnerabilityRow } from './rows.ts'

/** Attacks that are made again. */
const mostAttacks = 5

/** What came of making attacks again. */
export interface Verified {
  readonly tried: number
  readonly succeeded: number
  readonly blocked: number
}

/**
 * Makes the attacks that showed a vulnerability again, in the name of the caller, within the budget of the campaign. Rejects when nothing of
 * it is left.
 */
export async function verify(
  hunting: Hunting,
  campaign: CampaignRow,
  { attack_lineage }: VulnerabilityRow,
  by: {
    readonly as: Principal
    readonly ip: string
    readonly key: string | undefined
    readonly signal: AbortSignal
  },
): Promise<Verified> {
  const { as, ip, key, signal } = by
  const { call } = hunting.context
  const target = hunting.targetOf(campaign, as, ip, key)
  const money = Money.of(campaign.budget.max_cost_usd, campaign.cost_nano)
  const system = await hunting.systemOf(campaign)
  const means = { call, target, money, as, ip, judge: undefined, system }
  const rows = await Promise.all(
    attack_lineage.slice(0, mostAttacks).map((id) => hunting.store.attacks.get(id)),
  )
  const made = await Promise.all(
    rows.map(async (row): Promise<Attempt | undefined> => {
      if (!row) return undefined
      hunting.take(as)
      await hunting.store.spend(campaign.id, 1, 0)
      const attempted = await attempt(means, row.genome, freshOrigin(), signal)
      await hunting.store.spend(campaign.id, 0, attempted?.costNano ?? 0)
      return attempted
    }),
  )
  const statuses = made.flatMap((one) => one?.verdict.status ?? [])
  return {
    tried: statuses.filter((status) => status !== 'error').length,
    succeeded: statuses.filter((status) => status === 'bypassed').length,
    blocked: statuses.filter((status) => status === 'blocked').length,
  }
}

/** The vulnerability after that: mitigated when every attack was truly blocked, and back when one got through. */
export function afterVerifying(
  row: VulnerabilityRow,
  { tried, succeeded, blocked }: Verified,
): VulnerabilityRow {
  const now = new Date().toISOString()
  const checks = { tried: row.checks.tried + tried, succeeded: row.checks.succeeded + succeeded }
  return {
    ...row,
    checks,
    status: statusAfter(row, succeeded, tried > 0 && blocked === tried),
    verified_at: now,
    updated_at: now,
  }
}

function statusAfter(
  { status }: VulnerabilityRow,
  succeeded: number,
  isBlocked: boolean,
): VulnerabilityRow['status'] {
  if (status === 'accepted') return status
  if (succeeded > 0) return status === 'mitigated' ? 'regressed' : status
  return isBlocked ? 'mitigated' : status
}
