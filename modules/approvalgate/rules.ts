import type { Call } from '#kernel'
import { compileGlobs, patternTest, requestTexts } from '#kit'
import type { Rule } from './settings.ts'

/** Why a call is held. */
export interface Match {
  readonly rule: string
  /** Nano-dollars, where a rule asked for the cost. */
  readonly nano?: number
}

/** Finds the first rule that a call matches. `costOf` estimates a call's cost in nano-dollars; it is asked where a rule needs it. */
export function matcherOf(
  rules: readonly Rule[],
  costOf: (call: Call) => Promise<number>,
): (call: Call) => Promise<Match | undefined> {
  const compiled = rules.map((rule) => ({ ...rule, matches: conditionsOf(rule) }))
  return async (call) => {
    let nano: number | undefined
    for (const { name, matches, min_cost_usd: least } of compiled) {
      if (!matches(call)) continue
      if (least !== undefined) {
        nano ??= await costOf(call)
        if (nano < least * 1e9) continue
      }
      return { rule: name, ...(nano !== undefined && { nano }) }
    }
    return undefined
  }
}

/** Whether a call meets all conditions of a rule but that of its cost. */
function conditionsOf({ models, tools, tags, pattern }: Rule): (call: Call) => boolean {
  const conditions: ((call: Call) => boolean)[] = []
  if (models) {
    const matches = compileGlobs(models)
    conditions.push(({ request }) => matches(request.model))
  }
  if (tools) {
    const matches = compileGlobs(tools)
    conditions.push(({ request }) => toolNames(request.tools).some(matches))
  }
  if (tags) {
    const wanted = Object.entries(tags)
    conditions.push(({ context }) => wanted.every(([name, value]) => context.tags[name] === value))
  }
  if (pattern !== undefined) {
    const matches = patternTest(pattern)
    conditions.push(({ request }) => requestTexts(request).some(({ text }) => matches(text)))
  }
  return (call) => conditions.every((holds) => holds(call))
}

/** The names of tools that the model is offered. A tool of a provider's own goes by its type. */
export const toolNames = (tools: Call['request']['tools']): string[] =>
  (tools ?? []).map((tool) => tool.function?.name ?? tool.type)
