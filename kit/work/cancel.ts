import { tellContained } from './contain.ts'

type Listener = (reason: Error) => void

/** The reason when a call has ended and every listener knows how. */
export const over = new Error('the call is over')

/**
 * Ends work early. An AbortController costs microseconds on every call and an AbortSignal.any more; this costs one
 * small object, and makes a real AbortSignal only on demand.
 */
export class Cancel {
  #reason: Error | undefined
  /** A few at most, in the order they came. */
  #listeners: Listener[] | undefined
  #controller: AbortController | undefined

  get aborted(): boolean {
    return this.#reason !== undefined
  }

  get reason(): Error | undefined {
    return this.#reason
  }

  /** For APIs that take an AbortSignal. */
  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#reason) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  /** Calls every listener once, also when one of them throws; the error is reported. Later calls do nothing. */
  abort(reason: Error): void {
    if (this.#reason) return
    this.#reason = reason
    this.#controller?.abort(reason)
    const listeners = this.#listeners
    this.#listeners = undefined
    for (const listener of listeners ?? []) {
      try {
        listener(reason)
      } catch (error) {
        tellContained('the end of a call', error)
      }
    }
  }

  /** Called at once when it is already over. The returned function forgets the listener. */
  onAbort(listener: Listener): () => void {
    if (this.#reason) {
      listener(this.#reason)
      return () => {}
    }
    if (this.#listeners) this.#listeners.push(listener)
    else this.#listeners = [listener]
    return () => this.#forget(listener)
  }

  #forget(listener: Listener): void {
    const at = this.#listeners?.indexOf(listener) ?? -1
    if (at >= 0) this.#listeners!.splice(at, 1)
  }

  /** A part that can end alone, and ends with the whole. Release it when the part is done. */
  child(): { readonly cancel: Cancel; release(): void } {
    const cancel = new Cancel()
    return { cancel, release: this.onAbort((reason) => cancel.abort(reason)) }
  }

  /** Throws the reason when it is over. */
  check(): void {
    if (this.#reason) throw this.#reason
  }
}
