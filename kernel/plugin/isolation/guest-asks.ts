import type { Ask, ToGuest, ToHost } from './messages.ts'
import { errorOf } from './thrown.ts'

/** What a module in a worker asks of the gateway, until it is answered. */
export class GuestAsks {
  readonly #tell: (message: ToHost) => void
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  #count = 0

  constructor(tell: (message: ToHost) => void) {
    this.#tell = tell
  }

  /** Resolves with the answer; rejects with what was thrown there. `signal`: the answer is not wanted any more. */
  async ask(ask: Ask, signal?: AbortSignal): Promise<unknown> {
    const waiting = Promise.withResolvers<unknown>()
    this.#count += 1
    const id = this.#count
    this.#waiting.set(id, waiting)
    this.#tell({ kind: 'ask', id, ask })
    const withdraw = (): void => this.#tell({ kind: 'withdraw', id })
    signal?.addEventListener('abort', withdraw, { once: true })
    if (signal?.aborted) withdraw()
    try {
      return await waiting.promise
    } finally {
      signal?.removeEventListener('abort', withdraw)
    }
  }

  answered({ id, value, thrown }: Extract<ToGuest, { kind: 'answer' }>): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (thrown) waiting?.reject(errorOf(thrown))
    else waiting?.resolve(value)
  }

  /** What cannot cross is not asked. */
  refuse(id: number, error: Error): void {
    this.#waiting.get(id)?.reject(error)
    this.#waiting.delete(id)
  }
}
