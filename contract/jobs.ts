import type { z } from 'zod'
import type { Context } from '../kernel/contract/context.ts'
import { guardedToken } from '../kernel/token.ts'
import type { Awaitable } from '../kit/work/continue-with.ts'
import type { Page, PageOptions, Transaction } from '../storage/index.ts'

/** How a job stands. It waits for its time, for a signal, for room, or for a plugin that runs jobs of its kind. */
export type JobStatus = 'waiting' | 'running' | 'completed' | 'failed' | 'cancelled'

export interface JobProgress {
  readonly done: number
  readonly total: number
}

/** A job while it runs. Its input and its results are plain JSON. */
export interface Job<I, S = unknown> {
  readonly id: string
  readonly input: I
  /** 1 for the first one. An attempt that a restart, a reload or a wait interrupted goes on under the same number. */
  readonly attempt: number
  /** The state saved last, by this attempt or one before it. */
  readonly state: S | undefined
  /** Aborts when the job is cancelled, when its time is up, and when the plugin's instance goes. */
  readonly signal: AbortSignal
  /**
   * Runs a part of the job and keeps its result on disk: another attempt gets that result and does not run the part again. It
   * may run twice where the process dies before the disk has its result; `key` is the same then, so that receivers can
   * recognise repeats. A name stands for one step of the job.
   */
  step<T>(name: string, run: (key: string) => Awaitable<T>): Promise<T>
  /** Keeps how far the job is; resolves when it is on disk. */
  save(state: S, progress?: JobProgress): Promise<void>
  /**
   * Goes on when that time (milliseconds since the epoch) has come. Until then the job waits on disk, and then runs from its
   * beginning, so what must not happen twice stands in steps. The time that is said first under a name holds.
   */
  sleepUntil(name: string, at: number): Promise<void>
  /** Waits, in the same way, for a signal by its name, and returns what came with it; undefined when `until` came before it. */
  waitFor(signal: string, options?: { readonly until?: number }): Promise<unknown>
}

/** Defines the jobs of one kind, and how they run. */
export interface JobDefinition<I, S = unknown> {
  /** Checked when a job is added, and again when it runs: it must accept what it returns. */
  readonly input: z.ZodType<I>
  /** The state that `save` keeps. The job does not see a saved state that no longer fits. */
  readonly state?: z.ZodType<S>
  /** How many run at a time; 1 by default. */
  readonly concurrency?: number
  /** The lane that a job waits in, such as the address it goes to: a slow lane holds up nothing but itself. */
  readonly lane?: (input: I) => string
  /** How many of a lane run at a time; as many as of the kind by default. */
  readonly perLane?: number
  /** Milliseconds before the second attempt, the third and so on; one attempt by default. */
  readonly delaysMs?: readonly number[]
  /** How long an attempt may take, in milliseconds; 60,000 by default. Time spent waiting does not count. */
  readonly timeoutMs?: number
  /**
   * Over how long the overdue jobs of a lane are spread when jobs of this kind begin to run, at a start or when the plugin is
   * switched on, in milliseconds; all of them are due at once by default. The first one of a lane always is.
   */
  readonly spreadMs?: number
  /** How long and how many ended jobs are kept; 7 days and 10,000 by default. */
  readonly keep?: { readonly days?: number; readonly most?: number }
  /**
   * Does the job and returns its result. An error ends the attempt, and an error whose `retryable` is false ends the job. An
   * error's `retryAfterS` puts the next attempt off, by an hour at the most.
   */
  run(job: Job<I, S>): unknown
  /** Called, at least once, before a job is recorded as failed. */
  gaveUp?(job: Pick<Job<I, S>, 'id' | 'input' | 'state' | 'signal'>, error: JobError): unknown
  /**
   * Called, at least once, after an admin has cancelled a job and its code has stopped, to end what the job belongs to; also
   * over restarts. One that throws is called again. The plugin's own `cancel` and `delete` do not call it.
   */
  cancelled?(job: Pick<Job<I, S>, 'id' | 'input' | 'state' | 'signal'>): unknown
}

/** Why an attempt failed, as it is kept. */
export interface JobError {
  readonly message: string
  /** The error's own code, where it has one. */
  readonly code?: string
}

