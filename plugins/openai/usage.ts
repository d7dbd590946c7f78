import type { WireUsage } from '#kernel'
import type { Quirks } from './quirks.ts'

/** A report of usage in the likeness of OpenAI's. */
type Reported = WireUsage & { readonly prompt_cache_hit_tokens?: unknown; readonly cached_tokens?: unknown }

/**
 * Usage as OpenAI reports it, for the client, the trace and the bill alike: reasoning is part of the completion, which
 * some count apart, and cached tokens are among the details, which some have elsewhere. The same object where it is so
 * already.
 */
export function canonicalUsage(reported: WireUsage, quirks: Quirks): WireUsage {
  const apart = apartOf(reported, quirks)
  const cached = cachedOf(reported)
  if (apart === 0 && cached === undefined) return reported
  const completion = count(reported.completion_tokens) + apart
  return {
    ...reported,
    ...(apart > 0 && {
      completion_tokens: completion,
      total_tokens: count(reported.prompt_tokens) + completion,
    }),
    ...(cached !== undefined && {
      prompt_tokens_details: { ...reported.prompt_tokens_details, cached_tokens: cached },
    }),
  }
}

/** Tokens of reasoning that are not in the completion's. The total says so; where it says nothing, the quirk does. */
function apartOf(reported: WireUsage, { reasoning_apart }: Quirks): number {
  const reasoning = count(reported.completion_tokens_details?.reasoning_tokens)
  if (reasoning === 0) return 0
  const said = count(reported.prompt_tokens) + count(reported.completion_tokens)
  const total = count(reported.total_tokens)
  if (total === said + reasoning) return reasoning
  return reasoning_apart && total !== said ? reasoning : 0
}

/** Cached tokens that stand where clients do not look: DeepSeek and Moonshot have their own places. */
function cachedOf(reported: Reported): number | undefined {
  if (count(reported.prompt_tokens_details?.cached_tokens) > 0) return undefined
  const cached = count(reported.prompt_cache_hit_tokens) || count(reported.cached_tokens)
  return cached > 0 ? cached : undefined
}

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? value : 0)

/** The cost in the provider's report, in USD; undefined where it reports none or nonsense. */
export function costOf(reported: unknown, { cost_at }: Quirks): number | undefined {
  if (cost_at === undefined) return undefined
  return numberAt(reported, cost_at)
}

/** A number in an answer, not below zero; `path` has dots between the fields. */
export function numberAt(answer: unknown, path: string): number | undefined {
  let value = answer
  for (const field of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[field]
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
