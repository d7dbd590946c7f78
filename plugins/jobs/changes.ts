import { conflict, type JobError } from '#kernel'
import type { JobRow } from './row.ts'

/** The changes of a job, as functions from one row to the next. */

/** Processes that may die of a job before it is held to be their death. */
export const mostDeaths = 10

const longestRetryAfterMs = 3_600_000

type Waiting = Pick<JobRow, 'dueAt' | 'waitsFor'>

/** The runner has lost it. */
function release({ lease: _, waitsFor: __, ...row }: JobRow): JobRow {
  return row
}

const end = (row: JobRow, status: JobRow['status'], now: number): JobRow => {
  const { isFailing: _, deaths: __, dueAt: ___, ...rest } = release(row)
  return { ...rest, status, endedAt: now }
}

export const claim = (row: JobRow, lease: string, now: number): JobRow => {
  const { waitsFor: _, ...rest } = row
  return { ...rest, status: 'running', lease, startedAt: now }
}

/** As it was before it began, because the interruption is not the job's fault. */
export const interrupt = (row: JobRow): JobRow => ({ ...release(row), status: 'waiting' })

export const suspend = (row: JobRow, until: Waiting): JobRow => {
  const { dueAt: _, deaths: __, ...rest } = release(row)
  return { ...rest, ...until, status: 'waiting' }
}

export const complete = (row: JobRow, result: unknown, now: number): JobRow => {
  const { error: _, ...rest } = end(row, 'completed', now)
  return { ...rest, ...(result !== undefined && { result }) }
}

export const cancel = (row: JobRow, now: number): JobRow => {
  if (row.status === 'cancelled') return row
  if (row.endedAt !== undefined) throw conflict(`The job is ${row.status}: an ended job cannot be cancelled.`)
  return end(row, 'cancelled', now)
}

export const retry = (row: JobRow, now: number): JobRow => {
  if (row.status === 'waiting') return { ...row, dueAt: now }
  if (row.status !== 'failed' && row.status !== 'cancelled')
    throw conflict(
      `The job is ${row.status}: only one that waits, failed or was cancelled can be tried again.`,
    )
  const { endedAt: _, ...rest } = row
  return { ...rest, status: 'waiting', attempts: 0, dueAt: now }
}

/** Its process died while it ran. */
export function orphan(row: JobRow, now: number): JobRow {
  const deaths = (row.deaths ?? 0) + 1
  if (deaths <= mostDeaths) return { ...interrupt(row), deaths }
  const error = { message: `The gateway ended ${deaths} times while it ran.` }
  return row.isFailing ? fail(row, now) : { ...interrupt({ ...row, error }), isFailing: true }
}

interface Failure {
  /** What is kept of what was thrown. */
  readonly error: JobError
  readonly delaysMs: readonly number[]
  readonly now: number
}

/** The job after an attempt that threw: another attempt later, or none; then `isFailing` is set, and it is still running. */
export function failAttempt(row: JobRow, thrown: unknown, { error, delaysMs, now }: Failure): JobRow {
  const { retryable, retryAfterS } = (thrown ?? {}) as { retryable?: unknown; retryAfterS?: unknown }
  const attempts = row.attempts + 1
  const delayMs = delaysMs[row.attempts]
  const next = { ...row, attempts, error }
  if (delayMs === undefined || retryable === false) return { ...next, isFailing: true }
  const askedMs = typeof retryAfterS === 'number' ? Math.min(retryAfterS * 1000, longestRetryAfterMs) : 0
  const { deaths: _, ...rest } = release(next)
  return { ...rest, status: 'waiting', dueAt: now + Math.max(delayMs, askedMs || 0) }
}

export const fail = (row: JobRow, now: number): JobRow => end(row, 'failed', now)

const longestMessage = 1_000

export function errorOf(thrown: unknown): JobError {
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  return { message: message.slice(0, longestMessage), ...(typeof code === 'string' && { code }) }
}
