import { z } from 'zod'
import { type Context, type JobQueue, Jobs, type Principal } from '#kernel'
import { endJob } from '#kit'
import { type Allowance, holderOf } from '../allowance.ts'
import type { CampaignRow, CampaignStatus, Hunt } from '../campaigns/rows.ts'
import { type CampaignStore, HuntOver } from '../campaigns/store.ts'
import type { SealedJson } from '../sealed.ts'
import type { Settings } from '../settings.ts'
import { chooseTarget, demandAddress } from '../target/choose.ts'
import type { CallFindings } from '../target/findings.ts'
import type { Previews } from '../verdict/preview.ts'
import { endBy } from './end.ts'
import { Money } from './money.ts'
import { huntAll } from './perform.ts'
import { Watch } from './watch.ts'

/** The longest time of a turn of a hunt. */
const longestMs = 12 * 3_600_000

export interface HuntingParts {
  readonly store: CampaignStore
  readonly json: SealedJson
  readonly findings: CallFindings
  readonly previews: Previews
  readonly allowance: Allowance
}

/** Hunts: each turn of one is a job, which goes on after a kill or a restart with the attacks that it has not made. */
export class Hunting {
  readonly store: CampaignStore
  readonly json: SealedJson
  readonly previews: Previews
  readonly context: Context<Settings>
  readonly settings: Settings
  readonly #findings: CallFindings
  readonly #allowance: Allowance
  readonly #queue: JobQueue<{ campaign: string; user: string; turn: number }>
  /** Keys that came with requests, by the campaign; nothing stores them. */
  readonly #keys = new Map<string, string>()
  readonly #watches = new Map<string, Watch>()

  constructor(context: Context<Settings>, { store, json, findings, previews, allowance }: HuntingParts) {
    this.context = context
    this.settings = context.settings
    this.store = store
    this.json = json
    this.previews = previews
    this.#findings = findings
    this.#allowance = allowance
    this.#queue = context.use(Jobs).define(context, 'hunt', {
      input: z.strictObject({ campaign: z.string(), user: z.string(), turn: z.int() }),
      concurrency: context.settings.hunts,
      lane: ({ user }) => user,
      perLane: Math.max(1, Math.ceil(context.settings.hunts / 2)),
      timeoutMs: longestMs,
      run: ({ input, signal }) => this.#run(input.campaign, input.turn, signal),
      gaveUp: ({ input: { campaign, turn } }) =>
        this.#end(campaign, turn, 'failed', { code: 'internal_error', message: 'The hunt broke off.' }),
      cancelled: ({ input: { campaign, turn } }) => this.#end(campaign, turn, 'completed'),
    })
  }

  /** Has a hunt go on in a new turn. The row and the job are there together. Undefined where `change` refuses. */
  async start(
    id: string,
    key: string | undefined,
    change: (row: CampaignRow) => Hunt | undefined,
  ): Promise<CampaignRow | undefined> {
    return this.context.store.transaction((tx) => {
      const row = tx.get(this.store.campaigns, id)
      const hunt = row && change(row)
      if (!row || !hunt) return undefined
      // Only for a hunt that begins: another one that goes on keeps its own.
      if (key !== undefined) this.#keys.set(id, key)
      const { problem: _, ...rest } = row
      const next: CampaignRow = { ...rest, hunt, status: 'hunting', updated_at: new Date().toISOString() }
      tx.put(this.store.campaigns, id, next)
      const user = holderOf({ userId: row.user_id, keyId: hunt.principal.keyId })
      this.#queue.addIn(tx, { campaign: id, user, turn: hunt.turn }, { id: jobOf(id, hunt.turn) })
      return next
    })
  }

  /** Ends a turn, and closes the connections of its attacks; false when no hunt goes on. */
  async stop(id: string, status: CampaignStatus): Promise<boolean> {
    const turn = (await this.store.campaigns.get(id))?.hunt?.turn
    if (turn === undefined || !(await this.#end(id, turn, status))) return false
    await endJob(this.#queue, jobOf(id, turn))
    return true
  }

  /** Deletes a campaign with its jobs. */
  async delete({ id, hunt }: CampaignRow): Promise<boolean> {
    for (let turn = 1; turn <= (hunt?.turn ?? 0); turn += 1) await this.#queue.delete(jobOf(id, turn))
    this.#forget(id)
    return this.store.delete(id)
  }

  /** Counts an attack of the caller's day. Throws when there may be no more. */
  take({ userId, keyId }: Pick<Principal, 'keyId'> & { readonly userId?: string | undefined }): void {
    this.#allowance.take(holderOf({ userId, keyId }), 1)
  }

  keysOf(id: string): readonly string[] {
    const key = this.#keys.get(id)
    return key === undefined ? [] : [key]
  }

  watchOf(id: string): Watch {
    const watch = this.#watches.get(id) ?? new Watch()
    this.#watches.set(id, watch)
    return watch
  }

  /** The target of a campaign, in the name of a caller. */
  targetOf(campaign: CampaignRow, as: Principal, ip: string, key: string | undefined) {
    const { id, target_url: url, model, project } = campaign
    if (url !== undefined) demandAddress(this.settings, as, 'target_url')
    return chooseTarget(this.context, this.#findings, {
      url,
      model,
      project,
      key,
      as,
      ip,
      tags: { redteam: id },
    })
  }

  /** The caller's own instructions; undefined without any, and where they cannot be opened any more. */
  async systemOf({ system }: CampaignRow): Promise<string | undefined> {
    const opened = system === undefined ? undefined : await this.json.read(system)
    return typeof opened?.value === 'string' ? opened.value : undefined
  }

  async #run(id: string, turn: number, signal: AbortSignal): Promise<void> {
    const campaign = await this.store.campaigns.get(id)
    if (campaign?.status !== 'hunting' || campaign.hunt?.turn !== turn) return
    const { hunt, budget, cost_nano } = campaign
    const key = this.#keys.get(id)
    if (hunt.needs_key && key === undefined) {
      await this.#end(id, turn, 'paused', keyNeeded)
      return
    }
    const as: Principal = { userId: undefined, tenant: undefined, ...hunt.principal }
    this.#watches.delete(id)
    try {
      const target = this.targetOf(campaign, as, hunt.ip, key)
      const money = Money.of(budget.max_cost_usd, cost_nano)
      const system = await this.systemOf(campaign)
      const { call } = this.context
      const { ip, judge } = hunt
      await huntAll(this, campaign, { call, target, money, as, ip, judge, system }, { signal })
      await this.#end(id, turn, 'completed')
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof HuntOver) return
      const end = endBy(error)
      if (!end) throw error
      await this.#end(id, turn, end.status, end.problem)
    }
  }

  async #end(
    id: string,
    turn: number,
    status: CampaignStatus,
    problem?: CampaignRow['problem'],
  ): Promise<boolean> {
    try {
      await this.store.change(id, turn, (row) => ({ ...row, status, ...(problem && { problem }) }))
    } catch (error) {
      if (error instanceof HuntOver) return false
      throw error
    }
    this.#forget(id)
    return true
  }

  #forget(id: string): void {
    this.#keys.delete(id)
    this.#watches.delete(id)
  }
}

const jobOf = (id: string, turn: number): string => `${id}:${turn}`

const keyNeeded = {
  code: 'key_needed',
  message: 'The key of the hunt was in memory only. Resume it with api_key.',
}
