import type { Json } from '#kernel'

/** Cohere's own forms, as far as they are spoken here. Fields that no type names are left alone. */

export interface ContentBlock {
  readonly type?: string
  readonly text?: string
  readonly thinking?: string
}

export interface WireToolCall {
  readonly id?: string
  readonly type?: string
  readonly function?: { readonly name?: string; readonly arguments?: string | null }
}

export interface Units {
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly search_units?: number
  readonly [unit: string]: Json | undefined
}

export interface WireUsage {
  /** What is paid for. */
  readonly billed_units?: Units
  /** What the model read and wrote. */
  readonly tokens?: Units
  readonly cached_tokens?: number
}

export interface Logprobs {
  readonly text?: string
  readonly logprobs?: readonly number[]
}

export interface ChatAnswer {
  readonly id?: string
  readonly finish_reason?: string
  readonly message?: {
    readonly content?: readonly ContentBlock[] | null
    readonly tool_plan?: string | null
    readonly tool_calls?: readonly WireToolCall[] | null
    readonly citations?: readonly unknown[] | null
  }
  readonly usage?: WireUsage
  readonly logprobs?: readonly Logprobs[] | null
}

/** An event of a stream: what its delta has depends on its type. */
export interface ChatEvent {
  readonly type?: string
  readonly id?: string
  readonly index?: number
  /** Of an error that comes without a type. */
  readonly message?: unknown
  readonly logprobs?: Logprobs | null
  readonly delta?: {
    readonly message?: {
      readonly content?: ContentBlock
      readonly tool_plan?: string
      readonly tool_calls?: WireToolCall
      readonly citations?: unknown
    }
    readonly finish_reason?: string
    readonly error?: string
    readonly usage?: WireUsage
  }
}
