import { hash } from 'node:crypto'
import { type Message, noUsage, type Pricing, type TraceSummary } from '#kernel'
import { roughTokens, usdOf } from '#kit'
import { type Analysis, type Found, mostExamples, type StoredRequest, servedBy } from '../insight.ts'

const leastCalls = 5
/** Providers cache no shorter beginnings. */
const leastTokens = 1024

interface Opening extends Pick<TraceSummary, 'model'> {
  readonly provider: string
  readonly tokens: number
  readonly traces: string[]
  calls: number
}

/** Long instructions at the beginning of many prompts, which the provider reads in full each time. */
export function promptDuplication(pricing: Pick<Pricing, 'cost' | 'describe'> | undefined): Analysis {
  const openings = new Map<string, Opening>()

  /** What a repetition would cost less if the provider had it in its prompt cache. */
  function savedNano({ provider, model, tokens }: Opening): number {
    if (pricing?.describe(provider, model)?.rates.cachedRead === undefined) return 0
    const read = { ...noUsage, input: tokens, source: 'estimated' as const }
    const full = pricing.cost(provider, model, read)
    const cached = pricing.cost(provider, model, { ...read, cachedRead: tokens })
    return full && cached ? Math.max(0, full.totalNano - cached.totalNano) : 0
  }

  return {
    addRequest({ id, provider, model, usage, status }, request) {
      if (status !== 'ok' || provider === undefined || usage.cachedRead > 0) return
      const messages = openingOf(request)
      const tokens = Math.min(roughTokens({ messages }), usage.input)
      if (tokens < leastTokens) return
      const key = `${provider}/${model} ${hash('sha256', JSON.stringify(messages), 'base64url')}`
      const opening = openings.get(key) ?? { provider, model, tokens, traces: [], calls: 0 }
      openings.set(key, opening)
      opening.calls += 1
      if (opening.traces.length < mostExamples) opening.traces.push(id)
    },
    found() {
      const found: Found[] = []
      for (const [key, opening] of openings) {
        const { calls, tokens, traces } = opening
        if (calls < leastCalls) continue
        const nano = savedNano(opening) * (calls - 1)
        const model = servedBy(opening)
        found.push({
          type: 'prompt_duplication',
          subject: key,
          severity: nano > 0 ? 'medium' : 'low',
          title: `The same instructions are read ${calls} times`,
          description: `${calls} prompts of ${model} begin with the same instructions of about ${tokens} tokens, and none of them came from the provider’s prompt cache.`,
          evidence: {
            model,
            calls,
            estimated_tokens: tokens,
            saved_per_call_usd: usdOf(savedNano(opening)),
            trace_ids: traces,
          },
          savedNano: nano,
        })
      }
      return found
    },
  }
}

/** The instructions before the first turn. */
function openingOf({ messages }: StoredRequest): Message[] {
  if (!Array.isArray(messages)) return []
  const end = messages.findIndex((message) => message?.role !== 'system' && message?.role !== 'developer')
  return messages.slice(0, end === -1 ? messages.length : end)
}
