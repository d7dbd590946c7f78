import { z } from 'zod'
import type { SealedJson } from '../sealed.ts'
import { noGuard } from '../verdict/guards.ts'
import { attackItem, shownAttack } from './attack-shown.ts'
import type { CampaignRow } from './rows.ts'
import { campaignItem, share, shownCampaign, typeLine, typeLines } from './shown.ts'
import type { CampaignStore } from './store.ts'
import { asrOf } from './sums.ts'

const count = z.int().min(0)
const mostBypasses = 5

export const campaignDetail = campaignItem.extend({
  results: z.object({
    by_type: z.array(typeLine),
    by_guardrail: z.array(z.object({ guardrail: z.string(), caught: count, missed: count })),
    by_generation: z.array(z.object({ generation: count, attempts: count, successes: count, asr: share })),
    top_bypasses: z.array(attackItem).meta({ description: 'Those that got through, the surest first.' }),
  }),
})

/** A campaign with its results. */
export async function detailOf(
  store: CampaignStore,
  json: SealedJson,
  row: CampaignRow,
): Promise<z.infer<typeof campaignDetail>> {
  return {
    ...shownCampaign(row),
    results: {
      by_type: typeLines(row.by_type),
      by_guardrail: Object.entries(row.by_guardrail)
        .filter(([guardrail]) => guardrail !== noGuard)
        .map(([guardrail, sums]) => ({ guardrail, ...sums })),
      by_generation: Object.entries(row.by_generation).map(([generation, tally]) => ({
        generation: Number(generation),
        attempts: tally.attempts,
        successes: tally.successes,
        asr: asrOf(tally),
      })),
      top_bypasses: await topBypasses(store, json, row.id),
    },
  }
}

export async function topBypasses(store: CampaignStore, json: SealedJson, campaign: string) {
  const { items } = await store.listAttacks({ campaign, status: 'bypassed' }, { limit: 50 })
  const surest = items.toSorted((a, b) => b.confidence - a.confidence).slice(0, mostBypasses)
  return Promise.all(surest.map((row) => shownAttack(row, json)))
}
