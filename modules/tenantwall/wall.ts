import {
  type Attempt,
  type Awaitable,
  type Call,
  type Context,
  Counting,
  type Held,
  type Outcome,
  type Refusal,
} from '#kernel'
import { Reservation } from '#kit'
import { Expectations, type Expected, leastOf, noUse, type Place, type Usage } from './expected.ts'
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

interface Extra {
  readonly tenant: Tenant
  readonly reservation: Reservation<keyof Expected>
}

interface Asked {
  /** The least that the call needs. */
  readonly claims: readonly QuotaClaim[]
  readonly expected: Expected
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
  readonly #expectations: Expectations

  constructor(context: Context<WallSettings>) {
    this.#context = context
    this.#stays = context.slot<Stay>(() => ({}))
    this.#expectations = new Expectations(context)
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
    if (tenant && !stay.extra && this.claims(tenant).some(isUsage)) stay.extra = this.#extra(tenant, noUse)
    return stay.extra?.reservation.enter(attempt, () => this.#expectedOf(stay.extra!.tenant, call, attempt))
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

  async #settle(extra: Extra | undefined, outcome: Outcome, settle: () => Awaitable<unknown>): Promise<void> {
    if (!extra) return void (await settle())
    await extra.reservation.settle(settle)
    this.#expectations.learn(extra.tenant, outcome)
  }

  #expectedOf(tenant: Tenant, call: Call, place: Place | undefined): Awaitable<Expected> {
    return this.#expectations.of(tenant, call, place, hasSpend(this.#quotasOf(tenant)))
  }

  #quotasOf({ quotas }: Tenant): Quotas {
    return { ...this.#context.settings.default_quotas, ...quotas }
  }

  async #admit(tenant: Tenant, call: Call): Promise<undefined> {
    const stay = this.#stays(call)
    // Also for a call that ends before the answer is there.
    stay.asking = this.#ask(tenant, call)
    const { claims, expected, answer } = await stay.asking
    this.#obey(claims, answer)
    if (claims.some(isUsage)) stay.extra = this.#extra(tenant, expected)
  }

  async #ask(tenant: Tenant, call: Call): Promise<Asked> {
    const [place] = this.claims(tenant).some(isUsage) ? await this.#context.targets(call) : []
    const expected = await this.#expectedOf(tenant, call, place)
    const claimsOf = (usage: Usage) => this.claims(tenant, { calls: 1, requests: 1, ...usage })
    const claims = claimsOf(leastOf(expected))
    return { claims, expected, answer: await this.#setApart(claimsOf(expected), claims) }
  }

  /**
   * Sets amounts apart: of what is only a precaution at most half of what its quota has left, so that it refuses nothing, and leaves
   * room for what plugins ask about the call.
   */
  async #setApart(
    whole: readonly QuotaClaim[],
    least: readonly QuotaClaim[],
    options?: { readonly leaseMs: number },
  ): Promise<Held | Refusal> {
    let left = whole.map(({ limit }) => limit.most)
    for (;;) {
      const claims = whole.map((claim, i) => ({
        ...claim,
        amount: Math.max(least[i]!.amount, Math.min(claim.amount, Math.floor(left[i]! / 2))),
      }))
      const answer = await this.budget.reserve([...claims, ...reservedOf(claims)], options)
      if (answer.granted) return answer
      const isFull = claims.some(
        ({ amount }, i) => answer.left[i]!.retryMs !== 0 && amount <= least[i]!.amount,
      )
      if (isFull) return answer
      left = claims.map(({ amount }, i) => Math.min(amount, answer.left[i]!.remaining))
    }
  }

  /** What further attempts use is set apart beside what a call has. */
  #extra(tenant: Tenant, first: Expected): Extra {
    const usageClaims = (usage: Usage) => this.claims(tenant, { ...nothing, ...usage }).filter(isUsage)
    const between = (from: Usage, to: Usage): QuotaClaim[] => {
      const before = usageClaims(from)
      return usageClaims(to).map((claim, i) => ({ ...claim, amount: claim.amount - before[i]!.amount }))
    }
    const reservation = new Reservation<keyof Expected>(first, async (to, from) => {
      const held = await this.#setApart(between(from, to), between(leastOf(from), leastOf(to)), { leaseMs })
      this.#obey(usageClaims(leastOf(to)), held)
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
}

const usedBy = ({ usage, cost }: Outcome): Usage => ({
  tokens: usage.input + usage.output,
  spend: cost?.totalNano ?? 0,
})

const hasSpend = ({ spend_usd_per_day, spend_usd_per_month }: Quotas): boolean =>
  spend_usd_per_day !== undefined || spend_usd_per_month !== undefined
