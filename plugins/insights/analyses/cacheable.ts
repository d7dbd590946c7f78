import { hash } from 'node:crypto'
import type { TraceSummary } from '#kernel'
import { orderedJson, usdOf } from '#kit'
import { type Analysis, mostExamples } from '../insight.ts'

const leastRepeats = 5
/** As long as the cache keeps answers by default. */
const ttlMs = 3_600_000
/** Fields that change how an answer is delivered, not what it says. */
const irrelevant = new Set(['stream', 'stream_options', 'user', 'metadata'])

type Asked = Pick<TraceSummary, 'id' | 'at'> & { readonly nano: number }

/** Requests that the same user has sent before, which a cache would have answered. */
export function cacheable(): Analysis {
  const requests = new Map<string, Asked[]>()
  return {
    addRequest({ id, at, status, user_id, key_id, operation, cost }, request) {
      if (status !== 'ok') return
      const text = JSON.stringify([user_id ?? key_id, operation]) + orderedJson(request, irrelevant)
      const key = hash('sha256', text, 'base64url')
      const asked = requests.get(key) ?? []
      asked.push({ id, at, nano: cost?.total_nano ?? 0 })
      requests.set(key, asked)
    },
    found() {
      const repeats = [...requests.values()].flatMap(repeatsAmong)
      if (repeats.length < leastRepeats) return []
      const nano = repeats.reduce((sum, one) => sum + one.nano, 0)
      return [
        {
          type: 'cacheable',
          subject: '',
          severity: nano > 0 ? 'medium' : 'low',
          title: 'The same requests are sent again',
          description: `${repeats.length} calls asked what the same user had asked within the hour before. The module cachelayer answers such calls without a provider.`,
          evidence: {
            calls: repeats.length,
            cost_usd: usdOf(nano),
            ttl_s: ttlMs / 1000,
            trace_ids: repeats.slice(0, mostExamples).map(({ id }) => id),
          },
          savedNano: nano,
        },
      ]
    },
  }
}

/** Those that an answer to one of them before would still have been kept for. */
function repeatsAmong(asked: readonly Asked[]): Asked[] {
  let keptUntil = Number.NEGATIVE_INFINITY
  return asked
    .toSorted((a, b) => a.at - b.at)
    .filter(({ at }) => {
      if (at < keptUntil) return true
      keptUntil = at + ttlMs
      return false
    })
}
