import { z } from 'zod'
import { type Call, defineModule, Pricing, providerError, Sealing, WholeReply } from '#kernel'
import { ageS, answerSharing, cacheDirectives, circleOf, KeptAnswers, vectorsOf } from '#kit'
import { answerWith, noTokens } from './embeddings.ts'
import { type Wanted, wantedBy } from './inputs.ts'
import { type Known, keepEach, lookUp, unknownOf, vectorOf } from './known.ts'
import { savedNano } from './savings.ts'

export default defineModule({
  settings: z.strictObject({
    ttl_s: z
      .int()
      .min(1)
      .default(7 * 24 * 3600)
      .meta({ title: 'Time to live', description: 'Seconds for which an embedding may be reused.' }),
    max_entries: z
      .int()
      .min(1)
      .default(50_000)
      .meta({ title: 'Maximum entries', description: 'Largest number of stored embeddings.' }),
    max_bytes: z
      .int()
      .min(1024)
      .default(256 * 1024 * 1024)
      .meta({ title: 'Maximum memory', description: 'Largest size of the embeddings in memory, in bytes.' }),
    share: answerSharing,
  }),

  async setup(context) {
    const { ttl_s, max_entries, max_bytes, share } = context.settings
    const answers = await KeptAnswers.of(context, {
      ttlS: ttl_s,
      maxEntries: max_entries,
      maxBytes: max_bytes,
      sealing: () => context.use(Sealing),
    })
    const { id, find } = context

    function count(call: Call, wanted: readonly Wanted[], known: Known, misses: number): void {
      const { figures } = answers
      for (const { key } of wanted) {
        const entry = known.get(key)
        if (entry) figures.hit(key, entry.body.usage?.total_tokens ?? 0)
      }
      for (let n = 0; n < misses; n += 1) figures.miss()
      if (known.size === 0) return
      figures.save(savedNano(known.values(), find(Pricing), call.trace.startedAt))
      call.trace.note(id, 'reused', { inputs: wanted.length, asked: misses })
    }

    return {
      wraps: ({ operation }) => operation === 'embedding',
      async around(call, next) {
        const { skip, fresh, maxAgeS } = cacheDirectives(call.context.headers['cache-control'])
        if (skip) return next(call)
        const wanted = wantedBy(call, circleOf(call, share))
        const known = await lookUp(answers, fresh ? [] : wanted, maxAgeS)
        const unknown = unknownOf(wanted, known)
        count(call, wanted, known, unknown.length)
        if (unknown.length === 0) return hit(call, wanted, known)

        call.trace.header('x-cache', known.size > 0 ? 'partial' : 'miss')
        const isWhole = unknown.length === wanted.length
        const reply = await next(
          isWhole ? call : call.withRequest({ input: unknown.map(({ input }) => input) }),
        )
        if (reply.kind === 'stream') return reply
        const { body, attempt } = reply
        const vectors = vectorsOf(body, unknown.length)
        if (vectors) keepEach(answers, call, unknown, vectors, body, call.trace.served)
        if (isWhole) return reply
        if (!vectors) throw providerError('The provider did not give one embedding for each input.')
        const added = new Map(unknown.map(({ key }, place) => [key, vectors[place]!]))
        const all = wanted.map(({ key }) => added.get(key) ?? vectorOf(known.get(key)!))
        const merged = WholeReply.of(answerWith(body, all, body.usage ?? noTokens))
        return attempt ? merged.by(attempt) : merged
      },
    }
  },
})

/** The answer to a call whose embeddings are all known; it cost no tokens. */
function hit(call: Call, wanted: readonly Wanted[], known: Known): WholeReply {
  const entries = wanted.map(({ key }) => known.get(key)!)
  const age = Math.floor(Math.max(...entries.map(ageS)))
  call.trace.cached = { kind: 'exact', ageS: age, origin: entries[0]!.origin }
  call.trace.header('x-cache', 'hit')
  call.trace.header('age', age)
  return WholeReply.of(answerWith(entries[0]!.body, entries.map(vectorOf), noTokens))
}
