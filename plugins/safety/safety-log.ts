import { z } from 'zod'
import type { Collection, Context, Page, PageOptions, RowLog, TraceReader } from '#kernel'
import { eventsOf, type SafetyEvent } from './event.ts'
import { createRollUp, SafetySums } from './sums.ts'

/** Traces that are read at a time. */
const batch = 500

const place = z.object({ after: z.string().optional() })

/** Which events; all conditions must hold. Times are milliseconds since the epoch, `to` is exclusive. */
export interface SafetyFilter {
  readonly event_type?: string | undefined
  readonly severity?: string | undefined
  readonly action_taken?: string | undefined
  readonly module?: string | undefined
  readonly rule_id?: string | undefined
  readonly user_id?: string | undefined
  readonly key_id?: string | undefined
  readonly project?: string | undefined
  readonly model?: string | undefined
  readonly source?: string | undefined
  readonly trace_id?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
}

/** What outlives an instance: the turn of who reads traces, and ids of events that are appended while the place is not kept. */
interface Following {
  turn: Promise<unknown>
  readonly appended: Set<string>
}

/**
 * The events of all calls, which come out of traces with findings. The place up to which traces are read is kept behind their
 * events. Where the process dies in between, the same traces are read again, and events that are there already are passed over.
 */
export class SafetyLog {
  readonly #log: RowLog<SafetyEvent>
  readonly #places: Collection<z.infer<typeof place>>
  readonly #traces: () => TraceReader
  readonly #following: Following
  /** Whether traces behind the place may have been read before. */
  #mayRepeat = true
  #prunedBefore: number | undefined

  constructor({ store, memory }: Pick<Context<unknown>, 'store' | 'memory'>, traces: () => TraceReader) {
    this.#traces = traces
    this.#following = memory('following', () => ({ turn: Promise.resolve(), appended: new Set() }))
    this.#places = store.collection('places', { schema: place })
    this.#log = store.log<SafetyEvent>('events', {
      id: ({ id }) => id,
      time: ({ created_at }) => Date.parse(created_at),
      fields: {
        event_type: (row) => row.event_type,
        severity: (row) => row.severity,
        action_taken: (row) => row.action_taken,
        module: (row) => row.module,
        rule_id: (row) => row.rule_id ?? undefined,
        user_id: (row) => row.user_id ?? undefined,
        key_id: (row) => row.key_id,
        project: (row) => row.project,
        model: (row) => row.model,
        source: (row) => row.source,
        trace_id: (row) => row.trace_id,
      },
      rollup: createRollUp(),
    })
  }

  /** Makes the events of all traces that were written so far, and deletes those whose traces were deleted by age. */
  catchUp(): Promise<void> {
    const turn = this.#following.turn.then(() => this.#catchUp())
    this.#following.turn = turn.catch(() => {})
    return turn
  }

  /** A page, newest first, with the total. */
  list({ from, to, ...where }: SafetyFilter, page: PageOptions): Promise<Page<SafetyEvent>> {
    const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
    return this.#log.list({ where, ...range, ...page })
  }

  get(id: string): Promise<SafetyEvent | undefined> {
    return this.#log.get(id)
  }

  sums(userId: string | undefined, source: string): SafetySums {
    return new SafetySums(this.#log, userId, source)
  }

  async countOf(userId: string): Promise<number> {
    return (await this.#log.list({ where: { user_id: userId }, limit: 0 })).total
  }

  /** Deletes a user's events and returns how many. Sums stay. */
  async eraseOf(userId: string): Promise<number> {
    await this.catchUp()
    return this.#log.erase(({ user_id }) => user_id === userId)
  }

  async #catchUp(): Promise<void> {
    const reader = this.#traces()
    for (;;) {
      const { after: from } = (await this.#places.get('traces')) ?? {}
      const { traces, after } = await reader.follow({ after: from, from: 0, withFindings: true }, batch)
      if (traces.length === 0 || after === undefined) break
      for (const event of traces.flatMap(eventsOf)) await this.#append(event)
      await this.#log.flush()
      await this.#places.put('traces', { after })
      this.#following.appended.clear()
      this.#mayRepeat = false
    }
    await this.#prune(reader.deletedBefore)
  }

  async #append(event: SafetyEvent): Promise<void> {
    const { appended } = this.#following
    if (appended.has(event.id) || (this.#mayRepeat && (await this.#log.get(event.id)))) return
    appended.add(event.id)
    this.#log.append(event)
  }

  async #prune(before: number | undefined): Promise<void> {
    if (before === this.#prunedBefore || before === undefined) return
    await this.#log.prune(before)
    this.#prunedBefore = before
  }
}
