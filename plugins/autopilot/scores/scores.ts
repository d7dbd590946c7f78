import type { Collection, Context, Transaction } from '#kernel'
import { followRows } from '#kit'
import { type ScoreRow, scoreRow } from './row.ts'

/** The scores of models, in the store and in memory of every thread. */
export class Scores {
  readonly #rows: Collection<ScoreRow>
  readonly #known = new Map<string, ScoreRow>()

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#rows = store.collection('scores', { schema: scoreRow })
  }

  /** Takes in what is stored, and from then on every change, of which `told` is told; returns what ends that. */
  load(told: (row: ScoreRow | undefined) => void): Promise<() => void> {
    return followRows(this.#rows, (id, row) => {
      if (row) this.#known.set(id, row)
      else this.#known.delete(id)
      told(row)
    })
  }

  get all(): readonly ScoreRow[] {
    return [...this.#known.values()]
  }

  of(model: string): ScoreRow | undefined {
    return this.#known.get(model)
  }

  put(transaction: Transaction, row: ScoreRow): void {
    transaction.put(this.#rows, row.model, row)
  }

  /** Gives a model no more calls until it is calibrated again; false where that was done before. */
  async suspend(model: string, reason: string): Promise<boolean> {
    let isNew = false
    await this.#rows.update(model, (row) => {
      isNew = row !== undefined && row.suspended === undefined
      return row && isNew ? { ...row, suspended: { at: new Date().toISOString(), reason } } : undefined
    })
    return isNew
  }
}
