import { type Claim, headersOf, type Refusal, refusalOf, tightest } from './claims.ts'
import { type Bound, type Limit, type Load, limitsIn, type State } from './limits.ts'

/** A call that wants in. */
export interface Asked {
  readonly claims: readonly Claim[]
  readonly tokens: number
}

/** What became of it. */
export interface Answered {
  readonly headers: Readonly<Record<string, number>>
  /** Why it may not go. */
  readonly refusal?: Refusal
  /** What it has taken. */
  readonly stay?: Stay
}

/** What a call has taken, itself or, for one of another thread, the number it is kept under. */
export type Stay = Taken | { readonly thread: number; readonly number: number }

export interface Taken {
  readonly claims: readonly Claim[]
  readonly load: Load
}

/** What calls of other threads have taken, by thread and number: plain data. */
export interface Held {
  last: number
  readonly byThread: Map<number, Map<number, Taken>>
}

export const nobodyHeld = (): Held => ({ last: 0, byThread: new Map() })

/** Where all calls of the process are counted. */
export class Gate {
  readonly #limitOf: (bound: Bound) => Limit
  readonly #held: Held

  constructor(state: State, held: Held) {
    this.#limitOf = limitsIn(state)
    this.#held = held
  }

  /** Lets a call in if all its limits do; then it has taken from each of them until it leaves. */
  enter({ claims, tokens }: Asked, thread: number): Answered {
    const load = { at: performance.now(), tokens }
    const refusal = refusalOf(claims, load, this.#limitOf)
    if (refusal) return { headers: headersOf(refusal.claim, load, this.#limitOf), refusal }
    for (const { limit, bucket } of claims) this.#limitOf(limit).take(bucket, load)
    const headers = headersOf(tightest(claims, load, this.#limitOf), load, this.#limitOf)
    return { headers, stay: thread === 1 ? { claims, load } : this.#hold({ claims, load }, thread) }
  }

  /** The call is over and has used so many tokens. */
  leave(stay: Stay, used: number): void {
    const taken = 'claims' in stay ? stay : this.#release(stay)
    if (taken) this.#settle(taken, used)
  }

  /** The calls of a thread are lost: what they have used is not known, so what they reserved counts. */
  lose(thread: number): void {
    const lost = this.#held.byThread.get(thread)
    this.#held.byThread.delete(thread)
    for (const taken of lost?.values() ?? []) this.#settle(taken, taken.load.tokens)
  }

  #settle({ claims, load }: Taken, used: number): void {
    const now = performance.now()
    for (const { limit, bucket } of claims) this.#limitOf(limit).settle(bucket, load, now, used)
  }

  #hold(taken: Taken, thread: number): Stay {
    this.#held.last += 1
    const number = this.#held.last
    const own = this.#held.byThread.get(thread) ?? new Map<number, Taken>()
    this.#held.byThread.set(thread, own.set(number, taken))
    return { thread, number }
  }

  #release({ thread, number }: { thread: number; number: number }): Taken | undefined {
    const own = this.#held.byThread.get(thread)
    const taken = own?.get(number)
    own?.delete(number)
    return taken
  }
}