/** A job as it is kept. Times are milliseconds since the epoch. */
export interface JobRecord {
  readonly id: string
  /** The plugin's id, a point, and the kind's name. */
  readonly kind: string
  readonly lane: string
  readonly status: JobStatus
  readonly input: unknown
  /** How many attempts have failed. */
  readonly attempts: number
  readonly addedAt: number
  /** When it is due, or was; absent while it waits for a signal only. */
  readonly dueAt?: number
  /** The signal that it waits for. */
  readonly waitsFor?: string
  readonly startedAt?: number
  readonly endedAt?: number
  readonly state?: unknown
  readonly progress?: JobProgress
  readonly result?: unknown
  /** Of the attempt that failed last. */
  readonly error?: JobError
}

export interface AddJob {
  /** Of the caller's own: two jobs of a kind with one id are one job. 1 to 200 visible ASCII characters. */
  readonly id?: string
  /** When it is due, in milliseconds since the epoch; now by default. */
  readonly at?: number
}

/** Jobs of one kind. Ids are those that `add` returned, or the caller's own. */
export interface JobQueue<I> {
  /** Resolves with the job's id when it is on disk. */
  add(input: I, options?: AddJob): Promise<string>
  /** Adds a job with the other changes of a transaction of any part of the store, or not at all; returns its id. */
  addIn(transaction: Transaction, input: I, options?: AddJob): string
  get(id: string): Promise<JobRecord | undefined>
  /** Those that were added last come first. */
  list(options?: PageOptions & { readonly status?: JobStatus }): Promise<Page<JobRecord>>
  /** Ends a job that has not ended. A running job is notified by its signal, and anything it still does counts for nothing. */
  cancel(id: string): Promise<JobRecord>
  /** Has a failed or cancelled job begin again, with the steps that it has done; a waiting one is due at once. */
  retry(id: string): Promise<JobRecord>
  /** Cancels a job that has not ended, and forgets it with its steps: it leaves the disk. False when there is none. */
  delete(id: string): Promise<boolean>
  /** Tells a job something that it waits for, or will wait for. The first signal of a name holds. */
  signal(id: string, name: string, data?: unknown): Promise<void>
  /** Lets none of them start until `resume`, also over restarts; those that run go on. */
  pause(): Promise<void>
  resume(): Promise<void>
}

export interface CronOptions extends Pick<JobDefinition<unknown>, 'delaysMs'> {
  /** The time zone of the schedule by its IANA name; UTC by default. */
  readonly timezone?: string
  /**
   * The handling of times that came while nothing could run, such as while the gateway was down: one run for all of them, or
   * none when the first is more than a minute ago; `once` by default.
   */
  readonly missed?: 'once' | 'skip'
  /** As of jobs; an hour by default. */
  readonly timeoutMs?: number
}

/** The due time that a run of a schedule is for. */
export interface ScheduledTime {
  /** The time that it was due, in milliseconds since the epoch. */
  readonly at: number
}

/** The plugin whose jobs they are: its context. A dormant one adds jobs, and runs none. Those that run stop as its signal aborts. */
export type JobOwner = Pick<Context<unknown>, 'id' | 'own' | 'signal' | 'whenLive'>

/** Work that is done whatever happens to the process, in the first of several threads. */
export interface Jobs {
  /**
   * Says what jobs of a kind are, in setup, for as long as the instance lasts. Jobs begin when the instance answers calls. While
   * two instances of a plugin exist, the newer one runs them; without one, they wait.
   */
  define<I, S = unknown>(owner: JobOwner, name: string, definition: JobDefinition<I, S>): JobQueue<I>
  /**
   * Runs something whenever a schedule in cron's form says (`30 3 * * *`; six fields begin with seconds), in setup. Each run is
   * a job, one at a time. Times that a change of clocks skips are made up for at the next one there is, and those that come
   * twice run once, where hour and minute are single numbers.
   */
  cron(
    owner: JobOwner,
    name: string,
    schedule: string,
    run: (job: Job<ScheduledTime>) => unknown,
    options?: CronOptions,
  ): void
}

export const Jobs = guardedToken<Jobs>('jobs')
