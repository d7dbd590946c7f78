import {
  type Attempt,
  type Awaitable,
  type Call,
  type Candidate,
  type Context,
  Counting,
  type Held,
  ModelCatalogue,
  type Outcome,
  Pricing,
  type Refusal,
  TokenCounting,
} from '#kernel'
import {
  addRecentCost,
  answerTokens,
  type CostEstimate,
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

/** What is to be set apart for a call: where there is no room for all of it less, but no less than the least. */
interface Expected extends Usage {
  readonly leastTokens: number
  readonly leastSpend: number
}

/** What the dearest and the longest of a tenant's recent calls of a model have used. */
interface Recent {
  readonly nano: number | undefined
  readonly output: number | undefined
}

interface Learned {
  readonly of: string
  readonly nano: number
  readonly output: number
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
const noUse: Expected = { tokens: 0, spend: 0, leastTokens: 0, leastSpend: 0 }

/** Longer than a call takes under the usual limits. */
const leaseMs = 900_000

/** Holds tenants to their quotas. */
export class Wall {
  readonly #context: Context<WallSettings>
  readonly #stays: (call: Call) => Stay
  /** In the first thread, for all of them. */
  readonly #recent: (of: string) => Awaitable<Recent | undefined>
  readonly #learn: (learned: Learned) => void

  constructor(context: Context<WallSettings>) {
    const costs = context.memory<RecentCosts>('recent', () => new Map())
    /** In tokens. */
    const outputs = context.memory<RecentCosts>('outputs', () => new Map())
    this.#context = context
    this.#stays = context.slot<Stay>(() => ({}))
    this.#recent = context.askFirstThread('recent', (of) => {
      const now = Date.now()
      return { nano: dearestRecent(costs, of, now), output: dearestRecent(outputs, of, now) }
    })
    this.#learn = context.inFirstThread('used', ({ of, nano, output }) => {
      const now = Date.now()
      if (nano > 0) addRecentCost(costs, of, nano, now)
      if (output > 0) addRecentCost(outputs, of, output, now)
    })
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
    { cost, usage, provider, model }: Outcome,
    settle: () => Awaitable<unknown>,
  ): Promise<void> {
    if (!extra) return void (await settle())
    await extra.reservation.settle(settle)
    const nano = cost?.totalNano ?? 0
    const { output } = usage
    if (provider !== undefined && (nano > 0 || output > 0))
      this.#learn({ of: nameOf(extra.tenant, `${provider}/${model}`), nano, output })
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
    const expected = await this.#expected(tenant, call, place)
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

  /**
   * What a call may use at a place. Where its price or the length of its answer is not known, it is what the tenant's dearest and
   * longest recent calls of the model have used; where there are none, a long answer is a precaution.
   */
  #expected(tenant: Tenant, call: Call, place: Place | undefined): Awaitable<Expected> {
    const { input, output } = expectedTokens(call)
    if (!place) return certain({ tokens: input + output, spend: 0 })
    const models = this.#context.find(ModelCatalogue)
    const answer = answerTokens(call, models?.describe(place.provider, place.model)?.maxOutputTokens)
    const cost = this.#costOf(tenant, call, place)
    const usage = { tokens: input + answer.expected, spend: cost?.nano ?? 0 }
    if (answer.isKnown && (cost?.isWhole ?? true)) return certain(usage)
    const learned = ({ nano, output }: Partial<Recent> = {}): Expected => {
      const spend = cost?.isWhole ? usage.spend : Math.max(usage.spend, nano ?? 0)
      const tokens = answer.isKnown ? usage.tokens : input + Math.max(answer.expected, output ?? 0)
      return {
        tokens: output === undefined ? input + answer.cautious : tokens,
        spend: nano === undefined ? (cost?.cautiousNano ?? 0) : spend,
        leastTokens: tokens,
        leastSpend: spend,
      }
    }
    const recent = this.#recent(nameOf(tenant, `${place.provider}/${place.model}`))
    return recent instanceof Promise ? recent.then(learned) : learned(recent)
  }

  #costOf(tenant: Tenant, call: Call, place: Place): CostEstimate | undefined {
    const { find } = this.#context
    const [prices, tokens] = [find(Pricing), find(TokenCounting)]
    if (!prices || !tokens || !hasSpend(this.#quotasOf(tenant))) return undefined
    return estimateCost(call, place, { prices, tokens, models: find(ModelCatalogue) })
  }
}

const leastOf = ({ leastTokens, leastSpend }: Expected): Usage => ({ tokens: leastTokens, spend: leastSpend })

/** What is no precaution is needed whole. */
const certain = ({ tokens, spend }: Usage): Expected => ({
  tokens,
  spend,
  leastTokens: tokens,
  leastSpend: spend,
})

const hasSpend = ({ spend_usd_per_day, spend_usd_per_month }: Quotas): boolean =>
  spend_usd_per_day !== undefined || spend_usd_per_month !== undefined

const usedBy = ({ usage, cost }: Outcome): Usage => ({
  tokens: usage.input + usage.output,
  spend: cost?.totalNano ?? 0,
})

/** Names a model for a tenant: what the calls of another one cost is nothing to it. */
const nameOf = ({ id }: Tenant, model: string): string => `${id} ${model}`
