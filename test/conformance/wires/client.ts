import type { JsonObject } from '../../../kit/canonical/forms.ts'

/** What can be asked of a model, in no wire's words. */
export interface Ask {
  readonly model: string
  readonly turns: readonly Turn[]
  readonly stream?: boolean
  readonly tools?: readonly AskedTool[]
  /** The tool that must be called. */
  readonly choice?: string
  readonly effort?: 'low' | 'high'
  readonly schema?: JsonObject
  readonly signal?: AbortSignal
  /** Called for each piece of a stream that brought something. */
  readonly onPiece?: () => void
}

export interface AskedTool {
  readonly name: string
  readonly parameters: JsonObject
}

/** One turn of a conversation: a user's, a model's as the client got it, or the results of its calls. */
export type Turn =
  | { readonly text: string; readonly image?: string }
  | { readonly answer: Answer }
  | { readonly results: readonly { readonly id: string; readonly text: string }[] }

export interface AnsweredCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** What the client understood. */
export interface Answer {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly AnsweredCall[]
  readonly stop: 'stop' | 'length' | 'tools' | 'refusal' | string
  /** All tokens of the prompt, cached ones included. */
  readonly usage: {
    readonly input: number
    readonly output: number
    readonly cached: number
    readonly reasoning: number
  }
  /** Pieces of the stream that had text. */
  readonly pieces: number
  readonly headers: Headers
  /** The message in the wire's own form, as a client sends it back. */
  readonly native: unknown
}

/** An error as the client's library tells it. */
export interface Problem {
  /** Undefined for one that came inside a stream. */
  readonly status: number | undefined
  readonly type: string | undefined
  readonly message: string
  readonly param: string | undefined
  readonly headers: Headers | undefined
}

/** An official library that speaks one wire to the gateway. */
export interface WireClient {
  /** Rejects with the library's own error. */
  ask(ask: Ask): Promise<Answer>
  /** Undefined when the error is not one that the gateway told in the wire's own form. */
  problemOf(error: unknown): Problem | undefined
}

/** A wire of the gateway, and what can be said on it. */
export interface ClientWire {
  readonly id: string
  readonly path: string
  readonly operation: 'chat' | 'completion'
  readonly features: readonly string[]
  connect(url: string, key: string): WireClient
}
