import type { TotalsPage } from '../index.ts'
import type { Backing } from './backing.ts'
import type { Change } from './block.ts'
import type { LogKeys } from './log-keys.ts'
import { addTo, parseTotals, type Totals } from './totals.ts'

const keptInMemory = 4096

/** Named sums that are written with the rows they sum up. Those touched last stay in memory. */
export class Cells {
  readonly #backing: Backing
  readonly #keys: LogKeys
  readonly #known = new Map<string, Totals>()
  /** What was added since the last call of `takeChanges`, summed up by the very array of names it was added to. */
  readonly #sums = new Map<readonly string[], Totals>()

  constructor(backing: Backing, keys: LogKeys) {
    this.#backing = backing
    this.#keys = keys
  }

  /** Adds to each of these cells. Rows that are alike share the array of their cells, and are summed up first. */
  add(names: readonly string[], amounts: Readonly<Totals>): void {
    let sum = this.#sums.get(names)
    if (!sum) {
      sum = {}
      this.#sums.set(names, sum)
    }
    addTo(sum, amounts)
  }

  /** The cells added to since the last call, as they go to disk. */
  takeChanges(): Change[] {
    const changes: Change[] = []
    const touched = new Map<string, Totals>()
    for (const [names, sum] of this.#sums) {
      for (const name of names) {
        const totals = touched.get(name) ?? this.#known.get(name) ?? this.#stored(name)
        touched.set(name, totals)
        addTo(totals, sum)
      }
    }
    this.#sums.clear()
    for (const [name, totals] of touched) {
      changes.push([this.#keys.cell(name), JSON.stringify(totals)])
      this.#known.delete(name)
      this.#known.set(name, totals)
    }
    for (const name of this.#known.keys()) {
      if (this.#known.size <= keptInMemory) break
      this.#known.delete(name)
    }
    return changes
  }

  /** Forgets what is in memory, after a write that failed or one that was not made here. */
  reset(): void {
    this.#known.clear()
    this.#sums.clear()
  }

  /** What deletes the cells in [from, to). They must all have been taken. */
  async deletions(from: string, to: string): Promise<Change[]> {
    const range = { gte: this.#keys.cell(from), lt: this.#keys.cell(to) }
    const keys = await this.#backing.database.keys(range).all()
    return keys.map((key) => [key, undefined])
  }

  /** The cells in [from, to). One that holds anything but sums is left out, and counted. */
  async read(from: string, to: string): Promise<TotalsPage> {
    const range = { gte: this.#keys.cell(from), lt: this.#keys.cell(to) }
    const cells: Array<[string, Totals]> = []
    let unreadable = 0
    for await (const [key, text] of this.#backing.database.iterator(range)) {
      const { totals, isSound } = parseTotals(text)
      if (isSound) cells.push([key.slice(this.#keys.cells.length), totals])
      else unreadable += 1
    }
    return unreadable === 0 ? { cells } : { cells, unreadable }
  }

  /** A stored cell that is no sum reads as empty, as nothing can be added to it; the next write replaces it. */
  #stored(name: string): Totals {
    const text = this.#backing.writer.read(this.#keys.cell(name))
    return text === undefined ? {} : parseTotals(text).totals
  }
}
