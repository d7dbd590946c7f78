import { guardedToken } from '../kernel/token.ts'
import type { Page, PageOptions } from '../storage/index.ts'

/** What somebody said of an answer. */
export interface FeedbackRecord {
  readonly id: string
  readonly trace_id: string
  /** Whose key said it; undefined for an admin's. */
  readonly user_id: string | undefined
  /** From 0, the worst, to 1, the best, on whatever scale it was said; undefined where there is no rating. */
  readonly score: number | undefined
  readonly label: string | undefined
  readonly provider: string | undefined
  readonly model: string
  readonly template: string | undefined
  /** Of an experiment. */
  readonly variant: string | undefined
  /** ISO 8601. */
  readonly updated_at: string
}

/** Reads the feedback of all users; whoever shows it must check whose it is. */
export interface Feedback {
  /** What was said, or said anew, since a time in milliseconds since the epoch; oldest first. */
  scan(from: number): AsyncIterable<FeedbackRecord>
  /** Ratings whose score is at most this, best first. */
  low(score: number, page: PageOptions): Promise<Page<FeedbackRecord>>
  /** The ratings of one call: how many, and the mean of their scores. */
  of(traceId: string): Promise<{ readonly count: number; readonly avg_rating: number | null }>
}

export const Feedback = guardedToken<Feedback>('feedback')
