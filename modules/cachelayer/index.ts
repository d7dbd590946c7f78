import { z } from 'zod'
import { type Call, type Completion, defineModule, type Filter, type Reply, Sealing } from '#kernel'
import {
  Assembler,
  ageS,
  answerKey,
  answerSharing,
  type CacheEntry,
  cacheDirectives,
  circleOf,
  filterStream,
  KeptAnswers,
  replyWith,
} from '#kit'

export default defineModule({
  settings: z.strictObject({
    ttl_s: z
      .int()
      .min(1)
      .default(3600)
      .meta({ title: 'Time to live', description: 'Seconds for which an answer may be reused.' }),
    max_entries: z
      .int()
      .min(1)
      .default(10_000)
      .meta({ title: 'Maximum entries', description: 'Largest number of stored answers.' }),
    max_bytes: z
      .int()
      .min(1024)
      .default(256 * 1024 * 1024)
      .meta({ title: 'Maximum memory', description: 'Largest size of the answers in memory, in bytes.' }),
    share: answerSharing,
    tool_calls: z.boolean().default(false).meta({
      title: 'Tool calls',
      description: 'Whether answers with tool calls are stored too.',
    }),
  }),

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
          return hit(call, found)
        }
        answers.figures.miss()
        call.trace.header('x-cache', 'miss')
        const reply = await next(call)
        const { served } = call.trace
        return watched(reply, (body, bytes) => {
          if (storable(body, tool_calls)) answers.keep(call, key, body, { served, bytes })
        })
      },
      settled({ saved }, call) {
        if (saved && wasHit(call).is) answers.figures.save(saved.totalNano)
      },
    }
  },
})

function hit(call: Call, found: CacheEntry): Reply {
  const age = Math.floor(ageS(found))
  call.trace.cached = { kind: 'exact', ageS: age, origin: found.origin }
  call.trace.header('x-cache', 'hit')
  call.trace.header('age', age)
  return replyWith(call, found.body)
}

/** The answer, which is handed to `done` when the whole of it has come. */
function watched(reply: Reply, done: (body: Completion, bytes?: number) => void): Reply {
  if (reply.kind === 'whole') {
    done(reply.body, reply.raw?.length)
    return reply
  }
  const assembler = new Assembler()
  const tap: Filter = {
    push(chunk, out) {
      assembler.add(chunk.data)
      out.emit(chunk)
    },
    end: () => done(assembler.completion()),
  }
  return reply.through(filterStream(reply.chunks, [tap]))
}

/** Whether an answer may be given again: complete, not refused, and without tool calls unless that is wanted. */
function storable({ choices, data }: Completion, toolCalls: boolean): boolean {
  if (data) return data.length > 0
  if (!choices || choices.length === 0) return false
  return choices.every(({ finish_reason, message }) => {
    if (!finish_reason || finish_reason === 'content_filter' || message?.refusal) return false
    return toolCalls || !message?.tool_calls?.length
  })
}
