import { z } from 'zod'
import {
  AnswerCaches,
  type Attempt,
  type Call,
  type Completion,
  defineModule,
  type Filter,
  type Reply,
} from '#kernel'
import {
  Assembler,
  answerKey,
  answerSharing,
  cacheDirectives,
  circleOf,
  filterStream,
  personalOfUsers,
  replyWith,
} from '#kit'
import { Entries } from './entries.ts'
import { type CacheEntry, createKept, type Stored } from './entry.ts'
import { Figures } from './figures.ts'
import { managed } from './managed.ts'
import { sealsOf } from './seals.ts'

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
    const { settings, store, memory, every, own, signal, log, slot, use } = context
    const { ttl_s, max_entries, max_bytes, share, tool_calls } = settings
    const kept = memory(`kept ${max_entries} ${max_bytes}`, () => createKept(max_entries, max_bytes))
    const figures = new Figures(await store.counters('figures'))
    const wasHit = slot(() => ({ is: false }))
    const stored = memory('sizes', (): Stored => ({ keys: undefined }))
    const seals = sealsOf(context)
    const entries = new Entries({ store, kept, stored, seals, maxEntries: max_entries })
    own(entries.watch())
    own(() => entries.save())
    entries.load().catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error }, 'the stored answers could not be listed')
    })
    every(minuteMs, () => entries.save(Date.now() - minuteMs), { inEachThread: true })
    every(minuteMs, async () => {
      await entries.sweep()
      figures.sweep((key) => entries.has(key))
    })
    const cache = managed(context, entries, figures)
    own(use(AnswerCaches).add(cache))
    const clearedAt = await use(AnswerCaches).clearedAt()
    if (clearedAt !== undefined) await cache.clearUntil(clearedAt)
    context.personal(
      personalOfUsers({ count: (id) => cache.countOf(id), erase: (userId) => cache.clear({ userId }) }),
    )

    const keep = (call: Call, key: string, body: Completion, served?: Attempt, bytes?: number): void => {
      if (!storable(body, tool_calls)) return
      const now = Date.now()
      const { principal, context, request } = call
      const origin = served && { provider: served.provider, model: served.model }
      const asked = {
        ...(principal.userId !== undefined && { user_id: principal.userId }),
        project: context.project,
        model: request.model,
      }
      const times = { stored_at: now, expires_at: now + ttl_s * 1000 }
      entries.add(key, { body, ...times, origin, asked, seal: seals.sealFor(call) }, bytes)
    }

    return {
      async around(call, next) {
        const { skip, fresh, maxAgeS } = cacheDirectives(call.context.headers['cache-control'])
        if (skip) return next(call)
        const key = answerKey(call, circleOf(call, share))
        const looked = fresh ? undefined : entries.find(key)
        const found = looked instanceof Promise ? await looked : looked
        if (found && ageS(found) <= maxAgeS) {
          wasHit(call).is = true
          figures.hit(key, found.body.usage?.total_tokens ?? 0)
          return hit(call, found)
        }
        figures.miss()
        call.trace.header('x-cache', 'miss')
        const reply = await next(call)
        const { served } = call.trace
        return watched(reply, (body, bytes) => keep(call, key, body, served, bytes))
      },
      settled({ saved }, call) {
        if (saved && wasHit(call).is) figures.save(saved.totalNano)
      },
    }
  },
})

/** How long an answer is kept before it is stored; it would be lost if the process broke down until then. */
const minuteMs = 60_000

const ageS = ({ stored_at }: CacheEntry): number => (Date.now() - stored_at) / 1000

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
