import { guardedToken } from '../kernel/token.ts'

/** A campaign of the red team in figures. */
export interface RedTeamCampaign {
  readonly kind: 'campaign'
  readonly id: string
  readonly user_id: string | null
  readonly target: 'gateway' | 'url'
  readonly status: string
  readonly attacks: number
  readonly bypassed: number
  readonly blocked: number
  readonly inconclusive: number
  readonly grade: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** What a campaign found, without the texts of its attacks. */
export interface RedTeamVulnerability {
  readonly kind: 'vulnerability'
  readonly id: string
  readonly campaign_id: string
  readonly attack_type: string
  readonly guardrail: string
  readonly severity: string
  readonly owasp_llm: string
  readonly status: string
  readonly verified_at: string | null
  readonly created_at: string
  readonly updated_at: string
}

/** Which campaigns; all conditions must hold. Times are milliseconds since the epoch, `to` is exclusive. */
export interface RedTeamQuery {
  readonly from: number
  readonly to: number
  readonly user_id?: string | undefined
  readonly project?: string | undefined
  readonly model?: string | undefined
}

/** Reads the campaigns of all users; whoever shows them must check whose they are. */
export interface RedTeam {
  /** Campaigns that existed in a time and were not used last before it, oldest first, each with its vulnerabilities behind it. */
  scan(query: RedTeamQuery): AsyncIterable<RedTeamCampaign | RedTeamVulnerability>
}

export const RedTeam = guardedToken<RedTeam>('red-team')
