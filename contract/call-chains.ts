import { guardedToken } from '../kernel/token.ts'

/** What a module was to a call, without the texts that it met. */
export interface CallModule {
  readonly name: string
  /** Null where the arrangement is not known any more. */
  readonly version: string | null
  readonly mode: 'enforce' | 'shadow'
  /** Such as `ran`, `skipped` and `off`; the same words as in the explanation of a trace. */
  readonly outcome: string
  readonly verdicts: readonly string[]
}

/** The chain that a call of the past ran on. */
export interface CallChain {
  readonly generation: number | undefined
  /** Whether the arrangement is known. If not, only modules that left something in the trace are listed. */
  readonly isWhole: boolean
  readonly modules: readonly CallModule[]
}

/** Tells of the chains of all users' calls; whoever shows one must check whose call it was. */
export interface CallChains {
  /** Undefined for a call that is not known. */
  of(traceId: string): Promise<CallChain | undefined>
}

export const CallChains = guardedToken<CallChains>('call-chains')
