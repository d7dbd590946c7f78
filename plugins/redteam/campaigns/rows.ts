import { z } from 'zod'
import { storedPrincipal } from '#kit'
import { genome } from '../attacks/genome.ts'
import { verdictStatuses } from '../verdict/verdict.ts'

export const campaignStatuses = ['idle', 'hunting', 'paused', 'completed', 'failed'] as const
export type CampaignStatus = (typeof campaignStatuses)[number]

const tally = z.object({ attempts: z.int(), successes: z.int(), blocked: z.int() })
export type Tally = z.infer<typeof tally>

/** A hunt: the one that goes on, or the last one. */
const hunt = z.object({
  /** The first generation of it, and how many there are. */
  from: z.int(),
  generations: z.int(),
  population: z.int(),
  attacker: z.string().optional(),
  judge: z.string().optional(),
  /** A key came with the request: it is in memory only. */
  needs_key: z.boolean(),
  /** Each time that it goes on after a pause is a job of its own. */
  turn: z.int(),
  /** In whose name it attacks: who began it. */
  principal: storedPrincipal,
  ip: z.string(),
})
export type Hunt = z.infer<typeof hunt>

/** A campaign as it is stored, with the sums of its attacks. */
export const campaignRow = z.object({
  id: z.string(),
  user_id: z.string().optional(),
  tenant: z.string().optional(),
  name: z.string(),
  purpose: z.string(),
  target_url: z.string().optional(),
  model: z.string().optional(),
  project: z.string().optional(),
  /** JSON of the caller's own instructions, sealed where that is asked for. */
  system: z.string().optional(),
  attack_types: z.array(z.string()),
  strategies: z.array(z.string()),
  languages: z.array(z.string()),
  budget: z.object({ max_requests: z.int(), max_cost_usd: z.number().nullable() }),
  seed: z.string(),
  status: z.enum(campaignStatuses),
  problem: z.object({ code: z.string(), message: z.string() }).optional(),
  hunt: hunt.optional(),
  generation: z.int(),
  /** Attacks that were begun: those that a kill cut off are among them. */
  requests: z.int(),
  cost_nano: z.int(),
  planned: z.int(),
  statuses: z.record(z.enum(verdictStatuses), z.int()),
  by_type: z.record(z.string(), tally),
  by_trait: z.record(z.string(), tally),
  by_generation: z.record(z.string(), tally),
  by_day: z.record(z.string(), tally),
  by_guardrail: z.record(z.string(), z.object({ caught: z.int(), missed: z.int() })),
  created_at: z.string(),
  updated_at: z.string(),
})
export type CampaignRow = z.infer<typeof campaignRow>

/** An attack that was made, as it is stored. */
export const attackRow = z.object({
  id: z.string(),
  campaign_id: z.string(),
  user_id: z.string().optional(),
  generation: z.int(),
  index: z.int(),
  parent_id: z.string().optional(),
  genome,
  language: z.string(),
  mutations: z.array(z.string()),
  status: z.enum(verdictStatuses),
  detail: z.string(),
  detectors: z.array(z.object({ name: z.string(), score: z.number() })),
  confidence: z.number(),
  caught_by: z.string().optional(),
  bypassed_guardrail: z.string().optional(),
  trace_id: z.string().optional(),
  /** JSON of the payload and of the beginning of the answer, sealed where that is asked for. */
  text: z.string(),
  created_at: z.string(),
})
export type AttackRow = z.infer<typeof attackRow>

export const noAttacks = {
  generation: 0,
  requests: 0,
  cost_nano: 0,
  planned: 0,
  statuses: { blocked: 0, bypassed: 0, inconclusive: 0, error: 0 },
  by_type: {},
  by_trait: {},
  by_generation: {},
  by_day: {},
  by_guardrail: {},
} satisfies Partial<CampaignRow>
