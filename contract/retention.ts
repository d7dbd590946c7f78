import { z } from 'zod'
import { defineEvent } from '../kernel/events.ts'
import { token } from '../kernel/token.ts'

/** Records that have an age: traces, both sides of calls as they are stored with them, and records of what happened in calls. */
export type RecordClass = 'traces' | 'bodies' | 'events'

/** For how many days records of a class are kept. */
export interface Age {
  readonly days: number
  /** For projects that have an age of their own, by their names. */
  readonly projects: Readonly<Record<string, number>>
}

/** The ages of all records. Whoever keeps records deletes them by these, as `retained` of the kit does. */
export interface Retention {
  readonly ages: Readonly<Record<RecordClass, Age>>
}

/** While no plugin offers it, each keeper of records goes by ages of its own. */
export const Retention = token<Retention>('retention')

/** It is time to delete what is past its age. */
export const RetentionDue = defineEvent('retention.due', z.strictObject({}), {
  description: 'It is time to delete records that are past their age. For plugins that keep records.',
})
