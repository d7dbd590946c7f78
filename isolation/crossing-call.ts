import type { Cancel } from '../kit/work/cancel.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'
import { HookFault } from '../kit/work/hook-fault.ts'
import { errorOf, thrownOf } from '../workers/thrown.ts'
import type { CallThrown } from './call-view.ts'
import { Numbered, type Side } from './numbered.ts'
import type { Abort, Answered } from './protocol.ts'

/**
 * A call under way that both sides know. `Ours` and `Theirs` are its state as it crosses from and to this side. Its errors and
 * cancels have numbers: one that crosses again, in either direction, is the very same one there.
 */
export abstract class CrossingCall<Ours, Theirs, R> {
  readonly id: string
  /** The runs of the module over its answers, by number. */
  readonly runs = new Map<number, R>()
  readonly #errors: Numbered<unknown>
  readonly #cancels: Numbered<Cancel>
  readonly #tell: (abort: Abort) => void
  readonly #releases: (() => void)[] = []

  /** `own` is the call's own cancel, number 0; those of its copies are numbered as they come. */
  constructor(id: string, side: Side, own: Cancel, tell: (abort: Abort) => void) {
    this.id = id
    this.#errors = new Numbered(side)
    this.#cancels = new Numbered(side)
    this.#cancels.set(0, own)
    this.#tell = tell
  }

  /** The state of the call for the other side. `isOver`: of what it is asked for, nothing more follows. */
  abstract state(isOver: boolean): Ours
  /** Takes over the state of the other side. */
  abstract follow(state: Theirs): void

  /** Does what the other side asks for. `isLast`: of a stream, whose state crosses at its end only. */
  async answer<T>(
    run: () => Awaitable<T>,
    isLast?: (value: T) => boolean,
  ): Promise<Answered<Awaited<T>, Ours>> {
    try {
      const value = await run()
      const isOver = isLast?.(value)
      return { value, state: isOver === false ? undefined : this.state(isOver ?? false) }
    } catch (error) {
      return { thrown: this.thrownOf(error), state: this.state(false) }
    }
  }

  /** What the other side has answered; throws what was thrown there. */
  taken<T>({ value, thrown, state }: Answered<T, Theirs>): T {
    if (state) this.follow(state)
    if (thrown) throw this.errorOf(thrown)
    return value as T
  }

  thrownOf(error: unknown): CallThrown {
    return { ...thrownOf(error), number: this.#errors.numberOf(error) }
  }

  errorOf({ number, ...thrown }: CallThrown): unknown {
    return this.#errors.get(number) ?? this.#errors.set(number, errorOf(thrown))
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
    this.#tell({ call: this.id, cancel, reason: this.thrownOf(reason) })
  }

  /** Uses the cancel that the other side has used. It hears of that in return, where the cancel is used already. */
  abort(cancel: number, reason: CallThrown): void {
    this.#cancels.get(cancel)?.abort(this.errorOf(reason) as Error)
  }

  /** Takes over something to be released when the call is forgotten. */
  own(release: () => void): void {
    this.#releases.push(release)
  }

  /** Forgets the call here; its cancels are used for this reason, if there is one. */
  release(reason?: Error): void {
    for (const release of this.#releases.splice(0)) release()
    if (reason) for (const cancel of this.#cancels.values()) cancel.abort(reason)
  }
}

/** Has a run of a call do what the other side asks of it. Throws when the call is no longer known. */
export function answerIn<Ours, Theirs, R, T>(
  known: CrossingCall<Ours, Theirs, R> | undefined,
  run: number,
  ask: (run: R) => Promise<T>,
  isLast?: (value: T) => boolean,
): Promise<Answered<Awaited<T>, Ours>> {
  const found = known?.runs.get(run)
  if (!known || !found) throw new HookFault('the call is over')
  return known.answer(() => ask(found), isLast)
}
