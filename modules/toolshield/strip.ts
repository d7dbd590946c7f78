import type { Choice, Completion, Message } from '#kernel'
import type { Refused } from './judge.ts'

/** The answer without these calls. A choice that has none left ends as filtered content does, so that its reader learns of it. */
export function stripped(body: Completion, refused: readonly Refused[]): Completion {
  const choices = body.choices?.map((choice) => {
    const gone = new Set(refused.filter((one) => one.choice === choice.index).map(({ place }) => place))
    return gone.size === 0 || !choice.message ? choice : strippedChoice(choice, choice.message, gone)
  })
  return choices ? { ...body, choices } : body
}

function strippedChoice(choice: Choice, message: Message, gone: ReadonlySet<number>): Choice {
  const { tool_calls, function_call, ...rest } = message
  const calls = tool_calls ?? []
  const kept = calls.filter((_, place) => !gone.has(place))
  const isOldKept = Boolean(function_call) && !gone.has(calls.length)
  const left: Message = {
    ...rest,
    ...(kept.length > 0 && { tool_calls: kept }),
    ...(isOldKept && { function_call }),
  }
  if (kept.length > 0 || isOldKept) return { ...choice, message: left }
  const { native_finish_reason: _, ...ended } = choice
  const isCut = choice.finish_reason === 'length'
  return { ...ended, message: left, finish_reason: isCut ? 'length' : 'content_filter' }
}
