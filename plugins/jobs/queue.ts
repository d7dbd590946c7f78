import {
  type AddJob,
  type JobQueue,
  type JobRecord,
  type JobStatus,
  newId,
  type Page,
  type PageOptions,
  type Transaction,
} from '#kernel'
import { asJson } from './as-json.ts'
import { cancel, retry } from './changes.ts'
import { recordOf } from './record.ts'
import type { JobRow } from './row.ts'
import type { Definition } from './state.ts'
import type { JobTable } from './table.ts'

const ownId = /^[!-~]{1,200}$/
const longestLane = 256

/** The jobs of a kind, for the plugin that defines it. It needs no scheduler, because the runners watch the rows. */
export class Queue implements JobQueue<unknown> {
  readonly #kind: string
  readonly #definition: Definition
  readonly #table: JobTable
  readonly #now: () => number

  constructor(kind: string, definition: Definition, table: JobTable, now: () => number) {
    this.#kind = kind
    this.#definition = definition
    this.#table = table
    this.#now = now
  }

  async add(input: unknown, options?: AddJob): Promise<string> {
    const row = this.#newRow(input, options)
    await this.#table.add(row)
    return row.id
  }

  addIn(transaction: Transaction, input: unknown, options?: AddJob): string {
    const row = this.#newRow(input, options)
    this.#table.addIn(transaction, row)
    return row.id
  }

  async get(id: string): Promise<JobRecord | undefined> {
    const row = await this.#table.jobs.get(this.#idOf(id))
    return row && recordOf(row, this.#table.contents)
  }

  async list({
    status,
    ...page
  }: PageOptions & { readonly status?: JobStatus } = {}): Promise<Page<JobRecord>> {
    const { items, ...rest } = await this.#table.list({ kind: this.#kind, status }, page)
    return { ...rest, items: items.map((row) => recordOf(row, this.#table.contents)) }
  }

  async cancel(id: string): Promise<JobRecord> {
    return recordOf(await this.#table.change(this.#idOf(id), cancel), this.#table.contents)
  }

  async retry(id: string): Promise<JobRecord> {
    return recordOf(await this.#table.change(this.#idOf(id), retry), this.#table.contents)
  }

  async delete(id: string): Promise<boolean> {
    const at = this.#idOf(id)
    if (!(await this.#table.jobs.get(at))) return false
    await this.#table.change(at, (row, now) => (row.endedAt === undefined ? cancel(row, now) : row))
    return this.#table.memos.forget(at)
  }

  signal(id: string, name: string, data?: unknown): Promise<void> {
    return this.#table.memos.signal(this.#idOf(id), name, asJson(data))
  }

  pause(): Promise<void> {
    return this.#table.pause(this.#kind)
  }

  resume(): Promise<void> {
    return this.#table.resume(this.#kind)
  }

  #newRow(given: unknown, { id = newId('job_'), at }: AddJob = {}): JobRow {
    if (!ownId.test(id)) throw new TypeError('The id of a job has 1 to 200 visible ASCII characters')
    if (at !== undefined && !Number.isFinite(at))
      throw new TypeError('A time is milliseconds since the epoch')
    const { input, lane } = this.#definition
    const parsed = asJson(input.parse(given))
    const waitsIn = lane(parsed)
    if (waitsIn.length > longestLane) throw new TypeError(`A lane has ${longestLane} characters at the most`)
    const now = this.#now()
    return {
      id: this.#idOf(id),
      kind: this.#kind,
      lane: waitsIn,
      status: 'waiting',
      input: this.#table.contents.seal(parsed),
      attempts: 0,
      addedAt: now,
      dueAt: at ?? now,
    }
  }

  /** Ids are of one kind, so that no plugin takes another's. */
  #idOf(id: string): string {
    return id.startsWith(`${this.#kind}:`) ? id : `${this.#kind}:${id}`
  }
}
