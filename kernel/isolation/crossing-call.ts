import type { Cancel } from '../call/cancel.ts'
import { errorOf, thrownOf } from '../workers/thrown.ts'
import { Numbered, type Side } from './numbered.ts'
import type { Abort, CallThrown } from './protocol.ts'

/** The errors of one call that crossed: one that crosses again, in either direction, is the very same error there. */
export class CrossedErrors {
  readonly #known: Numbered<unknown>
  readonly #side: Side

  constructor(side: Side) {
    this.#known = new Numbered(side)
    this.#side = side
  }

  thrownOf(error: unknown): CallThrown {
    return { ...thrownOf(error), number: this.#known.numberOf(error) }
  }

  errorOf({ number, ...thrown }: CallThrown): unknown {
    if (number === undefined) return errorOf(thrown)
    return this.#known.get(number) ?? this.#known.set(number, errorOf(thrown))
  }

  /** Whether it was thrown here first. */
  isOwn({ number }: CallThrown): boolean {
    return number !== undefined && number > 0 === (this.#side === 'host')
  }
}

/** The errors and cancels of a call under way that both sides know, by number. */
export class CrossingCall {
  readonly id: string
  readonly errors: CrossedErrors
  readonly #cancels: Numbered<Cancel>
  readonly #tell: (abort: Abort) => void
  readonly #releases: (() => void)[] = []
  /** The cancel that is being used because the other side has used it. */
  #followed: number | 'all' | undefined

  /** `own` is the call's own cancel, number 0; those of its copies are numbered as they come. */
  constructor(id: string, side: Side, own: Cancel, tell: (abort: Abort) => void) {
    this.id = id
    this.errors = new CrossedErrors(side)
    this.#cancels = new Numbered(side)
    this.#cancels.set(0, own)
    this.#tell = tell
  }

  /** The number of a cancel. The first use of a number makes the other side learn when this cancel is used. */
  numberOf(cancel: Cancel): number {
    const isNew = !this.#cancels.has(cancel)
    const number = this.#cancels.numberOf(cancel)
    if (isNew) this.watch(cancel, number)
    return number
  }

  /** The cancel of a number, made when the other side has numbered one that is not known here. */
  cancelOf(number: number, make: () => Cancel): Cancel {
    return this.#cancels.get(number) ?? this.#cancels.set(number, make())
  }

  /** Reports to the other side, from now on, when this cancel is used. */
  watch(cancel: Cancel, number: number): Cancel {
    this.own(cancel.onAbort((reason) => this.tell(number, reason)))
    return cancel
  }

  tell(cancel: number, reason: Error): void {
    if (this.#followed === cancel || this.#followed === 'all') return
    this.#tell({ call: this.id, cancel, reason: this.errors.thrownOf(reason) })
  }

  /** Uses the cancel that the other side has used. */
  abort(cancel: number, reason: CallThrown): void {
    this.#followed = cancel
    this.#cancels.get(cancel)?.abort(this.errors.errorOf(reason) as Error)
    this.#followed = undefined
  }

  /** Uses all cancels without a message. */
  abortAll(reason: Error): void {
    this.#followed = 'all'
    for (const cancel of this.#cancels.values()) cancel.abort(reason)
  }

  /** Takes over something to be released when the call is forgotten. */
  own(release: () => void): void {
    this.#releases.push(release)
  }

  release(): void {
    for (const release of this.#releases.splice(0)) release()
  }
}
