import type { Collection, Context, Page, PageOptions } from '#kernel'
import { BudgetOver } from '../hunts/money.ts'
import type { VulnerabilityRow } from '../vulnerabilities/rows.ts'
import { all, openCollections } from './collections.ts'
import type { AttackRow, CampaignRow, CampaignStatus } from './rows.ts'
import { withAttack } from './sums.ts'

/** What is thrown into the work of a hunt that was paused, cancelled or deleted meanwhile. */
export class HuntOver extends Error {}

/** Campaigns with their attacks and vulnerabilities, in the store. */
export class CampaignStore {
  readonly campaigns: Collection<CampaignRow>
  readonly attacks: Collection<AttackRow>
  readonly vulnerabilities: Collection<VulnerabilityRow>
  readonly #store: Context<unknown>['store']

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#store = store
    const { campaigns, attacks, vulnerabilities } = openCollections(store)
    this.campaigns = campaigns
    this.attacks = attacks
    this.vulnerabilities = vulnerabilities
  }

  listCampaigns(
    user: string | undefined,
    status: CampaignStatus | undefined,
    page: PageOptions,
  ): Promise<Page<CampaignRow>> {
    const equals = [user ?? all, status ?? all]
    return this.campaigns.list({ ...page, index: 'listed', equals, reverse: true })
  }

  listAttacks(filter: AttackFilter, page: PageOptions): Promise<Page<AttackRow>> {
    const { user = all, campaign = all, type = all, status = all } = filter
    return this.attacks.list({
      ...page,
      index: 'listed',
      equals: [user, campaign, type, status],
      reverse: true,
    })
  }

  listVulnerabilities(
    { user = all, campaign = all, status = all }: Omit<AttackFilter, 'type'>,
    page: PageOptions,
  ): Promise<Page<VulnerabilityRow>> {
    return this.vulnerabilities.list({
      ...page,
      index: 'listed',
      equals: [user, campaign, status],
      reverse: true,
    })
  }

  /** The attacks of a generation, in their order. */
  async generation(campaign: string, generation: number): Promise<AttackRow[]> {
    const rows: AttackRow[] = []
    for await (const [, row] of this.attacks.scan({ index: 'place', equals: [campaign, generation] }))
      rows.push(row)
    return rows
  }

  /** Changes a campaign whose hunt goes on in this turn. Throws `HuntOver` for another one. */
  change(id: string, turn: number, change: (row: CampaignRow) => CampaignRow): Promise<CampaignRow> {
    return this.#store.transaction((tx) => {
      const changed = stamped(change(hunted(tx.get(this.campaigns, id), turn)))
      tx.put(this.campaigns, id, changed)
      return changed
    })
  }

  /** Counts an attack before it is made, also over kills. Throws `BudgetOver` when there may be no more. */
  begin(id: string, turn: number): Promise<CampaignRow> {
    return this.change(id, turn, (row) => {
      if (row.requests >= row.budget.max_requests) throw new BudgetOver('The campaign has made its requests')
      return { ...row, requests: row.requests + 1 }
    })
  }

  /** Counts attacks, and what they cost, of a campaign that need not hunt. Throws `BudgetOver` when there may be no more. */
  async spend(id: string, requests: number, nano: number): Promise<void> {
    await this.#store.transaction((tx) => {
      const row = tx.get(this.campaigns, id)
      if (!row) throw new HuntOver('The campaign was deleted')
      if (row.requests + requests > row.budget.max_requests)
        throw new BudgetOver('The campaign has made its requests')
      const sums = { requests: row.requests + requests, cost_nano: row.cost_nano + nano }
      tx.put(this.campaigns, id, stamped({ ...row, ...sums }))
    })
  }

  /** Takes back the count of an attack that was not sent. */
  async unbegin(id: string, turn: number): Promise<void> {
    await this.change(id, turn, (row) => ({ ...row, requests: row.requests - 1 }))
  }

  /** Stores an attack with the sums of its campaign, and the vulnerability that it shows. */
  async record(
    attack: AttackRow,
    turn: number,
    nano: number,
    shown: ((before: VulnerabilityRow | undefined) => VulnerabilityRow) | undefined,
    vulnerability: string,
  ): Promise<void> {
    await this.#store.transaction((tx) => {
      const row = hunted(tx.get(this.campaigns, attack.campaign_id), turn)
      tx.put(this.campaigns, row.id, stamped(withAttack(row, attack, nano)))
      tx.create(this.attacks, attack.id, attack)
      if (shown)
        tx.put(this.vulnerabilities, vulnerability, shown(tx.get(this.vulnerabilities, vulnerability)))
    })
  }

  /** Deletes a campaign with all that is kept of it; false when there is none. Attacks go first, so that what is cut off is found again. */
  async delete(id: string): Promise<boolean> {
    for await (const [attack] of this.attacks.scan({ index: 'place', equals: [id] }))
      await this.attacks.delete(attack)
    for await (const [one] of this.vulnerabilities.scan({ index: 'campaign', equals: id }))
      await this.vulnerabilities.delete(one)
    return this.campaigns.delete(id)
  }
}

/** Which attacks of a listing. */
export interface AttackFilter {
  readonly user?: string | undefined
  readonly campaign?: string | undefined
  readonly type?: string | undefined
  readonly status?: string | undefined
}

const stamped = (row: CampaignRow): CampaignRow => ({ ...row, updated_at: new Date().toISOString() })

function hunted(row: CampaignRow | undefined, turn: number): CampaignRow {
  if (row?.status === 'hunting' && row.hunt?.turn === turn) return row
  throw new HuntOver('The hunt has ended')
}
