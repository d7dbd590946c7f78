import type { TraceFinding } from '#kernel'

/** What a target said to an attack. */
export type Said =
  | Answered
  /** A guard, the provider or the target itself has withheld an answer because of what was said. */
  | { readonly kind: 'withheld'; readonly by: string }
  /** There is no answer, and no verdict either. `mayPass`: the same attack may get one later. */
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly mayPass: boolean }

export interface Answered {
  readonly kind: 'answered'
  /** What was said, without calls of tools. */
  readonly text: string
  readonly toolCalls: readonly { readonly name: string; readonly arguments: string }[]
  /** The model's own words where it declines by its own field. */
  readonly refusal: string | undefined
  readonly finishReason: string | undefined
}

/** What came of one attack. */
export interface Asked {
  readonly said: Said
  /** Of the call, where the gateway made it. */
  readonly traceId?: string
  readonly costNano: number
  /** What guards of the gateway found in it. */
  readonly findings: readonly TraceFinding[]
}
