import { compileGlobs } from '#kit'

/** Where a call may go. */
export interface Target {
  /** A model, `provider/model`, or `provider/*` for the model that was asked for. */
  readonly model: string
  /** Its share of the calls; without any in a chain, the order counts. */
  readonly weight?: number | undefined
}

export type Chains = Readonly<Record<string, readonly Target[]>>

/** Finds the chain of a model: an exact name outweighs a glob, an earlier glob a later one; case does not count. */
export function compileChains(chains: Chains): (model: string) => readonly Target[] | undefined {
  const isGlob = (name: string): boolean => /[*?]/.test(name)
  const entries = Object.entries(chains)
  const exact = new Map(
    entries.filter(([name]) => !isGlob(name)).map(([name, chain]) => [name.toLowerCase(), chain]),
  )
  const globs = entries
    .filter(([name]) => isGlob(name))
    .map(([name, chain]) => ({ matches: compileGlobs([name]), chain }))
  return (model) => exact.get(model.toLowerCase()) ?? globs.find(({ matches }) => matches(model))?.chain
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
  return [...new Set(drawn.map(({ model }) => (model.endsWith('/*') ? model.slice(0, -1) + asked : model)))]
}
