import { z } from 'zod'
import type { Collection, RowLog, Store } from '#kernel'
import { sourceUserOf } from '#kit'
import type { TraceRow } from './row.ts'

/** Sources of calls that have the words of another call, which is their parent. */
const repeating = ['replay', 'calibration']
/** Calls that repeat a repeat, one behind the other. */
const mostSteps = 100

/** Stands for the whole search where it is over. No trace has this id. */
const done = 'done'

const repeat = z.object({
  /** Whose words the trace of this id has; none where it says that the search is over. */
  user_id: z.string().optional(),
  at: z.int(),
})

/**
 * Whose words repeats have whose traces do not say it, as they were written by a version that did not. The calls that they repeat
 * tell, as long as they are there: all are asked once, at the first start, and what they say is kept.
 */
export class Repeats {
  readonly #rows: Collection<z.infer<typeof repeat>>
  readonly #traces: Pick<RowLog<TraceRow>, 'get' | 'scan'>
  #found: Promise<void> | undefined

  constructor(store: Store, traces: Pick<RowLog<TraceRow>, 'get' | 'scan'>) {
    this.#rows = store.collection('repeats', {
      schema: repeat,
      indexes: {
        user: ({ user_id }) => user_id,
        at: ({ user_id, at }) => (user_id === undefined ? undefined : at),
      },
    })
    this.#traces = traces
  }

  /** Resolves when all are found; once it has failed it may be asked again. */
  find(): Promise<void> {
    this.#found ??= this.#find().catch((error: unknown) => {
      this.#found = undefined
      throw error
    })
    return this.#found
  }

  /** The trace, with the user whose words it has if that is found and it does not say so itself. */
  async told(row: TraceRow): Promise<TraceRow> {
    if (!isSilent(row)) return row
    await this.find()
    const user = (await this.#rows.get(row.id))?.user_id
    return user === undefined ? row : { ...row, source_user_id: user }
  }

  /** The traces that have words of a user and do not say so. */
  async of(userId: string): Promise<ReadonlySet<string>> {
    await this.find()
    const ids = new Set<string>()
    for await (const [id] of this.#rows.scan({ index: 'user', equals: userId })) ids.add(id)
    return ids
  }

  async forget(ids: Iterable<string>): Promise<void> {
    for (const id of ids) await this.#rows.delete(id)
  }

  /** Forgets traces that began before this. */
  async prune(before: number): Promise<void> {
    for await (const [id] of this.#rows.scan({ index: 'at', to: before })) await this.#rows.delete(id)
  }

  async #find(): Promise<void> {
    if (await this.#rows.get(done)) return
    for await (const row of this.#traces.scan({ where: { source: repeating } })) {
      const user = isSilent(row) ? await this.#userOf(row) : undefined
      if (user !== undefined && user !== row.user_id)
        await this.#rows.put(row.id, { user_id: user, at: row.at })
    }
    await this.#rows.put(done, { at: Date.now() })
  }

  /** Undefined also where a call on the way to the first one is gone. */
  async #userOf(row: TraceRow): Promise<string | undefined> {
    let repeated: TraceRow | undefined = row
    for (let step = 0; repeated && isSilent(repeated) && step < mostSteps; step += 1)
      repeated = await this.#traces.get(repeated.parent_id!)
    return repeated && sourceUserOf(repeated)
  }
}

/** Whether a trace is a repeat that does not say whose words it has; a user's repeats of own calls do not, either. */
const isSilent = ({ source, parent_id, source_user_id }: TraceRow): boolean =>
  source_user_id === undefined && parent_id !== undefined && repeating.includes(source)
