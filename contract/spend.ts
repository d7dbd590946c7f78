import type { Call } from '../kernel/call/call.ts'
import { guardedToken, token } from '../kernel/token.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'

export const capScopes = ['user', 'key', 'project', 'tenant', 'service'] as const
export type CapScope = (typeof capScopes)[number]

/** What follows when a cap is reached: calls are refused, pass, or go to a cheaper model. */
export const capActions = ['block', 'warn', 'downgrade'] as const
export type CapAction = (typeof capActions)[number]

/** A limit on what one holder spends in each day or month of a calendar. */
export interface Cap {
  readonly scope: CapScope
  /** The id of the user, key or tenant, the name of the project, or the empty text for all calls together. */
  readonly holder: string
  readonly period: 'daily' | 'monthly'
  /** Nano-dollars. */
  readonly mostNano: number
  /** The IANA name of the time zone in which days and months begin. */
  readonly timezone: string
  readonly action: CapAction
  /** Percentages of the cap, each of which is told once a period when so much is spent. */
  readonly notifyAt: readonly number[]
  /** Whether calls with keys of their users count. */
  readonly ownKeys: boolean
  /** The model that calls go to when the cap is reached and its action is `downgrade`. */
  readonly downgradeModel?: string
  /** What a period has left is added to the next one, for periods that began after this time (ms since the epoch). */
  readonly carriesSince?: number
}

/** How a cap stands in the period that runs. */
export interface CapStanding {
  readonly cap: Cap
  /** The cap, and what the period before has left to it. */
  readonly mostNano: number
  readonly spentNano: number
  /** Set apart for calls under way. */
  readonly reservedNano: number
  /** When the next period begins, in ms since the epoch. */
  readonly resetsAt: number
}

/** What a call is to be let through with. */
export interface SpendClaim {
  /** Which configuration of a module asks. Each has counts of its own. */
  readonly by: string
  readonly caps: readonly Cap[]
  /** The estimated cost. */
  readonly nano: number
  /** The model, where its price or the length of the answer is not known: the dearest recent call of it counts, if it is dearer. */
  readonly unknownOf?: string
  /** The cost that counts where no call of the model is known. */
  readonly otherwiseNano?: number | undefined
  /**
   * What the first calls of a model count with, of which nothing is known, where nothing else is said. It takes at most half of what
   * a cap has left, and refuses nothing that the estimate has room for.
   */
  readonly cautiousNano?: number
  /**
   * For each cap, in their order, a share of it above 0 and up to 1: the claim is only granted while less of the cap is spent or set
   * apart. What a call is to ask of a dearer model can so be decided and set apart in one step.
   */
  readonly below?: readonly (number | undefined)[]
  readonly leaseMs: number
}

/** The answer to a claim. */
export interface SpendAnswer {
  readonly granted: boolean
  /** To settle by; absent when the claim is refused, or falls under no cap. */
  readonly id?: string
  /** The cost that it counts with. */
  readonly nano: number
  /** By which rule: the estimate, the dearest recent call of the model, or what the claim says otherwise. */
  readonly basis: 'estimate' | 'recent' | 'otherwise'
  /** Whether it was not granted because a cap is used up to its share in `below`: the claim may be made again, without that share. */
  readonly isPassed?: true
  /** Of each cap, in their order: after the reservation, or as it is when the claim is refused. */
  readonly standings: readonly CapStanding[]
  /** The cap that refuses the claim, by its place; absent where the claim has passed a share. */
  readonly refusedBy?: number
}

/** Where spending is counted against caps, over all threads. The sums of the roll-up of traces are what counts hold to. */
export interface Spend {
  /** The caps that admins have set for a user; from memory. */
  capsOf(userId: string): readonly Cap[]
  /** Whether admins have set a cap for any user; from memory. A provider that does not say so is asked for each user. */
  anyCaps?(): boolean
  /** How caps stand, without taking anything. */
  standings(by: string, caps: readonly Cap[]): Awaitable<readonly CapStanding[]>
  /** Sets the cost of a call apart under all caps, or under none: a cap with the action `block` refuses what does not fit. */
  reserve(claim: SpendClaim): Awaitable<SpendAnswer>
  /** Settles a claim that was answered, with the real cost. To be called once for each, also after its lease. */
  settle(
    claim: SpendClaim,
    answer: SpendAnswer,
    used: { readonly nano: number; readonly model: string | undefined; readonly ownKey: boolean },
  ): Awaitable<void>
}

export const Spend = guardedToken<Spend>('spend')

/** How full the caps of calls are. */
export interface SpendShare {
  /** The share of the fullest cap of a call that is spent or set apart, 1 when it is reached; undefined for a call without caps. */
  of(call: Call): number | undefined
  /** Says that the call goes to a cheaper model: a cap that asks for one, and is reached, refuses it otherwise. */
  lowered(call: Call): void
}

/** Offered by the module that enforces caps; from memory, for later modules of the call. */
export const SpendShare = token<SpendShare>('spend-share')

/** Models from the best to the cheapest. */
export interface ModelLadder {
  /**
   * The cheaper models for a call for this one when such a share of its cap is spent, the best first: it goes to the first that is
   * served. The same model comes first where it stays; none for a model that is on no ladder.
   */
  steps(call: Call, model: string, share: number): readonly string[]
  /** The share above this one from which `steps` may say otherwise for a model; undefined where it says the same for any more. */
  stepAfter(model: string, share: number): number | undefined
}

/** Offered by the module that exchanges models as caps fill up. */
export const ModelLadder = token<ModelLadder>('model-ladder')
