import { byName } from '#kit'

/** The target of a name. */
export interface Alias {
  /** A model, or the name of another alias. */
  readonly model: string
  /** Parameters for where the request has none; those of the alias asked for outweigh those further on. */
  readonly defaults: Readonly<Record<string, unknown>>
}

export type Aliases = Readonly<Record<string, Alias>>

/**
 * Looks names up. Where an alias leads is worked out here, once. Globs hold for names that clients ask for, never for what an alias leads to,
 * so that `*` can stand for everything else. Needs aliases without a loop.
 */
export function compileAliases(aliases: Aliases): (name: string) => Alias | undefined {
  const next = exactly(aliases)
  const whole = Object.entries(aliases).map(
    ([name, first]) => [name, walk(first, next).reduce(merged)] as const,
  )
  return byName(Object.fromEntries(whole))
}

/** The names of a loop, its first one at both ends; nothing when every alias comes to an end. */
export function findLoop(aliases: Aliases): readonly string[] | undefined {
  const next = exactly(aliases)
  for (const first of Object.values(aliases)) {
    const way = walk(first, next)
    const start = way.indexOf(way.at(-1)!)
    if (start < way.length - 1) return way.slice(start).map(({ model }) => model)
  }
  return undefined
}

/** Which alias follows after a model name. One that leads to itself is an end: so a model can have defaults. */
function exactly(aliases: Aliases): (model: string) => Alias | undefined {
  const exact = new Map(Object.entries(aliases).map(([name, alias]) => [name.toLowerCase(), alias]))
  return (model) => exact.get(model.toLowerCase())
}

/** An alias and those that it leads through; ends with one that is there already where they go round in a loop. */
function walk(first: Alias, next: (model: string) => Alias | undefined): Alias[] {
  const way = [first]
  for (let alias = next(first.model); alias && alias !== way.at(-1); alias = next(alias.model)) {
    const again = way.includes(alias)
    way.push(alias)
    if (again) break
  }
  return way
}

const merged = (alias: Alias, after: Alias): Alias => ({
  model: after.model,
  defaults: { ...after.defaults, ...alias.defaults },
})
