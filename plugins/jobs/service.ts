import type { JobDefinition, JobQueue, Jobs } from '#kernel'
import { addKind, kindOf, releaseKind } from './kinds.ts'
import { Queue } from './queue.ts'
import { type JobsState, settled } from './state.ts'
import type { JobTable } from './table.ts'

interface ServiceParts {
  readonly table: JobTable
  readonly now: () => number
  /** Where definitions are kept; undefined where jobs do not run, as in the other ones of several threads. */
  readonly state: JobsState | undefined
}

/** Jobs as other plugins have them. */
export function jobsService({ table, now, state }: ServiceParts): Jobs {
  return {
    define<I, S>(
      owner: Parameters<Jobs['define']>[0],
      name: string,
      given: JobDefinition<I, S>,
    ): JobQueue<I> {
      const kind = kindOf(owner.id, name)
      const definition = given as unknown as JobDefinition<unknown, unknown>
      if (state) {
        const added = addKind(state, kind, owner, definition)
        owner.own(() => releaseKind(state, kind, added))
      }
      return new Queue(kind, settled(definition), table, now)
    },
  }
}
