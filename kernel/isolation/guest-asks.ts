import { ShortLived } from '../../storage/shared/short-lived.ts'
import { contain } from '../contain.ts'
import type { GuestCall } from './guest-calls.ts'
import type { Ask, ToGuest, ToHost } from './messages.ts'
import { errorOf } from './thrown.ts'

interface Waiting extends PromiseWithResolvers<unknown> {
  readonly known: GuestCall | undefined
}

interface Options {
  /** The call it is asked for: what is new of it comes with the answer, and errors are those of the call. */
  readonly known?: GuestCall
  /** Aborts when the answer is not wanted any more. */
  readonly signal?: AbortSignal | undefined
}

/** What a module in a worker asks of the gateway, until it is answered. */
export class GuestAsks {
  readonly #tell: (message: ToHost) => void
  readonly #waiting = new ShortLived<number, Waiting>()
  #count = 0

  constructor(tell: (message: ToHost) => void) {
    this.#tell = tell
  }

  /** Resolves with the answer; rejects with what was thrown there. */
  async ask(ask: Ask, { known, signal }: Options = {}): Promise<unknown> {
    const waiting = { ...Promise.withResolvers<unknown>(), known }
    this.#count += 1
    const id = this.#count
    this.#waiting.set(id, waiting)
    this.#tell({ kind: 'ask', id, ask })
    if (!signal) return waiting.promise
    const withdraw = contain('a withdrawal', () => this.#tell({ kind: 'withdraw', id }))
    signal.addEventListener('abort', withdraw, { once: true })
    if (signal.aborted) withdraw()
    return waiting.promise.finally(() => signal.removeEventListener('abort', withdraw))
  }

  answered({ id, value, thrown, news }: Extract<ToGuest, { kind: 'answer' }>): void {
    const waiting = this.#waiting.take(id)
    if (!waiting) return
    const { known } = waiting
    if (news) known?.follow(news)
    if (thrown) waiting.reject(known ? known.errors.errorOf(thrown) : errorOf(thrown))
    else waiting.resolve(value)
  }

  /** What cannot cross is not asked. */
  refuse(id: number, error: Error): void {
    this.#waiting.take(id)?.reject(error)
  }
}
