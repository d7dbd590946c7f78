/**
 * Something of each model, by the names of its provider and its own: two looks cost less than making and hashing a key of
 * both. Forgets all when it is full, as names are the callers'.
 */
export class ByModel<V> {
  readonly #most: number
  readonly #providers = new Map<string, Map<string, V>>()
  #size = 0

  constructor(most: number) {
    this.#most = most
  }

  get(provider: string, model: string): V | undefined {
    return this.#providers.get(provider)?.get(model)
  }

  set(provider: string, model: string, value: V): void {
    if (this.#size === this.#most) this.clear()
    let models = this.#providers.get(provider)
    if (!models) {
      models = new Map()
      this.#providers.set(provider, models)
    }
    if (!models.has(model)) this.#size += 1
    models.set(model, value)
  }

  clear(): void {
    this.#providers.clear()
    this.#size = 0
  }
}
