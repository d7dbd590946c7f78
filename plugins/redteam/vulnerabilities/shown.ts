import { z } from 'zod'
import { severities } from '#kernel'
import { guardrailRuleObject } from '#kit'
import type { CampaignRow } from '../campaigns/rows.ts'
import { traitName } from '../campaigns/sums.ts'
import { type VulnerabilityRow, vulnerabilityStatuses } from './rows.ts'

export const vulnerabilityItem = z.object({
  id: z.string(),
  campaign_id: z.string(),
  guardrail: z.string().meta({ description: 'The guard that let the attacks through.' }),
  title: z.string(),
  common_trait: z.string(),
  attack_type: z.string(),
  attack_lineage: z.array(z.string()).meta({ description: 'Attacks that showed it, the first 20.' }),
  severity: z.enum(severities),
  taxonomy: z.object({ owasp_llm: z.string(), mitre_atlas: z.string(), nist: z.string() }),
  reproductions: z
    .object({ tried: z.int(), succeeded: z.int() })
    .meta({ description: 'Attacks of this type and trait in the campaign, and when it was verified.' }),
  status: z.enum(vulnerabilityStatuses),
  note: z.string().nullable(),
  suggested_rule: guardrailRuleObject.nullable().meta({
    description: 'A body for `POST /api/guardrails`; null where no pattern fits.',
  }),
  patched: z.boolean(),
  verified_at: z.string().nullable(),
  created_at: z.string().meta({ format: 'date-time' }),
  updated_at: z.string().meta({ format: 'date-time' }),
})

/** A vulnerability as clients see it. */
export function shownVulnerability(
  row: VulnerabilityRow,
  campaign: Pick<CampaignRow, 'by_trait'> | undefined,
): z.infer<typeof vulnerabilityItem> {
  const { attempts = 0, successes = 0 } = campaign?.by_trait[traitName(row.attack_type, row.trait)] ?? {}
  const { user_id: _, trait: __, checks, note, verified_at, ...rest } = row
  return {
    ...rest,
    reproductions: { tried: attempts + checks.tried, succeeded: successes + checks.succeeded },
    note: note ?? null,
    patched: row.status === 'mitigated',
    verified_at: verified_at ?? null,
  }
}
