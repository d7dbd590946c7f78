/** Lists of log probabilities by field, in either of OpenAI's forms. */
export type LogprobLists = Record<string, unknown[]>

/** Appends what comes to what there is, list by list. */
export function joinLogprobs(joined: LogprobLists, more: unknown): LogprobLists {
  for (const [field, values] of Object.entries(more ?? {})) {
    if (Array.isArray(values)) joined[field] = [...(joined[field] ?? []), ...(values as unknown[])]
  }
  return joined
}
