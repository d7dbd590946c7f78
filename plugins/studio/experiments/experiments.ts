import { type Context, conflict, newId, type Principal } from '#kernel'
import { checkVisibility } from '#kit'
import { ownerOf, Things } from '../owned.ts'
import type { Asked, Runs } from '../runs/runs.ts'
import type { Settings } from '../settings.ts'
import type { Studio } from '../studio.ts'
import type { Definition, ExperimentInput } from './input.ts'
import { type Means, planOf } from './plan.ts'
import { type ExperimentRow, experimentRow } from './rows.ts'

/** Experiments of one owner. */
const most = 1000

/** How an experiment is called and who sees it. */
type Head = Pick<ExperimentInput, 'name' | 'description' | 'visibility'>

/** Experiments: each is a definition that may change until it begins, and a run from then on. */
export class Experiments {
  readonly things: Things<ExperimentRow>
  readonly #context: Context<Settings>
  readonly #means: Means
  readonly #runs: Runs

  constructor(context: Context<Settings>, studio: Studio, runs: Runs) {
    this.things = new Things(context, {
      plural: 'experiments',
      name: 'experiment',
      most,
      schema: experimentRow,
    })
    this.#context = context
    this.#means = { context, studio, schemas: runs.schemas }
    this.#runs = runs
  }

  /** What an experiment says; undefined where it cannot be read any more. */
  async read({ body }: ExperimentRow): Promise<Definition | undefined> {
    return (await this.#runs.json.read(body))?.value as Definition | undefined
  }

  /** Stores an experiment that has not begun, after a look at whether it could. */
  async create(head: Head, said: Definition, caller: Principal, signal: AbortSignal): Promise<ExperimentRow> {
    await planOf(this.#means, said, caller, signal)
    const row = await this.#rowOf(head, said, caller)
    await this.things.rows.put(row.id, row)
    return row
  }

  /** Stores an experiment that begins at once. */
  async createAndRun(head: Head, said: Definition, asked: Omit<Asked, 'maxCostUsd'>, signal: AbortSignal) {
    const plan = await planOf(this.#means, said, asked.principal, signal)
    const row = { ...(await this.#rowOf(head, said, asked.principal)), has_run: true }
    const run = await this.#runs.prepare(row.id, runOf(row), plan, {
      ...asked,
      maxCostUsd: said.max_cost_usd,
    })
    await this.#context.store.transaction((tx) => {
      tx.create(this.things.rows, row.id, row)
      run.addIn(tx)
    })
    return row
  }

  /** Begins an experiment. Throws a conflict for one that has begun. */
  async run(row: ExperimentRow, said: Definition, asked: Omit<Asked, 'maxCostUsd'>, signal: AbortSignal) {
    const plan = await planOf(this.#means, said, asked.principal, signal)
    const run = await this.#runs.prepare(row.id, runOf(row), plan, {
      ...asked,
      maxCostUsd: said.max_cost_usd,
    })
    return this.#context.store.transaction((tx) => {
      const now = tx.get(this.things.rows, row.id)
      if (!now || now.has_run || now.body !== row.body) throw hasBegun(row)
      const next: ExperimentRow = { ...now, has_run: true }
      tx.put(this.things.rows, row.id, next)
      run.addIn(tx)
      return next
    })
  }

  /** Changes an experiment; what it says only until it begins. */
  async change(
    row: ExperimentRow,
    change: Partial<ExperimentRow>,
    said?: Definition,
  ): Promise<ExperimentRow> {
    const body = said && (await this.#runs.json.write(row, said))
    const changed = await this.things.rows.update(row.id, (now) => {
      if (!now || (body !== undefined && now.has_run)) return undefined
      return { ...now, ...change, ...(body !== undefined && { body }), updated_at: new Date().toISOString() }
    })
    if (changed) return changed
    throw hasBegun(row)
  }

  /** Deletes an experiment with its run, which is ended first where it goes on. */
  async delete({ id }: ExperimentRow): Promise<void> {
    await this.#runs.delete(id)
    await this.things.rows.delete(id)
  }

  async #rowOf(head: Head, said: Definition, caller: Principal): Promise<ExperimentRow> {
    const owner = ownerOf(caller)
    const { name = 'Experiment', description, visibility = 'private' } = head
    checkVisibility(visibility, owner, 'experiments')
    await this.things.checkRoom(owner)
    const now = new Date().toISOString()
    return {
      id: newId('exp_'),
      ...owner,
      visibility,
      name,
      ...(description !== undefined && { description }),
      body: await this.#runs.json.write(owner, said),
      has_run: false,
      created_at: now,
      updated_at: now,
    }
  }
}

const runOf = ({ id }: ExperimentRow) => ({ kind: 'experiment' as const, of: id })

const hasBegun = ({ id }: ExperimentRow) =>
  conflict(`The experiment ${id} has begun, and what it asks does not change any more. Make another one.`, {
    param: 'id',
  })
