import type { Completion, ModelRequest } from '../../kit/canonical/forms.ts'
import type { Usage } from '../../kit/canonical/usage.ts'
import { token } from '../token.ts'

/** Whole nano-dollars. The total is exactly the sum of the other four. */
export interface Amounts {
  readonly totalNano: number
  /** The part of the prompt that is neither from or for a cache nor audio or image. */
  readonly inputNano: number
  /** The answer, reasoning included, without audio. */
  readonly outputNano: number
  /** Tokens read from and written to the provider's prompt cache. */
  readonly cacheNano: number
  /** Audio, images, and the price of the call beside its tokens. */
  readonly otherNano: number
}

/** The cost of a call, in whole nano-dollars, and the price that gave it. */
export interface Cost extends Amounts {
  /** `openai/gpt-4o` in the catalogue, the key of the override, or `provider` for the provider's own figure. */
  readonly priceId: string
  readonly source: 'catalogue' | 'override' | 'provider'
  /** Attempts of the call that used tokens and whose price is not known: it cost more than this says. Absent when there are none. */
  readonly unpriced?: number
}

/** The costs of calls. `contract/pricing.ts` says what else plugins may ask. */
export interface Pricing {
  /**
   * The cost of a usage. Undefined when no price for the model is known, or the usage itself is not: never a guess. `at`, in ms
   * since the epoch, matters for prices that depend on date or hour; now by default.
   */
  cost(provider: string, model: string, usage: Usage, at?: number): Cost | undefined
}

/** The kernel asks it what calls cost; while no plugin offers it, costs are not known. */
export const Pricing = token<Pricing>('pricing')

/** An answer whose provider did not say what it used. */
export interface Unreported {
  /** The model's name at the provider. */
  readonly model: string
  /** The tokens that the provider had counted when the answer was left, marked as an estimate: one for each chunk at least. */
  readonly counted: Usage | undefined
  /** Content chunks of a stream; undefined where the answer was whole. */
  readonly chunks: number | undefined
  /** The answer, as far as it is known. */
  body(): Completion | undefined
}

/** Counts tokens. `contract/token-counting.ts` says what else plugins may ask. */
export interface TokenCounting {
  /** What each of these answers to a request used, marked as an estimate. */
  used(request: ModelRequest, answers: readonly Unreported[]): Promise<readonly Usage[]>
}

/** The kernel asks it what calls used that no provider reported; while no plugin offers it, that is not known. */
export const TokenCounting = token<TokenCounting>('token-counting')
