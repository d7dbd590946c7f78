import type { Choice, Completion } from './forms.ts'

/** Lists of log probabilities by field, in either of OpenAI's forms. */
export type LogprobLists = Record<string, unknown[]>

/** Appends what comes to what there is, list by list. */
export function joinLogprobs(joined: LogprobLists, more: unknown): LogprobLists {
  for (const [field, values] of Object.entries(more ?? {})) {
    if (Array.isArray(values)) joined[field] = [...(joined[field] ?? []), ...(values as unknown[])]
  }
  return joined
}

/** Log probabilities spell the text out once more; those of a text that is no longer there are left out. */
export function withoutStaleLogprobs(redacted: Completion, body: Completion): Completion {
  const choices = redacted.choices!.map((choice, i): Choice => {
    const changed = choice !== body.choices![i]
    return changed && choice.logprobs ? { ...choice, logprobs: null } : choice
  })
  return { ...redacted, choices }
}
