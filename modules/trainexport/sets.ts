import { z } from 'zod'
import {
  type Collection,
  type Context,
  conflict,
  Feedback,
  type Job,
  type JobQueue,
  Jobs,
  newId,
  notFound,
  type Subject,
  TraceReader,
} from '#kernel'
import { collecting } from './collecting.ts'
import type { Readable } from './file-seal.ts'
import { type Form, forms } from './forms.ts'
import { masking } from './mask.ts'
import { Members } from './members.ts'
import { type Counts, type File, type Part, parts, type SetRow, setRow, type Wish } from './row.ts'
import { SetFiles, type Which } from './set-files.ts'
import type { Settings } from './settings.ts'
import { linesIn, partOf, waiting } from './writing.ts'

/** Sets that are kept. */
const most = 100
const timeoutMs = 12 * 3_600_000
/** Calls between two notes of how far it is. */
const noteEvery = 500

const task = z.strictObject({ set: z.string() })
type Task = z.infer<typeof task>

/** Training sets: jobs build them. */
export class Sets {
  readonly rows: Collection<SetRow>
  readonly #context: Pick<Context<Settings>, 'store' | 'use' | 'settings'>
  readonly #files: SetFiles
  readonly #members: Members
  readonly #queue: JobQueue<Task>

  constructor(context: Context<Settings>) {
    this.#context = context
    this.rows = context.store.collection('sets', {
      schema: setRow,
      indexes: { created: ({ created_at }) => created_at, status: ({ status }) => status },
    })
    this.#files = new SetFiles(context)
    this.#members = new Members(context.store)
    this.#queue = context.use(Jobs).define(context, 'build', {
      input: task,
      timeoutMs,
      delaysMs: [10_000],
      run: (job) => this.#build(job),
      gaveUp: ({ input: { set } }) => this.#fail(set),
      cancelled: ({ input: { set } }) => this.#fail(set),
    })
  }

  /** Begins to build a set; on disk when it resolves. Throws a conflict when there are too many. */
  async begin({ min_score, ...wish }: Wish): Promise<SetRow> {
    if ((await this.rows.count()) >= most)
      throw conflict(`There are ${most} training sets already. Delete one first.`)
    const { settings, store } = this.#context
    const { mask_pii, dedupe } = settings
    const id = newId('set_')
    const key = await this.#files.newKey()
    const row: SetRow = {
      id,
      status: 'building',
      created_at: new Date().toISOString(),
      wish,
      min_score: min_score ?? settings.min_score,
      mask_pii,
      dedupe,
      counts: noCounts(),
      files: [],
      ...(key !== undefined && { key }),
    }
    await store.transaction((tx) => {
      tx.put(this.rows, id, row)
      this.#queue.addIn(tx, { set: id }, { id })
    })
    return row
  }

  /** Throws a not found. */
  async find(id: string): Promise<SetRow> {
    const row = await this.rows.get(id)
    if (!row) throw notFound(`There is no training set ${id}.`, { param: 'id' })
    return row
  }

  /** A file of a set. Throws a conflict when the set is not ready, or its files cannot be opened. */
  async file(id: string, form: Form, part: Part): Promise<Readable & Pick<File, 'sha256'>> {
    const set = await this.find(id)
    const facts = set.files.find((file) => file.form === form && file.part === part)
    const file = facts && (await this.#files.get(set, { form, part }))
    if (facts && file) return { ...file, sha256: facts.sha256 }
    throw conflict(`The training set ${id} is ${set.status}: it has no files.`, { param: 'id' })
  }

  /** Deletes a set with its files, also while it is built. */
  async delete(id: string): Promise<void> {
    await this.find(id)
    await this.#empty(id)
    await this.rows.delete(id)
  }

  /** How many sets have lines of a user or a tenant. */
  async countOf(whose: Subject): Promise<number> {
    return (await this.#members.setsOf(whose)).length
  }

  /** Deletes the files of all sets that have lines of a user or a tenant, and returns how many sets. Their rows say `erased`. */
  async eraseOf(whose: Subject): Promise<number> {
    const ids = await this.#members.setsOf(whose)
    for (const id of ids) {
      await this.#change(id, { status: 'erased', files: [] })
      await this.#empty(id)
    }
    return ids.length
  }

  async #empty(id: string): Promise<void> {
    await this.#queue.delete(id)
    await this.#files.delete(id)
    await this.#members.forget(id)
  }

  async #build({ input: { set: id }, signal }: Job<Task>): Promise<unknown> {
    const set = await this.rows.get(id)
    if (set?.status !== 'building') return undefined
    const counts = noCounts()
    await this.#write(set, undefined, this.#collected(set, counts, signal))
    const files: File[] = []
    for (const form of forms)
      for (const part of parts) {
        signal.throwIfAborted()
        const source = await this.#files.get(set)
        const lines = linesIn(source!.read(), form, part)
        const { size, sha256 } = await this.#write(set, { form, part }, lines)
        files.push({ form, part, lines: counts[part], size, sha256 })
      }
    await this.#files.delete(id, { which: undefined })
    const finished_at = new Date().toISOString()
    await this.#change(id, { status: 'ready', finished_at, counts, files })
    return counts
  }

  /** Ends a set that is not ready. */
  async #fail(id: string): Promise<void> {
    await this.rows.update(id, (row) =>
      row?.status === 'building' ? { ...row, status: 'failed' } : undefined,
    )
  }

  /** What waits for its forms, noting whose it is before it is on disk. */
  async *#collected(set: SetRow, counts: Counts, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { use, settings } = this.#context
    const mask = set.mask_pii ? masking() : undefined
    const [traces, feedback] = [use(TraceReader), use(Feedback)]
    const examples = collecting({ set, settings, traces, feedback, mask, counts, signal })
    let noted = 0
    for await (const { trace, example } of examples) {
      await this.#members.add(trace, set.id)
      const part = partOf(trace.id, set.wish.validation_share)
      counts[part] += 1
      yield waiting(part, example)
      if (counts.looked_at < noted + noteEvery) continue
      noted = counts.looked_at
      await this.#change(set.id, { counts })
    }
  }

  /** Writes a file of a set, unless that was deleted or erased in between. */
  #write(set: SetRow, which: Which | undefined, source: AsyncIterable<Uint8Array>) {
    return this.#files.write(set, which, source, (tx) =>
      tx.require(this.rows, set.id, (row) => row?.status === 'building'),
    )
  }

  /** Changes a set that is there; one that was erased stays so. */
  async #change(id: string, change: Partial<SetRow>): Promise<void> {
    await this.rows.update(id, (row) => (row && row.status !== 'erased' ? { ...row, ...change } : undefined))
  }
}

const noCounts = (): Counts => ({ looked_at: 0, train: 0, validation: 0, left_out: {} })
