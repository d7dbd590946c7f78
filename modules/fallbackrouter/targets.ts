/** Where a call may go. */
export interface Target {
  /** A model, `provider/model`, or `provider/*` for the model that was asked for. */
  readonly model: string
  /** Its share of the calls; without any in a chain, the order counts. */
  readonly weight?: number | undefined
}

/**
 * The models of a chain in the order to try them, for the model that was asked for, its name without a provider. With
 * weights, each place is drawn from those left in proportion to them (Efraimidis and Spirakis, 2006).
 */
export function inOrder(chain: readonly Target[], asked: string, random: () => number): string[] {
  const isWeighted = chain.some(({ weight }) => weight !== undefined)
  const drawn = isWeighted
    ? chain
        .map((target) => ({ target, draw: -Math.log(1 - random()) / (target.weight ?? 1) }))
        .sort((a, b) => a.draw - b.draw)
        .map(({ target }) => target)
    : chain
  return [
    ...new Set(drawn.map(({ model }) => (model.endsWith('/*') ? at(model.slice(0, -1), asked) : model))),
  ]
}

/** A model at a provider. Of a provider's own model another one says whose it is, and the provider itself does not. */
const at = (provider: string, asked: string): string =>
  asked.startsWith(provider) ? asked : provider + asked
