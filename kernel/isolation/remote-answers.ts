import type { HostStore } from '../../storage/shared/host-store.ts'
import { ShortLived } from '../../storage/shared/short-lived.ts'
import type { Completion } from '../call/canonical.ts'
import type { Context } from '../contract/plugin.ts'
import { HookFault } from '../hook-fault.ts'
import type { Answer, Ask, ToGuest } from './messages.ts'
import type { RemoteAround } from './remote-around.ts'
import type { RemoteCalls } from './remote-calls.ts'
import { thrownOf } from './thrown.ts'

type Store = Extract<Ask, { ask: 'store' }>
type Complete = Extract<Ask, { ask: 'complete' }>

/** Answers what a module in a worker asks of the gateway, as far as its context allows. */
export class RemoteAnswers {
  readonly #context: Context<unknown>
  readonly #calls: RemoteCalls
  readonly #store: HostStore
  readonly #post: (message: ToGuest) => void
  readonly #arounds = new ShortLived<number, RemoteAround>()
  /** Model calls that are under way, by what asked for them. */
  readonly #completing = new ShortLived<number, AbortController>()
  /** Counts the workers that were lost. */
  #lost = 0

  constructor(
    context: Context<unknown>,
    calls: RemoteCalls,
    store: HostStore,
    post: (message: ToGuest) => void,
  ) {
    this.#store = store
    this.#context = context
    this.#calls = calls
    this.#post = post
  }

  /** From now on the run of an `around` may ask for what is inside it, until its call is over. */
  add(run: number, around: RemoteAround): void {
    this.#arounds.set(run, around)
    around.known.releases.push(() => this.#arounds.take(run))
  }

  async answer(id: number, ask: Ask): Promise<void> {
    const lost = this.#lost
    const answer = await this.#answerTo(id, ask)
    // The answer to a worker that is lost is not for the next one.
    if (lost === this.#lost) this.#post({ kind: 'answer', id, ...answer })
  }

  withdraw(id: number): void {
    this.#completing.get(id)?.abort()
  }

  /** Nobody waits for answers any more. */
  clear(): void {
    this.#lost += 1
    for (const control of this.#completing.takeAll()) control.abort()
    this.#store.clear()
  }

  #answerTo(id: number, ask: Ask): Promise<Answer> {
    if (ask.ask === 'complete') return this.#completed(id, ask)
    return ask.ask === 'store' ? this.#stored(ask) : this.#answered(ask)
  }

  async #stored({ store }: Store): Promise<Answer> {
    try {
      return { value: await this.#store.answer(store) }
    } catch (error) {
      return { thrown: thrownOf(error) }
    }
  }

  async #completed(id: number, { request, on, budgetUsd }: Complete): Promise<Answer> {
    const call = this.#calls.find(on)?.call
    const control = new AbortController()
    this.#completing.set(id, control)
    try {
      const value: Completion = await this.#context.complete(request, {
        signal: control.signal,
        ...(call && { on: call }),
        ...(budgetUsd !== undefined && { budgetUsd }),
      })
      return { value }
    } catch (error) {
      return { thrown: thrownOf(error) }
    } finally {
      if (this.#completing.get(id) === control) this.#completing.take(id)
    }
  }

  async #answered(ask: Exclude<Ask, Complete | Store>): Promise<Answer> {
    const around = this.#arounds.get(ask.run)
    if (!around) return { thrown: thrownOf(new HookFault('the call is over')) }
    if (ask.ask === 'next') return around.next(ask.change, ask.trace)
    const { errors } = around.known
    try {
      return { value: await around[ask.ask](ask.reply) }
    } catch (error) {
      return { thrown: errors.thrownOf(error) }
    }
  }
}
