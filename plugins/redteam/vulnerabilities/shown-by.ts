import type { BuiltAttack } from '../attacks/genome.ts'
import { plain, strategyOf } from '../attacks/strategies.ts'
import type { VulnerabilityRow } from './rows.ts'
import { suggestRule } from './rule.ts'

/** Ids of attacks that a vulnerability keeps. */
const mostAttacks = 20

interface Shown {
  readonly id: string
  readonly attack: string
  readonly campaign: string
  readonly user: string | undefined
  readonly built: BuiltAttack
  readonly trait: string
  readonly guardrail: string
}

/** The vulnerability that an attack shows which got through, with those that showed it before. What was mitigated has come back. */
export const shownBy =
  ({ id, attack, campaign, user, built, trait, guardrail }: Shown) =>
  (before: VulnerabilityRow | undefined): VulnerabilityRow => {
    const now = new Date().toISOString()
    if (before)
      return {
        ...before,
        attack_lineage: [...before.attack_lineage, attack].slice(0, mostAttacks),
        status: before.status === 'mitigated' ? 'regressed' : before.status,
        suggested_rule: before.suggested_rule ?? suggestRule(built, trait),
        updated_at: now,
      }
    const { type } = built
    const how = trait === plain ? 'in plain words' : `by ${trait.replaceAll('_', ' ')}`
    return {
      id,
      campaign_id: campaign,
      ...(user !== undefined && { user_id: user }),
      attack_type: type.id,
      trait,
      guardrail,
      title: `${type.name} ${how}`,
      common_trait: strategyOf(trait)?.description ?? 'The attack in plain words.',
      severity: type.severity,
      taxonomy: { ...type.taxonomy },
      attack_lineage: [attack],
      status: 'open',
      suggested_rule: suggestRule(built, trait),
      checks: { tried: 0, succeeded: 0 },
      created_at: now,
      updated_at: now,
    }
  }
