import { StoreError } from '../errors.ts'
import type { StoreProblem } from '../index.ts'
import type { Gate } from '../level/gate.ts'
import type { Batch } from './messages.ts'

/** Has something done with a part, where the store is. */
export type Ask = (method: string, ...args: readonly unknown[]) => Promise<unknown>

/** The surroundings of a part of the store in a thread without the store. */
export interface GuestParts {
  /** The store it is of. */
  readonly owner: object
  /** Its number on the other side. */
  readonly part: number
  readonly path: string
  readonly ask: Ask
  readonly gate: Gate
  /** Called with errors that no caller waits for. */
  readonly failed: (error: unknown) => void
  readonly report: (problem: StoreProblem) => void
  /** Milliseconds that what need not cross at once may wait for more of its kind; with 0 it crosses in this turn. */
  readonly crossMs: number
}

/** Whether the store has refused rows that it may take later: they wait here, and the refusal was reported. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof StoreError && error.code === 'STORE_FAILED'

/** The rows of a listing, asked for batch by batch. */
export async function* readOn(
  { ask, gate }: GuestParts,
  ...args: readonly unknown[]
): AsyncGenerator<unknown> {
  let batch = (await gate.run(() => ask('scan', ...args))) as Batch
  try {
    for (;;) {
      for (const item of batch.items) {
        yield item
        gate.check()
      }
      if (batch.isOver) return
      batch = (await ask('more', batch.cursor)) as Batch
    }
  } finally {
    if (!batch.isOver) await ask('done', batch.cursor).catch(() => {})
  }
}
