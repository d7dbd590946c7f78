import type { JsonObject } from '#kernel'

/** The Converse API's own forms, as far as they are spoken here. */

/** A file: its bytes in base64, or where it lies in S3. */
export type Source =
  | { readonly bytes: string }
  | { readonly s3Location: { readonly uri: string } }
  | { readonly text: string }

export interface Media {
  readonly format: string
  readonly source: Source
}

export interface Reasoning {
  readonly reasoningText?: { readonly text?: string; readonly signature?: string }
  /** What may not be read, in base64. */
  readonly redactedContent?: string
}

export interface ToolUse {
  readonly toolUseId: string
  readonly name: string
  readonly input?: unknown
}

/** One of these fields. */
export interface Block {
  readonly text?: string
  readonly image?: Media
  readonly video?: Media
  readonly document?: Media & { readonly name: string; readonly [field: string]: unknown }
  readonly searchResult?: {
    readonly source: string
    readonly title: string
    readonly content: readonly { readonly text: string }[]
    readonly citations?: { readonly enabled: boolean }
  }
  readonly toolUse?: ToolUse
  readonly toolResult?: {
    readonly toolUseId: string
    readonly content: readonly Block[]
    readonly status?: 'success' | 'error'
  }
  readonly reasoningContent?: Reasoning
  readonly cachePoint?: { readonly type: 'default'; readonly ttl?: string }
  readonly citationsContent?: {
    readonly content?: readonly { readonly text?: string }[]
    readonly citations?: readonly unknown[]
  }
  readonly json?: unknown
}

export interface Turn {
  readonly role: 'user' | 'assistant'
  readonly content: readonly Block[]
}

export interface TokenUsage {
  /** Without those read from and written to the cache. */
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly cacheReadInputTokens?: number
  readonly cacheWriteInputTokens?: number
  /** The written ones by how long they stay. */
  readonly cacheDetails?: readonly { readonly ttl?: string; readonly inputTokens?: number }[]
}

export interface Stop {
  readonly stopReason?: string
  readonly additionalModelResponseFields?: JsonObject | null
}

export interface ConverseAnswer extends Stop {
  readonly output?: { readonly message?: { readonly content?: readonly Block[] } }
  readonly usage?: TokenUsage
}

/** The payload of an event of a stream; which fields it has depends on the event. */
export interface EventPayload extends Stop {
  readonly contentBlockIndex?: number
  readonly start?: { readonly toolUse?: ToolUse }
  readonly delta?: {
    readonly text?: string
    readonly toolUse?: { readonly input?: string }
    readonly reasoningContent?: {
      readonly text?: string
      readonly signature?: string
      readonly redactedContent?: string
    }
    readonly citation?: unknown
  }
  readonly usage?: TokenUsage
  /** Of an exception. */
  readonly message?: unknown
}
