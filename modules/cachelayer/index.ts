import { z } from 'zod'
import { defineModule, Sealing } from '#kernel'
import {
  ageS,
  answerCacheFields,
  answerKey,
  cacheDirectives,
  circleOf,
  isStorable,
  KeptAnswers,
  replayed,
  watched,
} from '#kit'

export default defineModule({
  settings: z.strictObject(answerCacheFields),

  async setup(context) {
    const { ttl_s, max_entries, max_bytes, share, tool_calls } = context.settings
    const answers = await KeptAnswers.of(context, {
      ttlS: ttl_s,
      maxEntries: max_entries,
      maxBytes: max_bytes,
      sealing: () => context.use(Sealing),
    })
    const wasHit = context.slot(() => ({ is: false }))

    return {
      async around(call, next) {
        const { skip, fresh, maxAgeS } = cacheDirectives(call.context.headers['cache-control'])
        if (skip) return next(call)
        const key = answerKey(call, circleOf(call, share))
        const looked = fresh ? undefined : answers.find(key)
        const found = looked instanceof Promise ? await looked : looked
        if (found && ageS(found) <= maxAgeS) {
          wasHit(call).is = true
          answers.figures.hit(key, found.body.usage?.total_tokens ?? 0)
          return replayed(call, found, { kind: 'exact' })
        }
        answers.figures.miss()
        call.trace.header('x-cache', 'miss')
        const reply = await next(call)
        const { served, cached } = call.trace
        // The answer of another cache is not newer for having come by here.
        if (cached?.kind === 'semantic') return reply
        return watched(reply, (body, bytes) => {
          if (isStorable(body, tool_calls)) answers.keep(call, key, body, { served, bytes })
        })
      },
      settled({ saved }, call) {
        if (saved && wasHit(call).is) answers.figures.save(saved.totalNano)
      },
    }
  },
})
