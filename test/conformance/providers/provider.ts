import type { Script, Wire } from '../../upstream/index.ts'

/** Token counts, in no provider's words. */
export interface Counts {
  /** All of the prompt, cached ones included. */
  readonly input: number
  readonly output: number
  readonly cached: number
  /** Of the output; absent where nothing is said of it. */
  readonly reasoning?: number
}

/** A cell of the table that is not what its column says. */
export interface Departure {
  /**
   * `absent`: the provider has nothing of the sort to report. `dropped`: left out, and named in `X-Params-Changed`.
   * `refused`: answered with 400.
   */
  readonly as: 'absent' | 'dropped' | 'refused'
  /** The field that is named. */
  readonly what?: string
  /** Wires it holds for; all of them by default. */
  readonly wires?: readonly string[]
}

/**
 * A provider of the table: how its service is played, and where in its requests things stand. Places are paths such as
 * `messages.0.content`.
 */
export interface TestProvider {
  readonly name: string
  readonly dialect: Wire
  /** Its entry in service.yaml beside address and key. */
  readonly entry?: Readonly<Record<string, unknown>>
  readonly operations: readonly ('chat' | 'completion')[]
  readonly models: { readonly chat: string; readonly completion?: string; readonly reasoning?: string }
  readonly places: {
    readonly text: string
    readonly tool: string
    readonly result: string
    readonly image: string
    readonly thinking: string
    readonly schema: string
  }
  /** How the service says that its model declines, or that somebody stopped it; none where it has no word for that. */
  readonly refusals: readonly Script[]
  /** How it says that the length limit cut an answer off. */
  readonly cut: string
  /** Usage as the service reports it. */
  usage(counts: Counts): Readonly<Record<string, unknown>>
  /** It says how much of the output was reasoning. */
  readonly tellsReasoning?: boolean
  /** Whose models sign what they thought: only they understand it. */
  readonly signer?: 'claude' | 'google'
  /** It says what the prompt came to before the answer has ended. */
  readonly countsEarly?: boolean
  /** An answer that begins well and ends in an error of the service's own. */
  readonly broken: {
    readonly chat: readonly (string | Uint8Array)[]
    readonly completion?: readonly (string | Uint8Array)[]
  }
  /** Answers in the service's own form that are none. */
  readonly nonsense: { readonly chat: readonly object[]; readonly completion?: readonly object[] }
  readonly departures?: Readonly<Record<string, Departure | readonly Departure[]>>
}
