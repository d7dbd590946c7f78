import type { Wire } from '../call/wire.ts'
import { type Found, PathTable } from './path-table.ts'

/** The wire that a path is of, and what stands in the path's parameters. */
export type FoundWire = Found<{ readonly path: string; readonly wire: Wire }>

/** The paths of a wire. */
export const pathsOf = ({ path, aliases = [] }: Wire): readonly string[] => [path, ...aliases]

/** The wires of a generation by their paths, all of them POST. */
export class WireTable extends PathTable<Omit<FoundWire, 'params'>> {
  readonly #all: ReadonlySet<Wire>

  constructor(wires: readonly Wire[]) {
    super(wires.flatMap((wire) => pathsOf(wire).map((path) => ({ path, wire }))))
    this.#all = new Set(wires)
  }

  /** The path of a wire that answers every POST to paths of this form, if there is one. */
  covering(form: string): string | undefined {
    return this.find(form.replaceAll(/\{\+\w+\}/g, 'x/x').replaceAll(/\{\w+\}/g, 'x'))?.path
  }

  /** All paths as the wires write them, sorted. */
  get paths(): string[] {
    return [...this.#all].flatMap(pathsOf).sort()
  }

  [Symbol.iterator](): Iterator<Wire> {
    return this.#all[Symbol.iterator]()
  }
}
