import type { Call, Principal } from '../kernel/call/call.ts'
import type { Span } from '../kernel/detect/detect.ts'
import { guardedToken } from '../kernel/token.ts'
import type { Completion } from '../kit/canonical/forms.ts'
import type { TextLocation } from '../kit/canonical/text-location.ts'
import type { Candidate } from './routing.ts'

/** A policy whose rules all match in a call. */
export interface PolicyHit {
  readonly policyId: string
  readonly policyName: string
  readonly action: 'block' | 'redact' | 'warn' | 'log'
  /** Whether the policy only says what it would do. */
  readonly shadow: boolean
  readonly severity: 'low' | 'medium' | 'high'
  /** Of the rule that matched last. */
  readonly field: string
  readonly direction: TextLocation['direction']
}

export interface PolicySpan extends Span {
  readonly hits: readonly PolicyHit[]
}

/** The policies that may hold for one call. They stay the same until the call has ended. */
export interface PolicyCheck {
  /** Whether `decide` needs the expected cost. */
  readonly needsCost: boolean
  /** Whether there are policies that say nothing of an answer before they have seen the whole of it. */
  readonly mayJudge: boolean
  /** Whether there is anything to find in the texts of a side. */
  looksAt(direction: TextLocation['direction']): boolean
  /** So many characters at the end of a text that grows are not settled. */
  held(direction: TextLocation['direction']): number
  /** The findings from an index on, in order and without overlap. */
  find(text: string, place: TextLocation, from: number): readonly PolicySpan[]
  /** After the texts of the request were searched: the policies that it violates in what is not a text, or in more. */
  decide(costUsd: number | undefined): readonly PolicyHit[]
  /** Why no policy lets the call go to a place; undefined when all do. */
  refuses(target: Candidate): string | undefined
  /**
   * Asked when an answer begins: whether `judge` is to see it not at all, beside the client, or before any of it leaves. `calls`
   * is before the first call of a tool leaves.
   */
  judges(): 'no' | 'beside' | 'calls' | 'before'
  /** The policies that a whole answer violates. Texts of it that are to be redacted are found from then on. */
  judge(body: Completion): readonly PolicyHit[]
}

/** Policies that an owner has beside the stored ones, made ready by `TrustPolicies`. */
export type OwnPolicies = readonly { readonly id: string }[]

/** A use of a tool that the gateway makes by itself, for a caller. */
export interface PolicyToolUse {
  /** The name of the tool. */
  readonly tool: string
  readonly toolId: string
  /** JSON of the arguments. */
  readonly arguments: string
  readonly runId: string
  readonly principal: Pick<Principal, 'type' | 'keyId'> & { readonly userId?: string | undefined }
  readonly project: string
  readonly ip: string
  readonly tags: Readonly<Record<string, string>>
}

/** The trust policies, as a module of the chain enforces them. */
export interface TrustPolicies {
  /** At least `held` of any check. */
  readonly reach: number
  /**
   * Makes policies ready that are not stored, in the form of `trustPolicy` of the kit; their ids are `<owner>[<place>]`. Throws
   * a bad request for one that is not sound.
   */
  compile(owner: string, policies: readonly object[]): OwnPolicies
  /** The policies for a call: the stored ones, if these are asked for, and the owner's. Undefined when none can hold for it. */
  check(call: Call, from: { readonly stored: boolean; readonly own: OwnPolicies }): PolicyCheck | undefined
  /** Whether any policy may hold for any call now. A provider that does not say so is asked for each call. */
  any?(from: { readonly stored: boolean; readonly own: OwnPolicies }): boolean
  /** Counts the violations of a call, each policy once, emits `trust.violation` and appends to the ledger. */
  record(call: Call, hits: readonly PolicyHit[]): void
  /**
   * The stored policies with a rule for tools that a use of one violates, where the use is the only call of a tool in an answer.
   * It counts them, each once, and appends to the ledger: ask once for each use.
   */
  judgeUse?(use: PolicyToolUse): readonly PolicyHit[]
}

export const TrustPolicies = guardedToken<TrustPolicies>('trust-policies')
