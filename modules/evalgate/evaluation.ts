import type { Call, Choice, Completion } from '#kernel'
import { messageTexts } from '#kit'
import type { Check, Given } from './checks.ts'

/** What all checks find of an answer. */
export interface Evaluation {
  /** The mean of all scores, 1 where nothing was checked. */
  readonly score: number
  /** The names of the checks that failed. */
  readonly failed: readonly string[]
  /** What is wrong, in words for the model. */
  readonly problems: readonly string[]
}

/** Holds each choice of an answer that is a text to all checks. */
export async function evaluate(
  { choices = [] }: Completion,
  checks: ReadonlyMap<string, Check>,
  call: Call,
): Promise<Evaluation> {
  const scores: number[] = []
  const failed = new Set<string>()
  const problems = new Set<string>()
  for (const given of choices.flatMap(givenIn)) {
    for (const [name, check] of checks) {
      const verdict = await check(given, call)
      if (!verdict) continue
      scores.push(verdict.score)
      if (verdict.problem === undefined) continue
      failed.add(name)
      problems.add(verdict.problem)
    }
  }
  const sum = scores.reduce((all, one) => all + one, 0)
  const score = scores.length === 0 ? 1 : Math.round((sum / scores.length) * 1000) / 1000
  return { score, failed: [...failed], problems: [...problems] }
}

/** Calls of tools are no answer yet, and what a service did by itself has its own form. */
function givenIn({ message, text }: Choice): Given[] {
  if (text !== undefined && !message) return [{ text, refusal: undefined }]
  if (!message || message.tool_calls?.length || message.function_call || message.vendor_blocks) return []
  return [{ text: messageTexts(message).join('\n'), refusal: message.refusal }]
}
