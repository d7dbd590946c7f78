import type { TokenCounting as CallCounting } from '../kernel/contract/models.ts'
import { token } from '../kernel/token.ts'
import type { ModelRequest } from '../kit/canonical/forms.ts'

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

/** The kernel asks it what calls used that no provider reported, and plugins how many tokens texts have. */
export interface TokenCounting extends CallCounting {
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

/** The token under which the kernel knows it too. */
export const TokenCounting = token<TokenCounting>('token-counting')
