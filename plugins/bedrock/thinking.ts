import { badRequest, type ModelRequest } from '#kernel'
import { tokenLimit } from '#kit'
import { type Changes, leastThinkingBudget, thinkingBudgets } from '#provider'
import type { ModelFacts } from './models.ts'
import type { Turn } from './wire.ts'

type Fields = Readonly<Record<string, unknown>>

interface About {
  readonly facts: ModelFacts
  readonly turns: readonly Turn[]
  /** Whether a tool must be called: then no Claude may think. */
  readonly forced: boolean
  /** Whether that tool is the gateway's own, which stands for a schema. */
  readonly schemaAsTool: boolean
  readonly changes: Changes
}

/** The model's own fields that tell it how to think, from `thinking` as it is or from `reasoning_effort`. */
export function thinkingOf(request: ModelRequest, about: About): Fields {
  const { thinking, reasoning_effort: effort } = request
  const { facts, changes } = about
  if (thinking !== undefined && thinking !== null) {
    if (facts.maker === 'anthropic' && !about.schemaAsTool) return { thinking }
    changes.add('-thinking')
  }
  if (effort === undefined || effort === null) return {}
  if (typeof effort !== 'string' || !thinkingBudgets.has(effort)) {
    const param = 'reasoning_effort'
    throw badRequest(`${param}: expected ${[...thinkingBudgets.keys()].join(', ')}.`, { param })
  }
  const fields = fieldsOf(effort, request, about)
  if (!fields && effort !== 'none') changes.add('-reasoning_effort')
  return fields ?? {}
}

function fieldsOf(effort: string, request: ModelRequest, { facts, turns, forced, changes }: About) {
  const told = (value: string): string => {
    if (value !== effort) changes.add(`reasoning_effort:${effort}->${value}`)
    return value
  }
  switch (facts.thinking) {
    case 'budget': {
      if (effort === 'none' || forced || goesOnWithout(turns)) return undefined
      const room = Math.floor((tokenLimit(request) ?? Number.POSITIVE_INFINITY) * 0.8)
      const budget = Math.min(thinkingBudgets.get(effort)!, room)
      return budget < leastThinkingBudget
        ? undefined
        : { thinking: { type: 'enabled', budget_tokens: budget } }
    }
    case 'adaptive':
      if (effort === 'none') return { thinking: { type: 'disabled' } }
      if (forced) return undefined
      return {
        thinking: { type: 'adaptive' },
        output_config: { effort: told(effort === 'minimal' ? 'low' : effort) },
      }
    case 'nova':
      if (effort === 'none') return { reasoningConfig: { type: 'disabled' } }
      return { reasoningConfig: { type: 'enabled', maxReasoningEffort: told(ofThree(effort)) } }
    case 'effort':
      return { reasoning_effort: told(ofThree(effort)) }
    default:
      return undefined
  }
}

const ofThree = (effort: string): string =>
  effort === 'none' || effort === 'minimal' ? 'low' : effort === 'xhigh' || effort === 'max' ? 'high' : effort

/** Whether the conversation ends in results of tools that were called without thinking first. */
function goesOnWithout(turns: readonly Turn[]): boolean {
  const [before, last] = turns.slice(-2)
  const first = before?.content[0]
  return last?.content[0]?.toolResult !== undefined && first !== undefined && !first.reasoningContent
}
