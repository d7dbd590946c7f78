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
