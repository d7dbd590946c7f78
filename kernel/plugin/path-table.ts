import { formOf, hasParameters, mostExactFirst, type Params, pathMatcher } from '../paths.ts'

/** A thing at a path that fits, with what stands in the path's parameters. */
export type Found<T> = T & { readonly params: Params }

interface Formed<T> {
  readonly thing: T
  readonly start: string
  match(path: string): Params | undefined
}

/** Things by their paths. Those without parameters are found at once, and of the others the most exact first. */
export class PathTable<T extends { readonly path: string }> {
  readonly #literal = new Map<string, Found<T>[]>()
  readonly #formed: Formed<T>[] = []

  constructor(things: readonly T[]) {
    for (const thing of mostExactFirst(things)) {
      const { path } = thing
      const start = path.slice(0, path.indexOf('{'))
      if (hasParameters(path)) this.#formed.push({ thing, start, match: pathMatcher(path) })
      else this.#literal.set(path, [...(this.#literal.get(path) ?? []), { ...thing, params: {} }])
    }
  }

  /** One that fits a path, where none fits more exactly. */
  find(path: string): Found<T> | undefined {
    const known = this.#literal.get(path)
    if (known) return known[0]
    for (const { thing, start, match } of this.#formed) {
      const params = path.startsWith(start) ? match(path) : undefined
      if (params) return { ...thing, params }
    }
    return undefined
  }

  /** All that fit a path in the form of the one that is found, whatever the names of their parameters. */
  findAll(path: string): readonly Found<T>[] {
    const first = this.find(path)
    const known = this.#literal.get(path)
    if (known || !first) return known ?? []
    const form = formOf(first.path)
    return this.#formed.flatMap(({ thing, match }) => {
      const params = formOf(thing.path) === form ? match(path) : undefined
      return params ? [{ ...thing, params }] : []
    })
  }
}
