import {
  type Awaitable,
  type Call,
  type Candidate,
  type Context,
  ModelCatalogue,
  type Outcome,
  Pricing,
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
} from '#kit'
import type { Need } from './quotas.ts'
import type { Tenant } from './records.ts'

/** What a call uses of its tenant's quotas as it goes on. */
export type Usage = Pick<Need, 'tokens' | 'spend'>

export type Place = Pick<Candidate, 'provider' | 'model'>

/** What is to be set apart for a call: where there is no room for all of it less, but no less than the least. */
export interface Expected extends Usage {
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

export const noUse: Expected = { tokens: 0, spend: 0, leastTokens: 0, leastSpend: 0 }

/** What calls of tenants are expected to use, learnt from those that came before. */
export class Expectations {
  readonly #context: Pick<Context<unknown>, 'find'>
  /** In the first thread, for all of them. */
  readonly #recent: (of: string) => Awaitable<Recent | undefined>
  readonly #learn: (learned: Learned) => void

  constructor(context: Context<unknown>) {
    const costs = context.memory<RecentCosts>('recent', () => new Map())
    /** In tokens. */
    const outputs = context.memory<RecentCosts>('outputs', () => new Map())
    this.#context = context
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

  /**
   * What a call may use at a place. Where its price or the length of its answer is not known, it is what the tenant's dearest and
   * longest recent calls of the model have used; where there are none, a long answer is a precaution. What it costs
   * counts only where the tenant's spending is limited (`isPriced`).
   */
  of(tenant: Tenant, call: Call, place: Place | undefined, isPriced: boolean): Awaitable<Expected> {
    const { input, output } = expectedTokens(call)
    if (!place) return certain({ tokens: input + output, spend: 0 })
    const models = this.#context.find(ModelCatalogue)
    const answer = answerTokens(call, models?.describe(place.provider, place.model)?.maxOutputTokens)
    const cost = isPriced ? this.#costOf(call, place) : undefined
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

  #costOf(call: Call, place: Place): CostEstimate | undefined {
    const { find } = this.#context
    const [prices, tokens] = [find(Pricing), find(TokenCounting)]
    if (!prices || !tokens) return undefined
    return estimateCost(call, place, { prices, tokens, models: find(ModelCatalogue) })
  }

  /** Keeps what a call of a tenant has used, for those that come. */
  learn(tenant: Tenant, { cost, usage, provider, model }: Outcome): void {
    const nano = cost?.totalNano ?? 0
    const { output } = usage
    if (provider !== undefined && (nano > 0 || output > 0))
      this.#learn({ of: nameOf(tenant, `${provider}/${model}`), nano, output })
  }
}

export const leastOf = ({ leastTokens, leastSpend }: Expected): Usage => ({
  tokens: leastTokens,
  spend: leastSpend,
})

/** What is no precaution is needed whole. */
const certain = ({ tokens, spend }: Usage): Expected => ({
  tokens,
  spend,
  leastTokens: tokens,
  leastSpend: spend,
})

/** Names a model for a tenant: what the calls of another one cost is nothing to it. */
const nameOf = ({ id }: Tenant, model: string): string => `${id} ${model}`
