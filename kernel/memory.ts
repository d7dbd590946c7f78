/**
 * What a plugin remembers from one instance to the next. A plugin that is switched off is forgotten after a while,
 * not at once: switching a limit off and on again must not refill it.
 */
export class Memory {
  readonly #values = new Map<string, unknown>()
  #fading: NodeJS.Timeout | undefined

  /** The value of this name, made when there is none. */
  value<T>(name: string, create: () => T): T {
    if (!this.#values.has(name)) this.#values.set(name, create())
    return this.#values.get(name) as T
  }

  /** Forgets everything in so many milliseconds, unless `keep` comes first. */
  fade(ms: number): void {
    this.keep()
    this.#fading = setTimeout(() => this.#values.clear(), ms)
    this.#fading.unref()
  }

  keep(): void {
    clearTimeout(this.#fading)
  }
}
