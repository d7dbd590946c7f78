import type { CronOptions, Job, JobDefinition, JobQueue, Jobs, ScheduledTime } from '#kernel'
import { cronDefinition, plan, Schedule } from './cron.ts'
import { addKind, kindOf, releaseKind, withdrawKind } from './kinds.ts'
import { Queue } from './queue.ts'
import { type JobsState, withDefaults } from './state.ts'
import type { JobTable } from './table.ts'

interface ServiceParts {
  readonly table: JobTable
  readonly now: () => number
  /** Where definitions are kept; undefined where jobs do not run, as in the other ones of several threads. */
  readonly state: JobsState | undefined
}

type Owner = Parameters<Jobs['define']>[0]

/** Jobs as other plugins have them. */
export class JobsService implements Jobs {
  readonly #parts: ServiceParts

  constructor(parts: ServiceParts) {
    this.#parts = parts
  }

  define<I, S>(owner: Owner, name: string, given: JobDefinition<I, S>): JobQueue<I> {
    const kind = kindOf(owner.id, name)
    const definition = given as unknown as JobDefinition<unknown, unknown>
    this.#add(owner, kind, definition)
    return this.#queueOf(kind, definition)
  }

  cron(
    owner: Owner,
    name: string,
    pattern: string,
    run: (job: Job<ScheduledTime>) => unknown,
    options: CronOptions = {},
  ): void {
    const { table, now, state } = this.#parts
    const kind = kindOf(owner.id, name)
    const schedule = new Schedule(pattern, options.timezone ?? 'UTC', now())
    const planNext = (): Promise<void> => plan({ kind, schedule, queue, table, now })
    const definition = cronDefinition(run, options, { now, planNext }) as JobDefinition<unknown, unknown>
    const queue = this.#queueOf(kind, definition)
    this.#add(owner, kind, definition, planNext)
    if (state) owner.whenLive(planNext)
  }

  #add(
    owner: Owner,
    kind: string,
    definition: JobDefinition<unknown, unknown>,
    upkeep?: () => Promise<void>,
  ) {
    const { state } = this.#parts
    if (!state) return
    const added = addKind(state, kind, { owner, definition, upkeep })
    // Its calls end in the same moment, which its jobs would take for failures.
    owner.signal.addEventListener('abort', () => withdrawKind(state, kind, added), { once: true })
    owner.own(() => releaseKind(state, kind, added))
    owner.whenLive(() => {
      added.isLive = true
      state.wake()
    })
  }

  #queueOf(kind: string, definition: JobDefinition<unknown, unknown>): Queue {
    const { table, now } = this.#parts
    return new Queue(kind, withDefaults(definition), table, now)
  }
}
