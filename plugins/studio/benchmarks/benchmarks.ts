import { type Context, conflict, newId, notFound, type Principal } from '#kernel'
import { checkVisibility, scopeOf } from '#kit'
import { ownerOf, Things } from '../owned.ts'
import type { Plan } from '../runs/plan.ts'
import { isOver, type RunRow } from '../runs/rows.ts'
import type { Asked, Runs } from '../runs/runs.ts'
import type { Settings } from '../settings.ts'
import type { Definition } from './input.ts'
import { planOf } from './plan.ts'
import { type BenchmarkRow, benchmarkRow } from './rows.ts'

/** Benchmarks of one owner. */
const most = 200

/** Benchmarks, and their runs. */
export class Benchmarks {
  readonly things: Things<BenchmarkRow>
  readonly #context: Context<Settings>
  readonly #runs: Runs

  constructor(context: Context<Settings>, runs: Runs) {
    this.things = new Things(context, { plural: 'benchmarks', name: 'benchmark', most, schema: benchmarkRow })
    this.#context = context
    this.#runs = runs
  }

  /** What a benchmark says. Throws a conflict where that cannot be read any more. */
  async read({ body }: BenchmarkRow): Promise<Definition> {
    const opened = await this.#runs.json.read(body)
    if (opened) return opened.value as Definition
    throw conflict('What the benchmark asks cannot be read any more. Make another one.', { param: 'id' })
  }

  async create(
    { name, description, visibility = 'private' }: Pick<BenchmarkRow, 'name'> & Partial<BenchmarkRow>,
    said: Definition,
    caller: Principal,
  ): Promise<BenchmarkRow> {
    const owner = ownerOf(caller)
    checkVisibility(visibility, owner, 'benchmarks')
    await this.#planOf(said)
    await this.things.checkRoom(owner)
    const now = new Date().toISOString()
    const row: BenchmarkRow = {
      id: newId('bm_'),
      ...owner,
      visibility,
      name,
      ...(description !== undefined && { description }),
      body: await this.#runs.json.write(owner, said),
      created_at: now,
      updated_at: now,
    }
    await this.things.rows.put(row.id, row)
    return row
  }

  /** Changes a benchmark; runs that have begun ask what they asked. */
  async change(row: BenchmarkRow, change: Partial<BenchmarkRow>, said: Definition): Promise<BenchmarkRow> {
    await this.#planOf(said)
    const body = await this.#runs.json.write(row, said)
    const updated_at = new Date().toISOString()
    const changed = await this.things.rows.update(
      row.id,
      (now) => now && { ...now, ...change, body, updated_at },
    )
    if (changed) return changed
    throw notFound(`There is no benchmark ${row.id}.`, { param: 'id' })
  }

  /** Begins a run of a benchmark; returns its id. */
  async run({ id: of }: BenchmarkRow, said: Definition, asked: Asked): Promise<string> {
    const plan = await this.#planOf(said)
    const id = newId('run_')
    const run = await this.#runs.prepare(id, { kind: 'benchmark', of }, plan, asked)
    await this.#context.store.transaction((tx) => {
      tx.require(this.things.rows, of, (row) => row !== undefined)
      run.addIn(tx)
    })
    return id
  }

  /** A run of a benchmark that the caller began, or with an admin key any. Throws a not found. */
  async findRun(of: string, id: string, caller: Principal | undefined): Promise<RunRow> {
    const user = scopeOf(caller)
    const row = await this.#runs.store.runs.get(id)
    if (row?.of === of && (user === undefined || row.principal.userId === user)) return row
    throw notFound(`The benchmark ${of} has no run ${id}.`, { param: 'run_id' })
  }

  /** Deletes a benchmark with its runs. Throws a conflict while one goes on, unless it is ended by force. */
  async delete({ id }: BenchmarkRow, how: { readonly force: boolean }): Promise<void> {
    const ids = await this.#runs.store.idsOf({ kind: 'benchmark', of: id })
    const rows = await Promise.all(ids.map((run) => this.#runs.store.runs.get(run)))
    if (!how.force && rows.some((row) => row && !isOver(row)))
      throw conflict('A run has not ended. Stop it, or say force=true.', { param: 'force' })
    await this.things.rows.delete(id)
    for (const run of ids) await this.#runs.delete(run)
  }

  #planOf(said: Definition): Promise<Plan> {
    const { max_calls: maxCalls } = this.#context.settings
    return planOf(said, { schemas: this.#runs.schemas, maxCalls })
  }
}
