import type { ModelRequest } from '../call/canonical.ts'
import type { Usage } from '../call/usage.ts'
import { token } from '../token.ts'

/** The possible capabilities of a model. */
export const capabilities = [
  'vision',
  'audio_input',
  'audio_output',
  'video',
  'files',
  'tools',
  'parallel_tools',
  'reasoning',
  'json_schema',
  'prompt_cache',
  'web_search',
] as const

export type Capability = (typeof capabilities)[number]

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

/** The part of the model's window that a request takes. */
export interface TokenCount {
  readonly tokens: number
  /** Of the tokens: definitions of tools, counted by rule. */
  readonly tools: number
  /** Of the tokens: images, counted by rule. */
  readonly images: number
  /** By which tokenizer the texts were counted: `o200k_base`, `qwen`, or `estimate`. */
  readonly by: string
  /**
   * `tokenizer` when everything was counted by what the model's maker has published for texts and conversations, `rules`
   * when tools or images were among it, `estimate` when something had to be guessed or left out.
   */
  readonly quality: 'tokenizer' | 'rules' | 'estimate'
}

/** Estimates tokens of texts at once, by what the characters of a text take on average of a model's vocabulary. */
export interface Estimator {
  /** Texts together, rounded up at the end. */
  countAll(texts: readonly string[]): number
  /** The tokens that a piece of a text adds to it: not rounded, so that pieces add up. */
  weigh(piece: string): number
}

export interface TokenCounting {
  /** Whether a model's tokenizer is there; its counts are estimates otherwise. */
  knows(model: string): boolean
  /** Counts a request and, by the same tokenizer, texts of its answer, away from the calls' thread. */
  count(
    request: ModelRequest,
    texts?: readonly string[],
  ): Promise<{ readonly input: TokenCount; readonly output: number }>
  /** Counts a request at once, without a vocabulary. */
  estimate(request: ModelRequest): TokenCount
  estimator(model: string): Estimator
}

/** The kernel asks it what calls used that no provider reported; while no plugin offers it, that is not known. */
export const TokenCounting = token<TokenCounting>('token-counting')
