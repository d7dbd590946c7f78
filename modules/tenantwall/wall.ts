import {
  type Attempt,
  type Awaitable,
  type Call,
  type Candidate,
  type Context,
  Counting,
  type Held,
  type Outcome,
  Pricing,
  type Refusal,
  TokenCounting,
} from '#kernel'
import {
  addRecentCost,
  dearestRecent,
  estimateCost,
  expectedTokens,
  type RecentCosts,
  Reservation,
} from '#kit'
import {
  claimsOf,
  isUsage,
  type Need,
  type QuotaClaim,
  type Quotas,
  refusalOf,
  reservedOf,
} from './quotas.ts'
import type { Tenant } from './records.ts'

export interface WallSettings {
  readonly timezone: string
  readonly default_quotas: Quotas
}

/** What a call uses of its tenant's quotas as it goes on. */
type Usage = Pick<Need, 'tokens' | 'spend'>

type Place = Pick<Candidate, 'provider' | 'model'>

interface Extra {
  readonly tenant: Tenant
  readonly reservation: Reservation<keyof Usage>
}

interface Asked {
  readonly claims: readonly QuotaClaim[]
  readonly usage: Usage
  readonly answer: Held | Refusal
}

/** What is set apart for a call, before it is sent and for its attempts. */
interface Stay {
  asking?: Promise<Asked>
  extra?: Extra
}

const nothing: Need = { calls: 0, requests: 0, tokens: 0, spend: 0 }

/** Longer than a call takes under the usual limits. */
const leaseMs = 900_000

/** Holds tenants to their quotas. */
export class Wall {
  readonly #context: Context<WallSettings>
  readonly #stays: (call: Call) => Stay
  /** In the first thread, for all of them. */
  readonly #dearest: (of: string) => Awaitable<number | undefined>
  readonly #learn: (cost: { readonly of: string; readonly nano: number }) => void

  constructor(context: Context<WallSettings>) {
    const recent = context.memory<RecentCosts>('recent', () => new Map())
    this.#context = context
    this.#stays = context.slot<Stay>(() => ({}))
    this.#dearest = context.askFirstThread('dearest', (of) => dearestRecent(recent, of, Date.now()))
    this.#learn = context.inFirstThread('cost', ({ of, nano }) => addRecentCost(recent, of, nano, Date.now()))
  }

