import { hasParameters, mostExactFirst, type Params, pathMatcher } from '../../kit/http/path-forms.ts'
import type { Wire } from '../call/wire.ts'

/** The wire that a path is of, and what stands in the path's parameters. */
export interface FoundWire {
  readonly wire: Wire
  readonly params: Params
}

/** The paths of a wire. */
export const pathsOf = ({ path, aliases = [] }: Wire): readonly string[] => [path, ...aliases]

/** The wires of a generation by their paths, all of them POST. One without parameters is found at once. */
export class WireTable {
  readonly #exact = new Map<string, FoundWire>()
  /** The most exact paths first. */
  readonly #formed: {
    readonly wire: Wire
    readonly start: string
    match(path: string): Params | undefined
  }[] = []
  readonly #all: readonly Wire[]

  constructor(wires: Iterable<Wire>) {
    this.#all = [...new Set(wires)]
    const paths = this.#all.flatMap((wire) => pathsOf(wire).map((path) => ({ wire, path })))
    for (const { wire, path } of mostExactFirst(paths)) {
      const start = path.slice(0, path.indexOf('{'))
      if (hasParameters(path)) this.#formed.push({ wire, start, match: pathMatcher(path) })
      else this.#exact.set(path, { wire, params: {} })
    }
  }

  find(path: string): FoundWire | undefined {
    const known = this.#exact.get(path)
    if (known) return known
    for (const { wire, start, match } of this.#formed) {
      const params = path.startsWith(start) ? match(path) : undefined
      if (params) return { wire, params }
    }
    return undefined
  }

  /** The path of a wire that answers every POST to paths of this form, if there is one. */
  covering(form: string): string | undefined {
    const path = form.replaceAll(/\{\+\w+\}/g, 'x/x').replaceAll(/\{\w+\}/g, 'x')
    const found = this.find(path)
    return found && pathsOf(found.wire).find((own) => own === path || pathMatcher(own)(path))
  }

  /** All paths as the wires write them, sorted. */
  get paths(): string[] {
    return this.#all.flatMap(pathsOf).sort()
  }

  [Symbol.iterator](): Iterator<Wire> {
    return this.#all[Symbol.iterator]()
  }
}
