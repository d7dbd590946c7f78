import type { Completion } from '../../call/canonical.ts'
import { HookFault } from '../../chain/hook-fault.ts'
import type { Context } from '../plugin.ts'
import type { Answer, Ask, ToGuest } from './messages.ts'
import type { RemoteAround } from './remote-around.ts'
import type { RemoteCalls } from './remote-calls.ts'
import type { HostStore } from './store/host-store.ts'
import { thrownOf } from './thrown.ts'

type Store = Extract<Ask, { ask: 'store' }>
type Complete = Extract<Ask, { ask: 'complete' }>

/** Answers what a module in a worker asks of the gateway, as far as its context allows. */
export class RemoteAnswers {
  readonly #context: Context<unknown>
  readonly #calls: RemoteCalls
  readonly #store: HostStore
  readonly #post: (message: ToGuest) => void
  readonly #arounds = new Map<number, RemoteAround>()
  /** What is being answered. */
  readonly #asked = new Map<number, AbortController>()

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
    around.known.releases.push(() => this.#arounds.delete(run))
  }

  async answer(id: number, ask: Ask): Promise<void> {
    const control = new AbortController()
    this.#asked.set(id, control)
    const answer = await this.#answerTo(ask, control.signal)
    // The answer to a worker that is lost is not for the next one.
    if (this.#asked.get(id) !== control) return
    this.#asked.delete(id)
    this.#post({ kind: 'answer', id, ...answer })
  }

  withdraw(id: number): void {
    this.#asked.get(id)?.abort()
  }

  /** Nobody waits for answers any more. */
  clear(): void {
    const asked = [...this.#asked.values()]
    this.#asked.clear()
    for (const control of asked) control.abort()
    this.#store.clear()
  }

  #answerTo(ask: Ask, signal: AbortSignal): Promise<Answer> {
    if (ask.ask === 'complete') return this.#completed(ask, signal)
    return ask.ask === 'store' ? this.#stored(ask) : this.#answered(ask)
  }

  async #stored({ store }: Store): Promise<Answer> {
    try {
      if ('call' in store) return { value: await this.#store.call(store.call) }
      if ('open' in store) this.#store.open(store.open)
      else await this.#store.flush(store.flush)
      return {}
    } catch (error) {
      return { thrown: thrownOf(error) }
    }
  }

  async #completed({ request, on, budgetUsd }: Complete, signal: AbortSignal): Promise<Answer> {
    const call = this.#calls.find(on)?.call
    const options = { signal, ...(call && { on: call }), ...(budgetUsd !== undefined && { budgetUsd }) }
    try {
      const value: Completion = await this.#context.complete(request, options)
      return { value }
    } catch (error) {
      return { thrown: thrownOf(error) }
    }
  }

  async #answered(ask: Exclude<Ask, Complete | Store>): Promise<Answer> {
    const around = this.#arounds.get(ask.run)
    if (!around) return { thrown: thrownOf(new HookFault('the call is over')) }
    if (ask.ask === 'next') return around.next(ask.change, ask.trail)
    const { errors } = around.known
    try {
      return { value: await around[ask.ask](ask.reply) }
    } catch (error) {
      return { thrown: errors.thrownOf(error) }
    }
  }
}
