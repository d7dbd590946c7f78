type Values = Readonly<Record<string, unknown>>
type Source = () => Promise<Values>

/**
 * The memory of a plugin from one instance to the next. A plugin that is switched off is forgotten after a while, not at once:
 * switching a limit off and on again must not refill it.
 */
export class Memory {
  readonly #values: Map<string, unknown>
  /** Asks the present holder of the values, if it is another one. */
  source: Source | undefined
  #fading: NodeJS.Timeout | undefined

  constructor(values: Readonly<Record<string, unknown>> = {}) {
    this.#values = new Map(Object.entries(values))
  }

  /** The value of this name, made when there is none. */
  value<T>(name: string, create: () => T): T {
    if (!this.#values.has(name)) this.#values.set(name, create())
    return this.#values.get(name) as T
  }

  get values(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(this.#values)
  }

  /** Takes in the values from their source; keeps its own when the source has none. */
  async recall(): Promise<void> {
    const values = await this.source?.().catch(() => undefined)
    for (const [name, value] of Object.entries(values ?? {})) this.#values.set(name, value)
  }

  /** Takes back the values of a source that ends, unless another has its place. Requests for them wait meanwhile. */
  async returned(source: Source, ending: Promise<Values | undefined>): Promise<void> {
    if (this.source !== source) return void (await ending)
    const last: Source = async () => (await ending) ?? {}
    this.source = last
    const values = await last()
    if (this.source === last) this.source = undefined
    for (const [name, value] of Object.entries(values)) this.#values.set(name, value)
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
