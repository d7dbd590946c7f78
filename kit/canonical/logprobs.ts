import type { Choice, Completion } from './forms.ts'

/** Lists of log probabilities by field, in either of OpenAI's forms. */
export type LogprobLists = Record<string, unknown[]>

/** Appends what comes to what there is, list by list. A list costs its own length, however long the one before it is. */
export function joinLogprobs(joined: LogprobLists, more: unknown): LogprobLists {
  for (const [field, values] of Object.entries(more ?? {})) {
    if (!Array.isArray(values)) continue
    joined[field] ??= []
    for (const value of values as unknown[]) joined[field].push(value)
  }
  return joined
}

/** The lists as they are now, which do not go on. */
export const copyLogprobs = (joined: LogprobLists): LogprobLists =>
  Object.fromEntries(Object.entries(joined).map(([field, values]) => [field, [...values]]))

/** Log probabilities spell the text out once more; those of a text that is no longer there are left out. */
export function withoutStaleLogprobs(redacted: Completion, body: Completion): Completion {
  const choices = redacted.choices!.map((choice, i): Choice => {
    const changed = choice !== body.choices![i]
    return changed && choice.logprobs ? { ...choice, logprobs: null } : choice
  })
  return { ...redacted, choices }
}
