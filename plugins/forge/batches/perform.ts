import { BudgetExceeded } from '#kit'
import { KeyGone } from './attempt.ts'
import type { BatchRow } from './rows.ts'
import { type Means, workOff } from './work.ts'

/** How a turn of a batch ended. */
export type End = Pick<BatchRow, 'status' | 'error'>

/** Makes a batch, or goes on with one that was cut off; returns how that ended. Rejects with the reason of the signal. */
export async function performed(means: Means, batch: BatchRow, signal: AbortSignal): Promise<End> {
  const time = AbortSignal.timeout(Math.max(0, Date.parse(batch.expires_at) - Date.now()))
  try {
    await workOff(means, batch, AbortSignal.any([signal, time]))
    return { status: 'completed' }
  } catch (error) {
    signal.throwIfAborted()
    if (time.aborted) return { status: 'expired' }
    if (error instanceof BudgetExceeded) return tooDear
    if (error instanceof KeyGone) return keyGone
    throw error
  }
}

export const brokeOff: End = {
  status: 'failed',
  error: { code: 'internal_error', message: 'The batch broke off.' },
}
const tooDear: End = {
  status: 'paused',
  error: {
    code: 'budget_exceeded',
    message: 'The batch has cost as much as its limit says. Resume it with a higher max_cost_usd.',
  },
}
const keyGone: End = {
  status: 'paused',
  error: {
    code: 'unauthorized',
    message: 'The key that began it does not work any more. Resume it with another.',
  },
}
