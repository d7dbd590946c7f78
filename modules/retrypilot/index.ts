import { z } from 'zod'
import { defineModule, isUpstreamError, type UpstreamError } from '#kernel'
import { ensure, explainNext, pause } from '#kit'
import { waitBefore } from './backoff.ts'
import { type Budget, countTry, newBudget, takeRetry } from './budget.ts'

/**
 * Retries at the target the call is for; it runs inside the fallback router, so that a short failure is got over in
 * place, and what lasts is moved on. Only failures that say so are retried, and only before any content has come, so
 * a retry repeats nothing that the client has seen.
 */
export default defineModule({
  settings: z.strictObject({
    max: z.int().min(0).max(10).default(2).meta({
      title: 'Maximum retries',
      description: 'Retries of one call at one target.',
    }),
    base_ms: z.int().min(1).max(60_000).default(200).meta({
      title: 'First wait',
      description: 'Longest wait before the first retry in milliseconds. It doubles for each further one.',
    }),
    max_wait_ms: z.int().min(1).max(60_000).default(2000).meta({
      title: 'Longest wait',
      description: 'Milliseconds. If a provider asks for a longer wait, the call is not retried.',
    }),
    budget_pct: z.number().min(0).max(100).default(20).meta({
      title: 'Budget',
      description:
        'Largest number of retries per hundred calls of a provider, so that retries cannot multiply an outage.',
    }),
  }),

  setup({ settings, memory }) {
    const { max, base_ms: baseMs, max_wait_ms: maxMs, budget_pct: pct } = settings
    if (max === 0 || pct === 0) return {}
    const budgets = memory('budgets', () => new Map<string, Budget>())

    const budgetOf = (provider: string): Budget => ensure(budgets, provider, newBudget)

    /** How long to wait before a retry; nothing when there is to be none. */
    const waitAfter = (error: UpstreamError, retries: number): number | undefined => {
      if (!error.retryable || retries === max) return undefined
      const waitMs = waitBefore(retries, { baseMs, maxMs }, error.retryAfterS, Math.random)
      return waitMs !== undefined && takeRetry(budgetOf(error.provider), pct, Date.now()) ? waitMs : undefined
    }

    return {
      attempt({ provider }) {
        countTry(budgetOf(provider), Date.now())
      },
      wraps: () => 'failures',
      async around(call, next) {
        for (let retries = 0; ; retries += 1) {
          try {
            return await next(call)
          } catch (error) {
            if (!isUpstreamError(error)) throw error
            const waitMs = waitAfter(error, retries)
            if (waitMs === undefined) throw error
            explainNext(call, error, `retry after ${Math.round(waitMs)} ms`)
            await pause(waitMs, call.cancel)
          }
        }
      },
    }
  },
})
