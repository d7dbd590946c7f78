import { setTimeout as passes } from 'node:timers/promises'
import { isGatewayError } from '#kernel'
import { callProblem, mayPass } from '#kit'
import { Usage } from '../steps/ask.ts'
import { attempt, type Making } from './attempt.ts'
import type { ItemRow } from './rows.ts'

/** What came of an item. */
export interface Made {
  readonly row: ItemRow
  readonly response?: unknown
}

/** Milliseconds before the second attempt; four times as long before each further one. */
const firstDelayMs = 500
const longestDelayMs = 60_000

/**
 * Makes an item, again where its failure may pass. Rejects with `BudgetExceeded` or `KeyGone`, and with the reason of the signal;
 * `left` is told then what was spent by the way.
 */
export async function makeItem(
  making: Making,
  item: ItemRow,
  body: unknown,
  left: (row: ItemRow) => Promise<void>,
): Promise<Made> {
  const { batch, signal } = making
  const usage = new Usage()
  let attempts = 0
  const rowWith = (more: Partial<ItemRow>): ItemRow => {
    const { tokens_in, tokens_out, cost_nano, trace_id } = usage
    return { ...item, attempts, tokens_in, tokens_out, cost_nano, ...(trace_id && { trace_id }), ...more }
  }
  try {
    for (;;) {
      const tried = await attempt(making, item, body, usage)
      attempts += 1
      const { error, run, response } = tried
      const of = run === undefined ? {} : { run }
      if (error === undefined) return { row: rowWith({ ...of, status: 'succeeded' }), response }
      if (attempts >= batch.max_attempts || !mayPass(error)) {
        const problem = 'problem' in tried ? tried.problem : callProblem(error)
        return { row: rowWith({ ...of, status: 'failed', error: problem }) }
      }
      const asked = 1000 * ((isGatewayError(error) ? error.retryAfterS : undefined) ?? 0)
      const delay = Math.max(asked, firstDelayMs * 4 ** (attempts - 1))
      await passes(Math.min(delay, longestDelayMs), undefined, { signal })
    }
  } catch (error) {
    if (usage.cost_nano > 0) await left(rowWith({}))
    throw error
  }
}
