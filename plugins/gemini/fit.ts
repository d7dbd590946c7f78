import type { Call, ModelRequest } from '#kernel'
import { protocolOptions } from '#kit'
import type { Conversation } from './contents.ts'

/** How a call wants to be translated, where there is a choice; `protocolOptions` has what a module says of it. */
export interface Fit {
  /** The content to block, for calls that do not say so themselves. */
  readonly safety_settings?: readonly object[]
  /** Whether instructions have a place of their own, or stand before the first words of the user. */
  readonly system: 'instruction' | 'first_turn'
  /** Tokens to think with, by effort, for models that take a number. */
  readonly thinking_budgets: Readonly<Record<string, number>>
  /** Whether summaries of thoughts are asked for; where it is not said, whenever thoughts are. */
  readonly include_thoughts?: boolean
  /** How functions are called where the request does not say. */
  readonly function_calling?: 'AUTO' | 'ANY' | 'VALIDATED'
  readonly grounding: 'show' | 'hide'
}

const usual: Fit = { system: 'instruction', thinking_budgets: {}, grounding: 'show' }

export const fitOf = (call: Call): Fit => ({ ...usual, ...protocolOptions(call, 'gemini') })

/** The conversation with its instructions as the first words of the user, for models that take no others. */
export function placed(conversation: Conversation, { system }: Pick<Fit, 'system'>): Conversation {
  const { systemInstruction, contents } = conversation
  if (system === 'instruction' || !systemInstruction) return conversation
  const [first, ...rest] = contents
  if (first?.role !== 'user') return { contents: [{ ...systemInstruction, role: 'user' }, ...contents] }
  return { contents: [{ ...first, parts: [...systemInstruction.parts, ...first.parts] }, ...rest] }
}

/** What is asked of the model's thinking, as this call wants it. */
export function fittedThinking(
  config: object | undefined,
  { reasoning_effort: effort }: ModelRequest,
  { thinking_budgets: budgets, include_thoughts: shown }: Fit,
): object | undefined {
  if (!config) return undefined
  const { includeThoughts, ...asked } = config as { includeThoughts?: boolean; thinkingBudget?: number }
  const budget = typeof effort === 'string' ? budgets[effort] : undefined
  const shows = shown ?? includeThoughts
  return {
    ...asked,
    ...(asked.thinkingBudget !== undefined && budget !== undefined && { thinkingBudget: budget }),
    ...(shows !== undefined && { includeThoughts: shows }),
  }
}
