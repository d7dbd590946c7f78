import type { Disagreement } from '../../index.ts'
import type { Database } from '../group-commit.ts'

const changesPerBatch = 10_000

/** The disagreements found in a database, and the changes that put them right. */
export class Comparison {
  readonly found: Disagreement[] = []
  readonly #changes = new Map<string, string | undefined>()

  /** Notes what can be put right; nothing when there is none of it. */
  note(part: string, count: number, what: string): void {
    if (count > 0) this.found.push({ part, found: `${count} ${what}`, canBeMended: true })
  }

  /** Notes what cannot be put right. */
  lament(part: string, found: string): void {
    this.found.push({ part, found, canBeMended: false })
  }

  /** Has a key become this value, or go. */
  mend(key: string, value: string | undefined): void {
    this.#changes.set(key, value)
  }

  /** Writes the changes; on disk when it resolves. The changes already written stay right when it is cut short. */
  async write(database: Database): Promise<void> {
    const changes = [...this.#changes]
    for (let at = 0; at < changes.length; at += changesPerBatch) {
      const some = changes.slice(at, at + changesPerBatch)
      const operations = some.map(([key, value]) =>
        value === undefined ? ({ type: 'del', key } as const) : ({ type: 'put', key, value } as const),
      )
      await database.batch(operations, { sync: true })
    }
  }
}
