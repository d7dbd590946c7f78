import { z } from 'zod'
import type { SealedJson } from '../sealed.ts'
import { verdictStatuses } from '../verdict/verdict.ts'
import type { AttackRow } from './rows.ts'

export const attackItem = z.object({
  id: z.string(),
  campaign_id: z.string(),
  generation: z.int(),
  parent_id: z.string().nullable(),
  attack_type: z.string(),
  strategy: z
    .string()
    .meta({ description: 'Its strategies in their order, joined by +; `plain` without any.' }),
  language: z.string(),
  payload: z
    .string()
    .nullable()
    .meta({ description: 'What was sent; null where it cannot be read any more.' }),
  mutations: z.array(z.string()).meta({ description: 'How it differs from its parent.' }),
  target_response_preview: z.string().nullable(),
  status: z.enum(verdictStatuses),
  detail: z.string(),
  detectors: z.array(z.object({ name: z.string(), score: z.number() })),
  success: z.boolean(),
  confidence: z.number(),
  caught_by: z.string().nullable().meta({ description: 'A guard, `model`, `provider` or `target`.' }),
  bypassed_guardrail: z.string().nullable().meta({
    description: 'The guard that let it through; `none` where no guard looks for it, `target` at an address.',
  }),
  trace_id: z.string().nullable(),
  created_at: z.string().meta({ format: 'date-time' }),
})
export type AttackItem = z.infer<typeof attackItem>

const text = z.object({ payload: z.string(), preview: z.string() })

/** An attack as clients see it. */
export async function shownAttack(row: AttackRow, json: SealedJson): Promise<AttackItem> {
  const { data } = text.safeParse((await json.read(row.text))?.value)
  return {
    id: row.id,
    campaign_id: row.campaign_id,
    generation: row.generation,
    parent_id: row.parent_id ?? null,
    attack_type: row.genome.type,
    strategy: row.genome.strategies.join('+') || 'plain',
    language: row.language,
    payload: data?.payload ?? null,
    mutations: row.mutations,
    target_response_preview: data?.preview ?? null,
    status: row.status,
    detail: row.detail,
    detectors: row.detectors,
    success: row.status === 'bypassed',
    confidence: row.confidence,
    caught_by: row.caught_by ?? null,
    bypassed_guardrail: row.bypassed_guardrail ?? null,
    trace_id: row.trace_id ?? null,
    created_at: row.created_at,
  }
}
