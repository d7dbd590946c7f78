import type { ChoiceDelta, CompletionChunk } from '../canonical/forms.ts'

/**
 * One chunk that says what several say. Each choice is in it once: a filter lets go of what it holds before the end of a
 * choice, and would put it before the rest of the same chunk.
 */
export function joinChunks(chunks: readonly CompletionChunk[]): CompletionChunk {
  const choices = new Map<number, ChoiceDelta>()
  for (const chunk of chunks)
    for (const choice of chunk.choices) {
      const before = choices.get(choice.index)
      choices.set(choice.index, before ? joined(before, choice) : choice)
    }
  return Object.assign({}, ...chunks, { choices: [...choices.values()] }) as CompletionChunk
}

function joined(
  { delta: first, ...before }: ChoiceDelta,
  { delta: more, ...after }: ChoiceDelta,
): ChoiceDelta {
  const delta: Record<string, unknown> = { ...first }
  for (const [field, value] of Object.entries(more ?? {})) {
    const known = delta[field]
    if (field !== 'role' && typeof known === 'string' && typeof value === 'string')
      delta[field] = known + value
    else if (Array.isArray(known) && Array.isArray(value))
      delta[field] = [...(known as unknown[]), ...(value as unknown[])]
    else delta[field] = value ?? known ?? null
  }
  const finish_reason = after.finish_reason ?? before.finish_reason
  return { ...before, ...after, delta, ...(finish_reason !== undefined && { finish_reason }) }
}
