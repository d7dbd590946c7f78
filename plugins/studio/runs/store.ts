import { z } from 'zod'
import type { Collection, Context, Page, PageOptions, Transaction } from '#kernel'
import { type AnswerRow, answerRow, isOver, openRun, type RunKind, type RunRow, runRow } from './rows.ts'

/** Stands in the index for every user. No id is empty. */
const any = ''

/** Whose runs, and of what. */
export interface RunFilter {
  readonly kind: RunKind
  readonly of: string
  readonly user?: string | undefined
}

/** Runs, their plans and their answers in the store. An answer and what it adds to its run is one change. */
export class RunStore {
  readonly runs: Collection<RunRow>
  readonly #store: Context<unknown>['store']
  readonly #answers: Collection<AnswerRow>
  /** Plans by run, and texts of answers by their keys: JSON, sealed where that is asked for. */
  readonly #texts: Collection<{ body: string }>

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#store = store
    this.runs = store.collection('runs', {
      schema: runRow,
      indexes: {
        listed: ({ kind, of, principal, created_at }) =>
          [any, principal.userId].map((user) => [kind, of, user, created_at]),
        user: ({ principal }) => principal.userId,
        open_of: (row) => (isOver(row) ? undefined : (row.principal.userId ?? row.principal.keyId)),
        finished: ({ finished_at }) => finished_at,
      },
    })
    this.#answers = store.collection('answers', { schema: answerRow })
    this.#texts = store.collection('run-texts', { schema: z.object({ body: z.string() }) })
  }

  addIn(transaction: Transaction, row: RunRow, plan: string): void {
    transaction.create(this.runs, row.id, row)
    transaction.put(this.#texts, row.id, { body: plan })
  }

  /** Newest first. */
  list({ kind, of, user = any }: RunFilter, page: PageOptions): Promise<Page<RunRow>> {
    return this.runs.list({ ...page, index: 'listed', equals: [kind, of, user], reverse: true })
  }

  /** The ids of all runs of something. */
  async idsOf({ kind, of }: RunFilter): Promise<string[]> {
    const ids: string[] = []
    for await (const [id] of this.runs.scan({ index: 'listed', equals: [kind, of, any] })) ids.push(id)
    return ids
  }

  async planOf(run: string): Promise<string | undefined> {
    return (await this.#texts.get(run))?.body
  }

  async textOf({ run, n }: Pick<AnswerRow, 'run' | 'n'>): Promise<string | undefined> {
    return (await this.#texts.get(keyOf(run, n)))?.body
  }

  /** The answers of a run, in the order of its plan. */
  async answersOf(run: string): Promise<AnswerRow[]> {
    const rows: AnswerRow[] = []
    for await (const [, row] of this.#answers.scan(rangeOf(run))) rows.push(row)
    return rows
  }

  answersPage(run: string, page: PageOptions): Promise<Page<AnswerRow>> {
    return this.#answers.list({ ...page, ...rangeOf(run) })
  }

  /** Changes a run that has not ended. Throws `RunOver` for another one. */
  change(id: string, change: (row: RunRow) => RunRow): Promise<RunRow> {
    return this.#store.transaction((tx) => {
      const changed = change(openRun(tx.get(this.runs, id)))
      tx.put(this.runs, id, changed)
      return changed
    })
  }

  /** Stores what came of a call, and adds it to the sums of its run. Throws `RunOver` where that has ended. */
  async answer(row: AnswerRow, text: string | undefined): Promise<void> {
    await this.#store.transaction((tx) => {
      const run = openRun(tx.get(this.runs, row.run))
      const key = keyOf(row.run, row.n)
      tx.put(this.#answers, key, row)
      if (text !== undefined) tx.put(this.#texts, key, { body: text })
      tx.put(this.runs, run.id, {
        ...run,
        done: run.done + 1,
        errors: run.errors + (row.status === 'error' ? 1 : 0),
        cost_nano: run.cost_nano + (row.cost_nano ?? 0) + row.judge_cost_nano,
      })
    })
  }

  /** Ends a run; false where it has ended already. */
  finish(id: string, change: (row: RunRow) => RunRow): Promise<boolean> {
    return this.#store.transaction((tx) => {
      const row = tx.get(this.runs, id)
      if (!row || isOver(row)) return false
      tx.put(this.runs, id, { ...change(row), finished_at: new Date().toISOString() })
      return true
    })
  }

  /** Deletes a run with all that is kept of it; false when there is none. */
  async delete(id: string): Promise<boolean> {
    const answers = await this.answersOf(id)
    return this.#store.transaction((tx) => {
      if (!tx.get(this.runs, id)) return false
      for (const { n } of answers) {
        tx.delete(this.#answers, keyOf(id, n))
        tx.delete(this.#texts, keyOf(id, n))
      }
      tx.delete(this.#texts, id)
      tx.delete(this.runs, id)
      return true
    })
  }
}

const keyOf = (run: string, n: number): string => `${run} ${String(n).padStart(6, '0')}`

const rangeOf = (run: string) => ({ from: `${run} `, to: `${run}!` })
