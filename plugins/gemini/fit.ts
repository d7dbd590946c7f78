import type { Call, ModelRequest } from '#kernel'
import { compileGlobs, protocolOptions } from '#kit'
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
  /** Contents in the service's cache, and the instructions that each holds. */
  readonly cached_contents: readonly CachedContent[]
}

interface CachedContent {
  readonly cached_content: string
  /** Globs. */
  readonly models: readonly string[]
  readonly system: string
}

const usual: Fit = {
  system: 'instruction',
  thinking_budgets: {},
  grounding: 'show',
  cached_contents: [],
}

export const fitOf = (call: Call): Fit => ({ ...usual, ...protocolOptions(call, 'gemini') })

/** The conversation with its instructions as the first words of the user, for models that take no others. */
export function placed(conversation: Conversation, { system }: Pick<Fit, 'system'>): Conversation {
  const { systemInstruction, contents } = conversation
  if (system === 'instruction' || !systemInstruction) return conversation
  const [first, ...rest] = contents
  if (first?.role !== 'user') return { contents: [{ ...systemInstruction, role: 'user' }, ...contents] }
  return { contents: [{ ...first, parts: [...systemInstruction.parts, ...first.parts] }, ...rest] }
}

interface GeminiBody {
  readonly systemInstruction?: Conversation['systemInstruction']
  readonly tools?: unknown
  readonly cachedContent?: unknown
}

/**
 * The body with the name of a cached content in place of the instructions that it holds. The service takes no tools beside one, so
 * a call with tools stays as it is.
 */
export function withCachedContent(
  body: GeminiBody,
  model: string,
  { cached_contents: contents }: Pick<Fit, 'cached_contents'>,
): GeminiBody {
  const { systemInstruction, ...rest } = body
  if (
    contents.length === 0 ||
    !systemInstruction ||
    rest.tools !== undefined ||
    rest.cachedContent !== undefined
  )
    return body
  const text = systemInstruction.parts.map((part) => part.text ?? '').join('\n\n')
  const found = contents.find(({ models, system }) => system === text && compileGlobs(models)(model))
  return found ? { ...rest, cachedContent: found.cached_content } : body
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
