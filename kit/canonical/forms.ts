/**
 * The canonical forms: OpenAI's chat shapes, open to what other wires and providers need. Fields that no type here
 * names are carried as they came, so a parameter that appeared yesterday works today.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
export type JsonObject = { [key: string]: Json }

export type Operation = 'chat' | 'completion' | 'embedding'

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** Image, audio, file, refusal and vendor parts keep their own fields. */
export interface OtherPart {
  readonly type: string
  readonly [field: string]: unknown
}

export type ContentPart = TextPart | OtherPart

export interface ToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: { readonly name: string; readonly arguments: string }
  /** Opaque vendor state of the call, such as a thought signature. */
  readonly extra?: unknown
}

export interface Message {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function'
  readonly content?: string | readonly ContentPart[] | null
  readonly name?: string
  readonly tool_calls?: readonly ToolCall[] | null
  readonly tool_call_id?: string
  readonly refusal?: string | null
  readonly reasoning_content?: string | null
  readonly [field: string]: unknown
}

/** The input of a caller, whatever the operation: `messages` for chat, `prompt` or `input` for the others. */
export interface ModelRequest {
  readonly model: string
  readonly messages?: readonly Message[]
  readonly prompt?: string | readonly string[] | readonly number[] | readonly (readonly number[])[]
  readonly input?: string | readonly string[] | readonly number[] | readonly (readonly number[])[]
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean; readonly [field: string]: unknown } | null
  readonly max_tokens?: number | null
  readonly max_completion_tokens?: number | null
  readonly temperature?: number | null
  readonly n?: number | null
  readonly tools?: readonly Tool[]
  readonly tool_choice?: unknown
  readonly response_format?: ResponseFormat | null
  readonly [field: string]: unknown
}

export interface Tool {
  readonly type: string
  readonly function?: {
    readonly name: string
    readonly description?: string
    readonly parameters?: JsonObject
    readonly strict?: boolean | null
  }
  readonly [field: string]: unknown
}

export interface ResponseFormat {
  readonly type: string
  readonly json_schema?: {
    readonly name?: string
    readonly schema?: JsonObject
    readonly strict?: boolean | null
  }
  readonly [field: string]: unknown
}

/**
 * How a model is held to the form that `response_format` asks for: by its service, by a tool that it must call, or by
 * words among its instructions.
 */
export type StructuredOutput = 'native' | 'tool' | 'instruction'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'

export interface Choice {
  readonly index: number
  readonly message?: Message
  /** Legacy completions. */
  readonly text?: string
  readonly finish_reason: FinishReason | null
  readonly logprobs?: unknown
  readonly [field: string]: unknown
}

/** Token counts as OpenAI reports them: `prompt_tokens` includes cached ones, `completion_tokens` reasoning ones. */
export interface WireUsage {
  readonly prompt_tokens: number
  readonly completion_tokens?: number
  readonly total_tokens: number
  readonly prompt_tokens_details?: {
    readonly cached_tokens?: number
    /** Written to the provider's prompt cache, by how long they stay there; of `prompt_tokens` like the cached ones. */
    readonly cache_write_5m_tokens?: number
    readonly cache_write_1h_tokens?: number
    readonly audio_tokens?: number
    readonly image_tokens?: number
    readonly [field: string]: unknown
  } | null
  readonly completion_tokens_details?: {
    readonly reasoning_tokens?: number
    readonly audio_tokens?: number
    readonly [field: string]: unknown
  } | null
  readonly [field: string]: unknown
}

/** A whole answer: `choices` for chat and completions, `data` for embeddings. */
export interface Completion {
  readonly id?: string
  readonly object?: string
  readonly created?: number
  readonly model?: string
  readonly choices?: readonly Choice[]
  readonly data?: readonly unknown[]
  readonly usage?: WireUsage | null
  readonly [field: string]: unknown
}

export interface ToolCallDelta {
  readonly index: number
  readonly id?: string
  readonly type?: 'function'
  readonly function?: { readonly name?: string; readonly arguments?: string }
  readonly [field: string]: unknown
}

export interface Delta {
  readonly role?: Message['role']
  readonly content?: string | null
  readonly reasoning_content?: string | null
  readonly refusal?: string | null
  readonly tool_calls?: readonly ToolCallDelta[] | null
  readonly [field: string]: unknown
}

export interface ChoiceDelta {
  readonly index: number
  readonly delta?: Delta
  /** Legacy completions. */
  readonly text?: string
  readonly finish_reason?: FinishReason | null
  readonly logprobs?: unknown
  readonly [field: string]: unknown
}

/** One event of a streamed answer. */
export interface CompletionChunk {
  readonly id?: string
  readonly object?: string
  readonly created?: number
  readonly model?: string
  readonly choices: readonly ChoiceDelta[]
  readonly usage?: WireUsage | null
  readonly [field: string]: unknown
}
