import { hash } from 'node:crypto'
import { z } from 'zod'
import { severities } from '#kernel'
import { guardrailRule } from '#kit'

export const vulnerabilityStatuses = ['open', 'mitigated', 'accepted', 'regressed'] as const

const taxonomy = z.object({ owasp_llm: z.string(), mitre_atlas: z.string(), nist: z.string() })

/** Attacks of a campaign that got through for one reason, as they are stored. */
export const vulnerabilityRow = z.object({
  id: z.string(),
  campaign_id: z.string(),
  user_id: z.string().optional(),
  attack_type: z.string(),
  trait: z.string(),
  guardrail: z.string(),
  title: z.string(),
  common_trait: z.string(),
  severity: z.enum(severities),
  taxonomy,
  /** Ids of attacks that got through, the first of them. */
  attack_lineage: z.array(z.string()),
  status: z.enum(vulnerabilityStatuses),
  note: z.string().optional(),
  suggested_rule: guardrailRule.nullable(),
  /** The times that it was tried anew. */
  checks: z.object({ tried: z.int(), succeeded: z.int() }),
  verified_at: z.string().optional(),
  created_at: z.string(),
  updated_at: z.string(),
})
export type VulnerabilityRow = z.infer<typeof vulnerabilityRow>

/** The id of what a campaign shows: the same reason is the same vulnerability. */
export const vulnerabilityId = (campaign: string, type: string, trait: string, guardrail: string): string =>
  `vul_${hash('sha256', JSON.stringify([campaign, type, trait, guardrail]), 'hex').slice(0, 26)}`
