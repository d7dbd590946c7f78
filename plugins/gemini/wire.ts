import type { JsonObject } from '#kernel'

/** The Gemini API's own forms, as far as they are spoken here. Fields that no type names are left alone. */

export interface Part {
  readonly text?: string
  /** The text is a summary of the model's thoughts. */
  readonly thought?: boolean
  /** Opaque state of the model, in base64; to be sent back with the part that had it. */
  readonly thoughtSignature?: string
  readonly inlineData?: { readonly mimeType: string; readonly data: string }
  readonly fileData?: { readonly mimeType?: string; readonly fileUri: string }
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: JsonObject }
  readonly functionResponse?: {
    readonly id?: string
    readonly name: string
    readonly response: JsonObject
    readonly parts?: readonly Part[]
  }
  readonly executableCode?: { readonly language?: string; readonly code?: string }
  readonly codeExecutionResult?: { readonly outcome?: string; readonly output?: string }
}

export interface Content {
  readonly role?: 'user' | 'model'
  readonly parts: readonly Part[]
}

export interface Candidate {
  readonly index?: number
  readonly content?: { readonly parts?: readonly Part[] }
  readonly finishReason?: string
  readonly finishMessage?: string
  readonly groundingMetadata?: unknown
  readonly logprobsResult?: LogprobsResult
}

export interface LogprobsResult {
  readonly chosenCandidates?: readonly TokenChance[]
  /** For each chosen token, the likeliest ones. */
  readonly topCandidates?: readonly { readonly candidates?: readonly TokenChance[] }[]
}

export interface TokenChance {
  readonly token?: string
  readonly logProbability?: number
}

export interface ModalityCount {
  readonly modality?: string
  readonly tokenCount?: number
}

export interface UsageMetadata {
  readonly promptTokenCount?: number
  readonly cachedContentTokenCount?: number
  readonly candidatesTokenCount?: number
  readonly thoughtsTokenCount?: number
  readonly toolUsePromptTokenCount?: number
  readonly totalTokenCount?: number
  readonly promptTokensDetails?: readonly ModalityCount[]
  readonly cacheTokensDetails?: readonly ModalityCount[]
  readonly candidatesTokensDetails?: readonly ModalityCount[]
}

/** An answer, and each event of a streamed one. */
export interface GenerateContentResponse {
  readonly candidates?: readonly Candidate[]
  readonly promptFeedback?: { readonly blockReason?: string; readonly blockReasonMessage?: string }
  readonly usageMetadata?: UsageMetadata
  readonly modelVersion?: string
  readonly responseId?: string
  readonly error?: unknown
}
