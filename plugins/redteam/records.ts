import type { RedTeam, RedTeamCampaign, RedTeamVulnerability } from '#kernel'
import type { CampaignRow } from './campaigns/rows.ts'
import { shownCampaign } from './campaigns/shown.ts'
import type { CampaignStore } from './campaigns/store.ts'
import type { VulnerabilityRow } from './vulnerabilities/rows.ts'

/** Campaigns and what they found, for other plugins: ids and figures, and no text that anybody wrote. */
export const recordsOf = ({ campaigns, vulnerabilities }: CampaignStore): RedTeam => ({
  async *scan({ from, to, user_id, project, model }) {
    const range = user_id === undefined ? {} : { index: 'user', equals: user_id }
    for await (const [id, row] of campaigns.scan(range)) {
      const isMeant =
        Date.parse(row.updated_at) >= from &&
        Date.parse(row.created_at) < to &&
        (project === undefined || row.project === project) &&
        (model === undefined || row.model === model)
      if (!isMeant) continue
      yield campaignRecord(row)
      for await (const [, found] of vulnerabilities.scan({ index: 'campaign', equals: id }))
        yield vulnerabilityRecord(found)
    }
  },
})

function campaignRecord(row: CampaignRow): RedTeamCampaign {
  const { id, user_id, target, status, grade, created_at, updated_at, ...sums } = shownCampaign(row)
  return {
    kind: 'campaign',
    id,
    user_id,
    target: target.kind,
    status,
    attacks: sums.total_attacks,
    bypassed: sums.successful_attacks,
    blocked: sums.blocked_attacks,
    inconclusive: sums.inconclusive_attacks,
    grade,
    created_at,
    updated_at,
  }
}

const vulnerabilityRecord = (row: VulnerabilityRow): RedTeamVulnerability => ({
  kind: 'vulnerability',
  id: row.id,
  campaign_id: row.campaign_id,
  attack_type: row.attack_type,
  guardrail: row.guardrail,
  severity: row.severity,
  owasp_llm: row.taxonomy.owasp_llm,
  status: row.status,
  verified_at: row.verified_at ?? null,
  created_at: row.created_at,
  updated_at: row.updated_at,
})
