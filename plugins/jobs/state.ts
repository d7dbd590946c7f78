import { type JobDefinition, newId } from '#kernel'
import type { Run } from './run.ts'

/** A definition with everything said. */
export interface Definition
  extends Required<Omit<JobDefinition<unknown, unknown>, 'state' | 'gaveUp' | 'cancelled' | 'keep'>>,
    Pick<JobDefinition<unknown, unknown>, 'state' | 'gaveUp' | 'cancelled'> {
  readonly keep: { readonly days: number; readonly most: number }
}

/** A definition as long as it lasts. */
export interface Kind {
  /** Whose it is. */
  readonly owner: object
  readonly definition: Definition
  /** What is to be done for it from time to time. */
  readonly upkeep: (() => Promise<void>) | undefined
  /** Jobs that it runs, and cancelled ones that it is told of. */
  readonly runs: Set<Pick<Run, 'stop' | 'run'>>
  /** Whether its owner answers calls, so that its jobs may run. */
  isLive: boolean
}

/** The part of the jobs that is in memory. It outlives the instance that made it, as definitions of other plugins do. */
export interface JobsState {
  /** Tells leases of this process from those of others. */
  readonly boot: string
  lastLease: number
  /** Definitions by the name of their kind; of several the last live one counts. */
  readonly kinds: Map<string, readonly Kind[]>
  /** The running jobs, by their ids. */
  readonly runs: Map<string, Run>
  /** Cancelled jobs that their plugins are being told of, by their ids. */
  readonly tellings: Set<string>
  /** Starts a search for jobs that can start. */
  wake: () => void
}

export const emptyJobs = (): JobsState => ({
  boot: newId('boot_'),
  lastLease: 0,
  kinds: new Map(),
  runs: new Map(),
  tellings: new Set(),
  wake: () => {},
})

/** The definition that runs jobs of this kind now. */
export const currentKind = ({ kinds }: JobsState, name: string): Kind | undefined =>
  kinds.get(name)?.findLast(({ isLive }) => isLive)

const dayMs = 24 * 3_600_000

/** How many ended jobs are kept, and for how many days, where a definition does not say it. */
export const defaultKeep = { days: 7, most: 10_000 }

/** A definition with what it does not say. Throws what is wrong with it. */
export function withDefaults({
  concurrency = 1,
  perLane = concurrency,
  lane = () => '',
  delaysMs = [],
  timeoutMs = 60_000,
  spreadMs = 0,
  keep,
  ...rest
}: JobDefinition<unknown, unknown>): Definition {
  if (!Number.isInteger(concurrency) || concurrency < 1)
    throw new TypeError('concurrency is a whole number from 1')
  if (!Number.isInteger(perLane) || perLane < 1) throw new TypeError('perLane is a whole number from 1')
  if (!delaysMs.every((ms) => ms >= 0)) throw new TypeError('delaysMs are milliseconds from 0')
  if (!(timeoutMs >= 1)) throw new TypeError('timeoutMs is a millisecond at least')
  if (!(spreadMs >= 0)) throw new TypeError('spreadMs is milliseconds from 0')
  return {
    concurrency,
    perLane,
    lane,
    delaysMs,
    timeoutMs,
    spreadMs,
    keep: { ...defaultKeep, ...keep },
    ...rest,
  }
}

/** When what ended before is too old to be kept. */
export const oldest = ({ days }: Definition['keep'], now: number): number => now - days * dayMs
