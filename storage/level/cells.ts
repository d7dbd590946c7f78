import type { Backing } from './backing.ts'
import type { Change } from './block.ts'
import type { LogKeys } from './log-keys.ts'

type Totals = Record<string, number>

const keptInMemory = 4096

/** Named sums that are written with the rows they sum up. Those touched last stay in memory. */
export class Cells {
  readonly #backing: Backing
  readonly #keys: LogKeys
  readonly #known = new Map<string, Totals>()
  readonly #touched = new Map<string, Totals>()
  /** What was added since the last call of `takeChanges`, summed up by the very array of names it was added to. */
  readonly #sums = new Map<readonly string[], Totals>()

  constructor(backing: Backing, keys: LogKeys) {
    this.#backing = backing
    this.#keys = keys
  }

  /** Adds to each of these cells. Rows that are alike share the array of their cells, and are summed up first. */
  add(names: readonly string[], amounts: Readonly<Totals>): void {
    const sum = this.#sums.get(names)
    if (sum) addTo(sum, amounts)
    else this.#sums.set(names, { ...amounts })
  }

  /** The cells added to since the last call, as they go to disk. */
  takeChanges(): Change[] {
    const changes: Change[] = []
    for (const [names, sum] of this.#sums) for (const name of names) addTo(this.#totalsOf(name), sum)
    this.#sums.clear()
    for (const [name, totals] of this.#touched) {
      changes.push([this.#keys.cell(name), JSON.stringify(totals)])
      this.#known.delete(name)
      this.#known.set(name, totals)
    }
    this.#touched.clear()
    for (const name of this.#known.keys()) {
      if (this.#known.size <= keptInMemory) break
      this.#known.delete(name)
    }
    return changes
  }

  /** Forgets what is in memory, after a write that failed or one that was not made here. */
  reset(): void {
    this.#known.clear()
    this.#touched.clear()
    this.#sums.clear()
  }

  /** What deletes the cells in [from, to). They must all have been taken. */
  async deletions(from: string, to: string): Promise<Change[]> {
    const range = { gte: this.#keys.cell(from), lt: this.#keys.cell(to) }
    const keys = await this.#backing.database.keys(range).all()
    return keys.map((key) => [key, undefined])
  }

  async read(from: string, to: string): Promise<Array<[cell: string, totals: Totals]>> {
    const range = { gte: this.#keys.cell(from), lt: this.#keys.cell(to) }
    const found: Array<[string, Totals]> = []
    for await (const [key, text] of this.#backing.database.iterator(range)) {
      found.push([key.slice(this.#keys.cells.length), parseTotals(text) ?? {}])
    }
    return found
  }

  #totalsOf(name: string): Totals {
    let totals = this.#touched.get(name)
    if (!totals) {
      totals = this.#known.get(name) ?? this.#stored(name)
      this.#touched.set(name, totals)
    }
    return totals
  }

  #stored(name: string): Totals {
    const text = this.#backing.writer.read(this.#keys.cell(name))
    return (text === undefined ? undefined : parseTotals(text)) ?? {}
  }
}

function addTo(totals: Totals, amounts: Readonly<Totals>): void {
  for (const field in amounts) totals[field] = (totals[field] ?? 0) + (amounts[field] ?? 0)
}

function parseTotals(text: string): Totals | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
