import type { Usage } from '../kernel/call/usage.ts'
import type { Pricing as CallPricing, Rates } from '../kernel/contract/models.ts'
import { token } from '../kernel/token.ts'

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
