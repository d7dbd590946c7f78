import { fromWireUsage, type Usage, type WireUsage } from '#kernel'
import type { Quirks } from './quirks.ts'

/** Usage as OpenAI and its likes report it: some name cached tokens in their own way, some count reasoning apart. */
export function usageOf(reported: WireUsage, { reasoning_apart }: Quirks): Usage {
  const usage = fromWireUsage(reported)
  const hit = reported.prompt_cache_hit_tokens
  return {
    ...usage,
    cachedRead: usage.cachedRead === 0 && typeof hit === 'number' && hit > 0 ? hit : usage.cachedRead,
    output: reasoning_apart ? usage.output + usage.reasoning : usage.output,
  }
}

/** What the provider says the call cost, in USD; undefined where it says nothing or nonsense. */
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
