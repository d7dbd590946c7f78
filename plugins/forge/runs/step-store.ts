import {
  type Collection,
  conflict,
  notFound,
  type Page,
  type PageOptions,
  type Store,
  type Transaction,
} from '#kernel'
import { isOver, isTop, openRun, type RunRow, type StepRow, stepKey, stepRow } from './rows.ts'

/** The steps of runs in the store. What a step did and what that adds to its run is one change. */
export class StepStore {
  readonly #store: Store
  readonly #runs: Collection<RunRow>
  readonly #steps: Collection<StepRow>

  constructor(store: Store, runs: Collection<RunRow>) {
    this.#store = store
    this.#runs = runs
    this.#steps = store.collection('steps', {
      schema: stepRow,
      indexes: { run: ({ run, started_at }) => [[run, started_at]] },
    })
  }

  /** The steps of a run in the order in which they began. */
  list(run: string, page: PageOptions): Promise<Page<StepRow>> {
    return this.#steps.list({ ...page, index: 'run', equals: [run] })
  }

  /** All steps of a run, by their paths. */
  async of(run: string): Promise<Map<string, StepRow>> {
    const steps = new Map<string, StepRow>()
    for await (const [, row] of this.#steps.scan({ from: `${run} `, to: `${run}!` })) steps.set(row.path, row)
    return steps
  }

  get(run: string, path: string): Promise<StepRow | undefined> {
    return this.#steps.get(stepKey(run, path))
  }

  /** Stores that a step begins, or waits. */
  async begin(step: StepRow): Promise<void> {
    await this.#store.transaction((tx) => {
      openRun(tx.get(this.#runs, step.run))
      tx.put(this.#steps, stepKey(step.run, step.path), step)
    })
  }

  /** Stores how a step ended, and adds it to the sums of its run. `change` gets the run with these. */
  async end(step: StepRow, change: (run: RunRow) => RunRow): Promise<void> {
    await this.#store.transaction((tx) => {
      const row = openRun(tx.get(this.#runs, step.run))
      tx.put(this.#steps, stepKey(step.run, step.path), step)
      tx.put(this.#runs, row.id, change(withStep(row, step)))
    })
  }

  /**
   * Ends a step that waits for a person, as that one decided, and the wait of its run; returns the number of that wait. Throws a
   * conflict where the step waits no more.
   */
  decide(run: string, path: string, decided: (step: StepRow) => StepRow): Promise<number> {
    return this.#store.transaction((tx) => {
      const row = tx.get(this.#runs, run)
      const step = tx.get(this.#steps, stepKey(run, path))
      if (!row || !step) throw notFound(`The run ${run} has no step ${path}.`, { param: 'step_id' })
      if (isOver(row)) throw conflict(`The run is ${row.status}.`, { param: 'id' })
      if (step.status !== 'pending')
        throw conflict(`The step ${path} is ${step.status}.`, { param: 'step_id' })
      const next = decided(step)
      tx.put(this.#steps, stepKey(run, path), next)
      tx.put(this.#runs, run, { ...withStep(row, next), turn: row.turn + 1 })
      return row.turn
    })
  }

  async pathsOf(run: string): Promise<string[]> {
    return [...(await this.of(run)).keys()]
  }

  deleteIn(transaction: Transaction, run: string, paths: readonly string[]): void {
    for (const path of paths) transaction.delete(this.#steps, stepKey(run, path))
  }
}

const withStep = (run: RunRow, { path, tokens_in, tokens_out, cost_nano, output = '' }: StepRow): RunRow => ({
  ...run,
  steps_completed: run.steps_completed + (isTop(path) ? 1 : 0),
  tokens_in: run.tokens_in + tokens_in,
  tokens_out: run.tokens_out + tokens_out,
  cost_nano: run.cost_nano + cost_nano,
  bytes: run.bytes + output.length,
})
