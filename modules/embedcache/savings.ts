import { fromWireUsage, type Pricing } from '#kernel'
import type { CacheEntry } from '#kit'

/** Nano-dollars that embeddings would cost if they were asked for again; 0 for those without a price. */
export function savedNano(entries: Iterable<CacheEntry>, prices: Pricing | undefined, at: number): number {
  const tokens = new Map<string, { readonly provider: string; readonly model: string; sum: number }>()
  for (const { origin, body } of entries) {
    if (!origin) continue
    const name = `${origin.provider}/${origin.model}`
    const group = tokens.get(name) ?? { ...origin, sum: 0 }
    group.sum += body.usage?.prompt_tokens ?? 0
    tokens.set(name, group)
  }
  let nano = 0
  for (const { provider, model, sum } of tokens.values()) {
    const usage = fromWireUsage({ prompt_tokens: sum, total_tokens: sum })
    nano += prices?.cost(provider, model, usage, at)?.totalNano ?? 0
  }
  return nano
}
