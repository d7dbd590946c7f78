/** By the names that may be asked for, the names at the provider. */
export type ServedNames = ReadonlyMap<string, string>

/**
 * The models that providers serve at present, as far as a plugin keeps watch of it. Calls for them may go there, as if the
 * provider's manifest or entry named them.
 */
export class ServedModels {
  readonly #byProvider = new Map<string, ServedNames>()
  #edition = 0

  /** Changes with the models. */
  get edition(): number {
    return this.#edition
  }

  /** Sets what a provider serves; undefined when that is not known any more. */
  set(provider: string, models: ServedNames | undefined): void {
    if (areEqual(this.#byProvider.get(provider), models)) return
    if (models) this.#byProvider.set(provider, new Map(models))
    else this.#byProvider.delete(provider)
    this.#edition += 1
  }

  /** The name of a model at a provider that serves it. */
  nameAt(provider: string, model: string): string | undefined {
    return this.#byProvider.get(provider)?.get(model)
  }
}

const areEqual = (a: ServedNames | undefined, b: ServedNames | undefined): boolean =>
  a === b || (a?.size === b?.size && a !== undefined && [...a].every(([name, own]) => b?.get(name) === own))
