/** Models with a label of their own; further ones are `other`. */
const mostModels = 100
/** Longer values are cut. */
const longest = 128

/** The labels of a sample as they are written, between its braces. */
export const written = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${escaped(value)}"`)
    .join(',')

const escaped = (value: string): string =>
  value.slice(0, longest).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')

/**
 * Labels for the models of providers. Clients choose the names of models, so a model gets a label once it has answered, the
 * first hundred of them; all others are `other`.
 */
export class ModelLabels {
  readonly #known: Map<string, string>
  readonly #others = new Map<string, string>()

  /** `known` keeps the labels of models that have answered. */
  constructor(known: Map<string, string>) {
    this.#known = known
  }

  /** The labels of a provider and a model; both empty where a call reached no provider. */
  of(provider = '', model = ''): string {
    return this.#known.get(`${provider} ${model}`) ?? this.#other(provider)
  }

  /** The model has answered. */
  learn(provider: string, model: string): void {
    const key = `${provider} ${model}`
    if (this.#known.size < mostModels && !this.#known.has(key))
      this.#known.set(key, written({ provider, model }))
  }

  /** Providers are the operator's, so there are few. */
  #other(provider: string): string {
    let labels = this.#others.get(provider)
    if (labels === undefined) {
      labels = written({ provider, model: provider === '' ? '' : 'other' })
      this.#others.set(provider, labels)
    }
    return labels
  }
}
