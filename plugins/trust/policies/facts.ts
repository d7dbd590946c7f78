import type { Call } from '#kernel'
import { expectedTokens } from '#kit'

/** What is known of a call beside its texts. A value that is undefined matches no rule. */
export interface Facts {
  readonly project: string
  readonly model: string
  readonly userId: string | undefined
  readonly tags: Readonly<Record<string, string>>
  readonly ip: string | undefined
  /** Of the prompt and the longest answer, as expected before the call, or as they were. */
  readonly tokens: number | undefined
}

/** The facts of a call before it is sent; its prompt is counted only if a rule asks. */
export class CallFacts implements Facts {
  readonly #call: Call
  #tokens: number | undefined

  constructor(call: Call) {
    this.#call = call
  }

  get project(): string {
    return this.#call.context.project
  }

  get model(): string {
    return this.#call.request.model
  }

  get userId(): string | undefined {
    return this.#call.principal.userId
  }

  get tags(): Readonly<Record<string, string>> {
    return this.#call.context.tags
  }

  get ip(): string {
    return this.#call.context.ip
  }

  get tokens(): number {
    if (this.#tokens === undefined) {
      const { input, output } = expectedTokens(this.#call)
      this.#tokens = input + output
    }
    return this.#tokens
  }
}
