import { z } from 'zod'
import type { Collection, Store } from '#kernel'

export const statuses = ['waiting', 'running', 'completed', 'failed', 'cancelled'] as const

const time = z.number()

export const jobError = z.strictObject({ message: z.string(), code: z.string().exactOptional() })
export const jobProgress = z.strictObject({ done: z.number(), total: z.number() })

/** A job on disk. `input`, `state`, `result` and the error's message are sealed: see `Contents`. */
export const jobRow = z.strictObject({
  id: z.string(),
  kind: z.string(),
  lane: z.string(),
  status: z.enum(statuses),
  input: z.unknown(),
  attempts: z.int(),
  addedAt: time,
  dueAt: time.exactOptional(),
  waitsFor: z.string().exactOptional(),
  startedAt: time.exactOptional(),
  endedAt: time.exactOptional(),
  state: z.unknown().exactOptional(),
  progress: jobProgress.exactOptional(),
  result: z.unknown().exactOptional(),
  error: jobError.exactOptional(),
  /** Its runner: a unique name. */
  lease: z.string().exactOptional(),
  /** How many processes have died while it ran, since it last got on. */
  deaths: z.int().exactOptional(),
  /** Its last attempt has failed, and the failure is not yet reported. */
  isFailing: z.literal(true).exactOptional(),
})

export type JobRow = z.infer<typeof jobRow>

/** That a job was cancelled, which its plugin does not know yet. */
const cancellation = z.strictObject({ kind: z.string(), at: time })

export type Cancellation = z.infer<typeof cancellation>

/** Something that is kept of a job beside its row, sealed. */
const memoRow = z.strictObject({ value: z.unknown().optional() })

export type MemoRow = z.infer<typeof memoRow>

/** Jobs that wait, by kind, lane and time, and in what other orders they are asked for. */
const indexes = {
  due: ({ status, kind, lane, dueAt }: JobRow) =>
    status === 'waiting' && dueAt !== undefined ? [[kind, lane, dueAt]] : undefined,
  leased: ({ lease }: JobRow) => lease,
  ended: ({ kind, endedAt }: JobRow) => (endedAt === undefined ? undefined : [[kind, endedAt]]),
  added: ({ addedAt }: JobRow) => addedAt,
  kind: ({ kind, addedAt }: JobRow) => [[kind, addedAt]],
  status: ({ status, addedAt }: JobRow) => [[status, addedAt]],
  kind_status: ({ kind, status, addedAt }: JobRow) => [[kind, status, addedAt]],
}

export const jobsIn = (store: Store): Collection<JobRow> =>
  store.collection('jobs', { schema: jobRow, indexes })

export const memosIn = (store: Store): Collection<MemoRow> => store.collection('memos', { schema: memoRow })

/** By the ids of the jobs. */
export const cancellationsIn = (store: Store): Collection<Cancellation> =>
  store.collection('cancellations', { schema: cancellation })

/** Kinds of which none may start. */
export const pausesIn = (store: Store) =>
  store.collection('pauses', { schema: z.strictObject({ pausedAt: time }) })