  /** The claims that show how a tenant's quotas stand. */
  claims(tenant: Tenant, need: Need = nothing): QuotaClaim[] {
    return claimsOf(tenant.id, this.#quotasOf(tenant), this.#context.settings.timezone, need)
  }

  get budget() {
    return this.#context.use(Counting).budget(this.#context.id)
  }

  /** Sets what a call may need apart from its tenant's quotas; throws when one of them is used up. */
  enter(tenant: Tenant, call: Call): Promise<undefined> | undefined {
    return Object.keys(this.#quotasOf(tenant)).length === 0 ? undefined : this.#admit(tenant, call)
  }

  /**
   * Sets apart what an attempt may use beyond what there is, as where it is one of several or dearer than the one that was expected;
   * rejects when a quota has no room for it. Before a call that a plugin makes for a user of `tenant` there is nothing.
   */
  attempt(attempt: Attempt, call: Call, tenant?: Tenant): Promise<void> | undefined {
    const stay = this.#stays(call)
    if (tenant && !stay.extra && this.claims(tenant).some(isUsage)) stay.extra = this.#extra(tenant, nothing)
    return stay.extra?.reservation.enter(attempt, () => this.#expected(stay.extra!.tenant, call, attempt))
  }

  /** Counts what a call used, and gives the rest back. */
  async leave(outcome: Outcome, call: Call): Promise<void> {
    const { asking, extra } = this.#stays(call)
    // What could not be asked has refused the call, and been reported.
    const asked = await asking?.catch(() => undefined)
    if (!asked?.answer.granted) return
    const { id } = asked.answer
    const used = call.trace.cached === undefined ? usedBy(outcome) : { tokens: 0, spend: 0 }
    await this.#settle(extra, outcome, () => this.budget.settle({ id }, used))
  }

  /** Counts what a plugin has used on the account of a tenant's user, beside the user's calls. */
  async charge(tenant: Tenant, outcome: Outcome, call: Call): Promise<void> {
    await this.#settle(this.#stays(call).extra, outcome, async () => {
      const claims = this.claims(tenant).filter(isUsage)
      if (claims.length === 0) return
      const held = await this.budget.reserve(claims)
      if (held.granted) await this.budget.settle(held, usedBy(outcome))
    })
  }

  async #settle(
    extra: Extra | undefined,
    { cost, provider, model }: Outcome,
    settle: () => Awaitable<unknown>,
  ): Promise<void> {
    if (!extra) return void (await settle())
    await extra.reservation.settle(settle)
    if (cost?.totalNano && provider !== undefined && hasSpend(this.#quotasOf(extra.tenant)))
      this.#learn({ of: nameOf(extra.tenant, `${provider}/${model}`), nano: cost.totalNano })
  }

  #quotasOf({ quotas }: Tenant): Quotas {
    return { ...this.#context.settings.default_quotas, ...quotas }
  }

  async #admit(tenant: Tenant, call: Call): Promise<undefined> {
    const stay = this.#stays(call)
    // Also for a call that ends before the answer is there.
    stay.asking = this.#ask(tenant, call)
    const { claims, usage, answer } = await stay.asking
    this.#obey(claims, answer)
    if (claims.some(isUsage)) stay.extra = this.#extra(tenant, usage)
  }

  async #ask(tenant: Tenant, call: Call): Promise<Asked> {
    const [place] = hasSpend(this.#quotasOf(tenant)) ? await this.#context.targets(call) : []
    const usage = await this.#expected(tenant, call, place)
    const claims = this.claims(tenant, { calls: 1, requests: 1, ...usage })
    return { claims, usage, answer: await this.budget.reserve([...claims, ...reservedOf(claims)]) }
  }

  /** What further attempts use is set apart beside what a call has. */
  #extra(tenant: Tenant, first: Usage): Extra {
    const usageClaims = (usage: Usage) => this.claims(tenant, { ...nothing, ...usage }).filter(isUsage)
    const reservation = new Reservation<keyof Usage>(first, async (to, from) => {
      const [before, all] = [usageClaims(from), usageClaims(to)]
      const claims = all.map((claim, i) => ({ ...claim, amount: claim.amount - before[i]!.amount }))
      const held = await this.budget.reserve([...claims, ...reservedOf(claims)], { leaseMs })
      this.#obey(all, held)
      return () => this.budget.settle(held, { tokens: 0, spend: 0 })
    })
    return { tenant, reservation }
  }

  #obey(claims: readonly QuotaClaim[], answer: Held | Refusal): asserts answer is Held {
    if (answer.granted) return
    const { claim, isSoon, error } = refusalOf(claims, answer.left)
    if (!isSoon) this.#context.report('quota_used_up', `${claim.quota} of ${claim.name}`)
    throw error
  }

  /**
   * What a call may use at a place. Where its price or the length of its answer is not known, it costs what the tenant's dearest
   * recent call of the model did.
   */
  #expected(tenant: Tenant, call: Call, place: Place | undefined): Awaitable<Usage> {
    const { input, output } = expectedTokens(call)
    const tokens = input + output
    const [prices, counting] = [this.#context.find(Pricing), this.#context.find(TokenCounting)]
    if (!place || !prices || !counting || !hasSpend(this.#quotasOf(tenant))) return { tokens, spend: 0 }
    const { nano, target, isWhole } = estimateCost(call, place, { prices, tokens: counting })
    if (isWhole) return { tokens, spend: nano }
    const dearest = (recent = 0): Usage => ({ tokens, spend: Math.max(nano, recent) })
    const recent = this.#dearest(nameOf(tenant, target))
    return recent instanceof Promise ? recent.then(dearest) : dearest(recent)
  }
}

const hasSpend = ({ spend_usd_per_day, spend_usd_per_month }: Quotas): boolean =>
  spend_usd_per_day !== undefined || spend_usd_per_month !== undefined

const usedBy = ({ usage, cost }: Outcome): Usage => ({
  tokens: usage.input + usage.output,
  spend: cost?.totalNano ?? 0,
})

/** Names a model for a tenant: what the calls of another one cost is nothing to it. */
const nameOf = ({ id }: Tenant, model: string): string => `${id} ${model}`
