import type { Completion } from '../../call/canonical.ts'
import type { Context } from '../plugin.ts'
import type { Ask, ToGuest } from './messages.ts'
import type { RemoteCalls } from './remote-calls.ts'
import { thrownOf } from './thrown.ts'

/** Answers what a module in a worker asks of the gateway, as far as its context allows. */
export class RemoteAnswers {
  readonly #context: Context<unknown>
  readonly #calls: RemoteCalls
  readonly #post: (message: ToGuest) => void
  /** What is being answered. */
  readonly #asked = new Map<number, AbortController>()

  constructor(context: Context<unknown>, calls: RemoteCalls, post: (message: ToGuest) => void) {
    this.#context = context
    this.#calls = calls
    this.#post = post
  }

  async answer(id: number, ask: Ask): Promise<void> {
    const control = new AbortController()
    this.#asked.set(id, control)
    let answer: ToGuest
    try {
      answer = { kind: 'answer', id, value: await this.#complete(ask, control.signal) }
    } catch (error) {
      answer = { kind: 'answer', id, thrown: thrownOf(error) }
    }
    // The answer to a worker that is lost is not for the next one.
    if (this.#asked.get(id) !== control) return
    this.#asked.delete(id)
    this.#post(answer)
  }

  withdraw(id: number): void {
    this.#asked.get(id)?.abort()
  }

  /** Nobody waits for answers any more. */
  clear(): void {
    const asked = [...this.#asked.values()]
    this.#asked.clear()
    for (const control of asked) control.abort()
  }

  #complete({ request, on, budgetUsd }: Ask, signal: AbortSignal): Promise<Completion> {
    const call = this.#calls.find(on)?.call
    const options = { signal, ...(call && { on: call }), ...(budgetUsd !== undefined && { budgetUsd }) }
    return this.#context.complete(request, options)
  }
}
