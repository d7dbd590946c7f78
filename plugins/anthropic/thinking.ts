import type { ModelRequest } from '#kernel'
import { leastThinkingBudget, thinkingBudgets } from '#provider'
import type { Fit } from './fit.ts'
import type { ModelFacts } from './models.ts'
import type { Block, Turn } from './native.ts'
import { isThinking } from './reasoning.ts'

export interface Thinking {
  readonly thinking?: Readonly<Record<string, unknown>>
  readonly effort?: string
}

/**
 * How an OpenAI client's `reasoning_effort` asks this model to think. Undefined when it cannot: the model does not
 * think, there is no room, a tool is forced, or a tool loop is under way that began without signed thinking.
 */
export function thinkingOf(
  { reasoning_effort: effort }: ModelRequest,
  facts: ModelFacts,
  about: {
    readonly maxTokens: number
    readonly turns: readonly Turn[]
    readonly forced: boolean
    readonly fit: Fit
  },
): Thinking | undefined {
  if (typeof effort !== 'string' || facts.thinking === 'none') return undefined
  if (facts.thinking === 'adaptive') {
    if (effort === 'none') return { thinking: { type: 'disabled' } }
    if (about.forced) return undefined
    return { thinking: { type: 'adaptive' }, effort: effort === 'minimal' ? 'low' : effort }
  }
  if (effort === 'none') return {}
  const { thinking_budgets: own, thinking_share: share } = about.fit
  const wanted = own[effort] ?? thinkingBudgets.get(effort) ?? leastThinkingBudget
  const budget = Math.min(wanted, Math.floor(about.maxTokens * share))
  if (budget < leastThinkingBudget || about.forced || goesOnWithout(about.turns)) return undefined
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

/** Whether the conversation ends in results of tools that were called without thinking first. */
function goesOnWithout(turns: readonly Turn[]): boolean {
  const [before, last] = turns.slice(-2)
  if (!before || !last || typeof last.content === 'string' || typeof before.content === 'string') return false
  const first: Block | undefined = before.content[0]
  return last.content[0]?.type === 'tool_result' && first !== undefined && !isThinking(first)
}
