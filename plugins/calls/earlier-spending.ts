import type { Budget, Counters } from '#kernel'
import { nameOf, spendingOf } from './budget.ts'

/**
 * Has what plugins have spent today by the counters of earlier versions count in their budgets. If it is cut short, the next start
 * counts some of it again: a budget may end too early on that day, and never too late.
 */
export async function carryOver(spent: Counters, budget: Budget): Promise<void> {
  const entries = spent.entries()
  if (entries.length === 0) return
  const today = nameOf('')
  for (const [name, nano] of entries) {
    if (!name.startsWith(today)) continue
    const claim = spendingOf(name.slice(today.length), Number.MAX_SAFE_INTEGER, 1)
    const answer = await budget.reserve([claim])
    if (answer.granted) await budget.settle(answer, { nano })
  }
  await budget.flush()
  spent.clear('')
}
