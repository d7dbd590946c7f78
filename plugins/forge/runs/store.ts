import { z } from 'zod'
import {
  type Collection,
  type Context,
  conflict,
  type Page,
  type PageOptions,
  type Transaction,
} from '#kernel'
import { placeOf, placesOf, type RunFilter } from './listing.ts'
import { isOver, openRun, type RunRow, runRow } from './rows.ts'
import { StepStore } from './step-store.ts'

/** Runs and their texts in the store, with their steps. */
export class RunStore {
  readonly runs: Collection<RunRow>
  readonly #store: Context<unknown>['store']
  readonly steps: StepStore
  /** Input and output of runs: JSON, sealed where that is asked for. */
  readonly #texts: Collection<{ body: string }>
  /** Runs by the keys that clients gave, so that a repeated request makes no other run. */
  readonly #asked: Collection<{ run: string; sha256: string }>

  constructor({ store }: Pick<Context<unknown>, 'store'>) {
    this.#store = store
    this.runs = store.collection('runs', {
      schema: runRow,
      indexes: {
        listed: placesOf,
        user: ({ principal }) => principal.userId,
        /** Those that have not ended, by the workflow that they need. */
        open: (row) => (isOver(row) ? undefined : row.workflow),
        open_of: (row) => (isOver(row) ? undefined : (row.principal.userId ?? row.principal.keyId)),
        open_in: (row) => (isOver(row) ? undefined : row.batch),
        finished: ({ finished_at }) => finished_at,
      },
    })
    this.steps = new StepStore(store, this.runs)
    this.#texts = store.collection('texts', { schema: z.object({ body: z.string() }) })
    this.#asked = store.collection('asked', { schema: z.object({ run: z.string(), sha256: z.string() }) })
  }

  /**
   * Stores a new run with its input. `asked` is the key of its request with the hash of what it asks for: when there is a run of
   * that key, its id is returned in place of the new one's, and nothing is stored. `also` makes the job.
   */
  add(
    row: RunRow,
    input: string,
    asked: { readonly key: string; readonly sha256: string } | undefined,
    also: (transaction: Transaction) => void,
  ): Promise<string> {
    return this.#store.transaction((tx) => {
      const before = asked && tx.get(this.#asked, asked.key)
      if (before && before.sha256 !== asked?.sha256)
        throw conflict('This Idempotency-Key was used for a run with another workflow or input.', {
          param: 'Idempotency-Key',
        })
      if (before) return before.run
      if (asked) tx.put(this.#asked, asked.key, { run: row.id, sha256: asked.sha256 })
      tx.create(this.runs, row.id, row)
      tx.put(this.#texts, inputKey(row.id), { body: input })
      also(tx)
      return row.id
    })
  }

  list(filter: RunFilter, page: PageOptions): Promise<Page<RunRow>> {
    return this.runs.list({ ...page, index: 'listed', equals: placeOf(filter), reverse: true })
  }

  count(filter: RunFilter): Promise<number> {
    return this.runs.count({ index: 'listed', equals: placeOf(filter) })
  }

  /** The ids of the runs of a workflow, or in a batch, that have not ended. */
  async openOf(of: { readonly workflow: string } | { readonly batch: string }): Promise<string[]> {
    const where =
      'batch' in of ? { index: 'open_in', equals: of.batch } : { index: 'open', equals: of.workflow }
    const ids: string[] = []
    for await (const [id] of this.runs.scan(where)) ids.push(id)
    return ids
  }

  async textOf(run: string, which: 'input' | 'output'): Promise<string | undefined> {
    return (await this.#texts.get(which === 'input' ? inputKey(run) : outputKey(run)))?.body
  }

  /** Changes a run that has not ended. Throws `RunOver` for another one. */
  change(id: string, change: (row: RunRow) => RunRow): Promise<RunRow> {
    return this.#store.transaction((tx) => {
      const row = openRun(tx.get(this.runs, id))
      const changed = change(row)
      tx.put(this.runs, id, changed)
      return changed
    })
  }

  /** Ends a run, with its output if it has one; false where it has ended already. */
  finish(id: string, change: (row: RunRow) => RunRow, output?: string): Promise<boolean> {
    return this.#store.transaction((tx) => {
      const row = tx.get(this.runs, id)
      if (!row || isOver(row)) return false
      tx.put(this.runs, id, { ...change(row), finished_at: new Date().toISOString() })
      if (output !== undefined) tx.put(this.#texts, outputKey(id), { body: output })
      return true
    })
  }

  /** Deletes a run with all that is kept of it; false when there is none. */
  async delete(id: string): Promise<boolean> {
    const row = await this.runs.get(id)
    if (!row) return false
    const paths = await this.steps.pathsOf(id)
    await this.#store.transaction((tx) => {
      this.steps.deleteIn(tx, id, paths)
      tx.delete(this.#texts, inputKey(id))
      tx.delete(this.#texts, outputKey(id))
      if (row.asked_by !== undefined) tx.delete(this.#asked, row.asked_by)
      tx.delete(this.runs, id)
    })
    return true
  }
}

const inputKey = (run: string): string => `${run} input`
const outputKey = (run: string): string => `${run} output`
