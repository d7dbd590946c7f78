import { z } from 'zod'
import { attackItem } from '../campaigns/attack-shown.ts'
import { topBypasses } from '../campaigns/detail.ts'
import { type CampaignRow, campaignStatuses } from '../campaigns/rows.ts'
import { shownCampaign } from '../campaigns/shown.ts'
import type { Hunting } from './hunting.ts'

const count = z.int().min(0)

export const huntResult = z.object({
  campaign_id: z.string(),
  status: z.enum(campaignStatuses),
  problem: z.object({ code: z.string(), message: z.string() }).nullable(),
  generations_run: count.meta({ description: 'Of this hunt, the one that goes on included.' }),
  total_attacks: count.meta({ description: 'Of the campaign, as are the sums below.' }),
  bypasses: count,
  blocked: count,
  inconclusive: count,
  vulnerabilities: z.array(
    z.object({
      id: z.string(),
      guardrail: z.string(),
      common_trait: z.string(),
      severity: z.string(),
      owasp: z.string(),
    }),
  ),
  top_bypasses: z.array(attackItem),
  cost_usd: z.number(),
})

/** What came of the last hunt of a campaign, or has come so far. */
export async function resultOf(
  { store, json }: Pick<Hunting, 'store' | 'json'>,
  row: CampaignRow,
): Promise<z.infer<typeof huntResult>> {
  const { items } = await store.listVulnerabilities({ campaign: row.id }, { limit: 100 })
  const {
    status,
    problem,
    total_attacks,
    successful_attacks,
    blocked_attacks,
    inconclusive_attacks,
    cost_usd,
  } = shownCampaign(row)
  return {
    campaign_id: row.id,
    status,
    problem,
    generations_run: Math.max(0, row.generation - row.hunt!.from + 1),
    total_attacks,
    bypasses: successful_attacks,
    blocked: blocked_attacks,
    inconclusive: inconclusive_attacks,
    vulnerabilities: items.map(({ id, guardrail, common_trait, severity, taxonomy }) => ({
      id,
      guardrail,
      common_trait,
      severity,
      owasp: taxonomy.owasp_llm,
    })),
    top_bypasses: await topBypasses(store, json, row.id),
    cost_usd,
  }
}
