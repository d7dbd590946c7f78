import type { Pricing as CallPricing } from '../kernel/contract/models.ts'
import { token } from '../kernel/token.ts'
import type { Usage } from '../kit/canonical/usage.ts'

/** USD per million tokens: one price, or one that changes for the whole call once its prompt is longer than `start`. */
export type Rate =
  | number
  | { readonly base: number; readonly tiers: readonly { readonly start: number; readonly price: number }[] }

/**
 * The prices of a model. A class without a rate costs as much as the rest of the prompt, or of the answer; an hour in the cache
 * costs 1.6 times as much as five minutes, as at Anthropic, the only one that offers both.
 */
export interface Rates {
  readonly input?: Rate | undefined
  readonly output?: Rate | undefined
  readonly cachedRead?: Rate | undefined
  readonly cacheWrite5m?: Rate | undefined
  readonly cacheWrite1h?: Rate | undefined
  readonly reasoning?: Rate | undefined
  readonly audioIn?: Rate | undefined
  readonly audioOut?: Rate | undefined
  readonly imageIn?: Rate | undefined
  /** USD for the call itself, beside its tokens. */
  readonly callUsd?: number | undefined
}

export interface PriceDescription {
  readonly priceId: string
  readonly source: 'catalogue' | 'override'
  /** USD per million tokens by class, at the time asked for. */
  readonly rates: Rates
  /** Where the figures are from: the price data and its version, or service.yaml. */
  readonly origin: string
  /** Tokens the model can take, where that is known. */
  readonly contextWindow: number | undefined
}

/** One class of tokens on a bill. */
export interface PriceItem {
  readonly class: Exclude<keyof Usage, 'source'>
  /** Tokens of this class alone: what is part of another class is counted there. */
  readonly tokens: number
  readonly costNano: number
  /** For a million of them, as this call paid. */
  readonly usdPerM: number
}

/** The kernel asks it what calls cost, and plugins what models cost. */
export interface Pricing extends CallPricing {
  describe(provider: string, model: string, at?: number): PriceDescription | undefined
  /**
   * The classes that a usage has tokens of, each with its price; they and the price of the call itself add up to what
   * `cost` says. Empty when there are tokens that the rates have no price for.
   */
  items(rates: Rates, usage: Usage): PriceItem[]
}

/** The token under which the kernel knows it too. */
export const Pricing = token<Pricing>('pricing')
