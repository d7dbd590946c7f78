import { newId } from '#kernel'
import type { AttackRow, CampaignRow } from '../campaigns/rows.ts'
import { bypassedGuard } from '../verdict/guards.ts'
import type { Attempt } from './attempt.ts'
import type { Hunting } from './hunting.ts'
import type { PlannedAttack } from './plan.ts'

/** An attack that was made, as it is stored. */
export async function rowOf(
  hunting: Hunting,
  { id, user_id, tenant, target_url }: CampaignRow,
  generation: number,
  { index, genome, parent, mutations }: PlannedAttack,
  { built, asked, verdict }: Attempt,
): Promise<AttackRow> {
  const { json, previews, context } = hunting
  const keys = hunting.keysOf(id)
  const text = await json.write(
    { user_id, tenant },
    { payload: built.payload, preview: previews.of(asked.said, keys) },
  )
  const { status, by, detectors, confidence, detail } = verdict
  const open = target_url === undefined ? bypassedGuard(context, built.type, asked.findings) : 'target'
  return {
    id: newId('att_'),
    campaign_id: id,
    ...(user_id !== undefined && { user_id }),
    generation,
    index,
    ...(parent !== undefined && { parent_id: parent }),
    genome,
    language: built.seed.language,
    mutations: [...mutations, ...(genome.words === undefined ? [] : ['reword by a model'])],
    status,
    detail: previews.clean(detail, keys),
    detectors: detectors.map((one) => ({ ...one })),
    confidence,
    ...(by !== undefined && { caught_by: by }),
    ...(status === 'bypassed' && { bypassed_guardrail: open }),
    ...(asked.traceId !== undefined && { trace_id: asked.traceId }),
    text,
    created_at: new Date().toISOString(),
  }
}
