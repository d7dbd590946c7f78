import type { SealedJson } from '#kit'
import type { Usage } from '../steps/ask.ts'
import { type Problem, StepFault } from '../steps/fault.ts'
import { bytesOf, mostOfRun, tooLarge, type Value } from '../workflows/value.ts'
import { type Ended, skipped } from './ended.ts'
import { noSums, type RunRow, type StepRow } from './rows.ts'
import type { RunStore } from './store.ts'

interface Parts {
  readonly run: RunRow
  readonly store: RunStore
  readonly json: SealedJson
  /** Bytes of JSON of one value. */
  readonly mostOfOne: number
  /** Milliseconds that the run has run for. */
  readonly ranMs: () => number
}

/** What the steps of a run did, on disk. Who goes on with a run finds here what was done. */
export class Journal {
  readonly #parts: Parts
  readonly #known: ReadonlyMap<string, StepRow>
  #bytes: number

  private constructor(parts: Parts, known: ReadonlyMap<string, StepRow>) {
    this.#parts = parts
    this.#known = known
    this.#bytes = parts.run.bytes
  }

  static async open(parts: Parts): Promise<Journal> {
    return new Journal(parts, await parts.store.steps.of(parts.run.id))
  }

  row(path: string): StepRow | undefined {
    return this.#known.get(path)
  }

  /** How a step ended in an earlier life of the run; undefined where it has not. `isFatal` says what its failure means. */
  async endOf(path: string, isFatal: boolean): Promise<Ended | undefined> {
    const row = this.#known.get(path)
    if (!row) return undefined
    const { status, error: problem, output } = row
    if (status === 'skipped') return skipped
    if (status === 'failed' && problem) return { status, problem, path, isFatal }
    if (status !== 'completed' || output === undefined) return undefined
    const opened = await this.#parts.json.read(output)
    if (!opened) throw new StepFault('unreadable', `What ${path} put out cannot be read any more.`)
    return { status, output: opened.value as Value }
  }

  /** A step begins, for the first time or once more. */
  async begin(path: string, type: string, attempt: number, input?: unknown, more: Partial<StepRow> = {}) {
    const row: StepRow = {
      run: this.#parts.run.id,
      path,
      type,
      attempt,
      status: 'running',
      ...noSums,
      latency_ms: 0,
      started_at: this.#known.get(path)?.started_at ?? new Date().toISOString(),
      ...(input !== undefined && { input: await this.#write(input, 'input') }),
      ...more,
    }
    await this.#parts.store.steps.begin(row)
    return row
  }

  /** A step has done its work. A value that is too large throws a `StepFault`, and nothing is stored. */
  async complete(row: StepRow, output: Value, usage?: Usage): Promise<Ended> {
    const stored = await this.#write(output, 'output')
    if (this.#bytes + stored.length > mostOfRun) throw tooLarge('What the steps of a run put out', mostOfRun)
    this.#bytes += stored.length
    await this.#end({ ...row, status: 'completed', output: stored }, usage)
    return { status: 'completed', output }
  }

  /** A step that others are a part of has ended: its output is theirs, which are stored. */
  async close(row: StepRow): Promise<void> {
    await this.#end({ ...row, status: 'completed' })
  }

  async fail(row: StepRow, problem: Problem, isFatal: boolean, usage?: Usage): Promise<Ended> {
    await this.#end({ ...row, status: 'failed', error: problem }, usage)
    return { status: 'failed', problem, path: row.path, isFatal }
  }

  async skip(path: string, type: string): Promise<Ended> {
    const row: StepRow = {
      run: this.#parts.run.id,
      path,
      type,
      attempt: 0,
      status: 'skipped',
      ...noSums,
      latency_ms: 0,
      started_at: new Date().toISOString(),
    }
    await this.#end(row)
    return skipped
  }

  async #end(row: StepRow, usage?: Usage): Promise<void> {
    const { tokens_in, tokens_out, cost_nano, trace_id } = usage ?? { ...noSums, trace_id: undefined }
    const latency_ms = Math.max(0, Date.now() - Date.parse(row.started_at))
    const ended = { ...row, tokens_in, tokens_out, cost_nano, latency_ms, ...(trace_id && { trace_id }) }
    const ran_ms = this.#parts.ranMs()
    await this.#parts.store.steps.end(ended, (run) => ({ ...run, ran_ms }))
  }

  /** The stored form of a value. */
  async #write(value: unknown, what: string): Promise<string> {
    const { run, json, mostOfOne } = this.#parts
    if (bytesOf(value) > mostOfOne) throw tooLarge(`The ${what} of a step`, mostOfOne)
    return json.write({ user_id: run.principal.userId, tenant: run.principal.tenant }, value)
  }
}
