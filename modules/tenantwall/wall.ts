import {
  type Awaitable,
  type Call,
  type Context,
  Counting,
  type Held,
  noUsage,
  type Outcome,
  Pricing,
  type Refusal,
} from '#kernel'
import { expectedTokens } from '#kit'
import { claimsOf, exhausted, type Need, type QuotaClaim, type Quotas } from './quotas.ts'
import type { Tenant } from './records.ts'

export interface WallSettings {
  readonly timezone: string
  readonly default_quotas: Quotas
}

const nothing: Need = { calls: 0, requests: 0, tokens: 0, spend: 0 }

/** Holds tenants to their quotas. */
export class Wall {
  readonly #context: Context<WallSettings>
  readonly #stays: (call: Call) => { answer?: Awaitable<Held | Refusal> }

  constructor(context: Context<WallSettings>) {
    this.#context = context
    this.#stays = context.slot<{ answer?: Awaitable<Held | Refusal> }>(() => ({}))
  }

  /** The claims that show how a tenant's quotas stand. */
  claims({ id, quotas }: Tenant, need: Need = nothing): QuotaClaim[] {
    const { default_quotas, timezone } = this.#context.settings
    return claimsOf(id, { ...default_quotas, ...quotas }, timezone, need)
  }

  get budget() {
    return this.#context.use(Counting).budget(this.#context.id)
  }

  /** Sets what a call may need apart from its tenant's quotas; throws when one of them is used up. */
  enter(tenant: Tenant, call: Call): Awaitable<undefined> {
    const { default_quotas } = this.#context.settings
    const quotas = { ...default_quotas, ...tenant.quotas }
    if (Object.keys(quotas).length === 0) return undefined
    const { input, output } = expectedTokens(call)
    const need = { calls: 1, requests: 1, tokens: input + output, spend: 0 }
    const hasSpend = quotas.spend_usd_per_day !== undefined || quotas.spend_usd_per_month !== undefined
    return hasSpend
      ? this.#cost(call, input, output).then((spend) => this.#reserve(tenant, call, { ...need, spend }))
      : this.#reserve(tenant, call, need)
  }

  /** Counts what a call used, and gives the rest back. */
  async leave({ usage, cost }: Outcome, call: Call): Promise<void> {
    const held = await this.#stays(call).answer
    if (!held?.granted) return
    const isFree = call.trace.cached !== undefined
    const used = isFree
      ? { tokens: 0, spend: 0 }
      : { tokens: usage.input + usage.output, spend: cost?.totalNano ?? 0 }
    await this.budget.settle(held, used)
  }

  /** Counts what a plugin has used on the account of a tenant's user, beside the user's calls. */
  async charge(tenant: Tenant, { usage, cost }: Outcome): Promise<void> {
    const claims = this.claims(tenant).filter(({ unit }) => unit === 'tokens' || unit === 'spend')
    if (claims.length === 0) return
    const held = await this.budget.reserve(claims)
    const used = { tokens: usage.input + usage.output, spend: cost?.totalNano ?? 0 }
    if (held.granted) await this.budget.settle(held, used)
  }

  #reserve(tenant: Tenant, call: Call, need: Need): Awaitable<undefined> {
    const claims = this.claims(tenant, need)
    const answer = this.budget.reserve(claims)
    // Also for a call that ends before the answer is there.
    this.#stays(call).answer = answer
    return answer instanceof Promise
      ? answer.then((late) => this.#obey(claims, late))
      : this.#obey(claims, answer)
  }

  #obey(claims: readonly QuotaClaim[], answer: Held | Refusal): undefined {
    if (answer.granted) return
    const claim = claims[answer.claim]!
    this.#context.report('quota_used_up', `${claim.quota} of ${claim.name}`)
    throw exhausted(claim, answer.retryMs)
  }

  /** The expected cost at the place that routing would choose, in nano-dollars; nothing where no price is known. */
  async #cost(call: Call, input: number, output: number): Promise<number> {
    const [target] = await this.#context.targets(call)
    if (!target) return 0
    const usage = { ...noUsage, input, output, source: 'estimated' as const }
    return this.#context.find(Pricing)?.cost(target.provider, target.model, usage)?.totalNano ?? 0
  }
}
