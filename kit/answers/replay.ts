import type { Call } from '../../kernel/call/call.ts'
import type { Reply } from '../../kernel/call/reply.ts'
import type { Cached } from '../../kernel/call/trace-records.ts'
import { replyWith } from '../../kernel/stream/collect.ts'
import { type Filter, filterStream } from '../../kernel/stream/filter.ts'
import { Assembler } from '../canonical/assemble.ts'
import type { Completion } from '../canonical/forms.ts'
import type { CacheEntry } from './entry.ts'
import { ageS } from './kept-answers.ts'

/** Gives a kept answer to a call, in the form that the call asked for, and says so in its trace and its headers. */
export function replayed(call: Call, found: CacheEntry, as: Pick<Cached, 'kind' | 'similarity'>): Reply {
  const age = Math.floor(ageS(found))
  call.trace.cached = { ...as, ageS: age, origin: found.origin }
  call.trace.header('x-cache', 'hit')
  call.trace.header('age', age)
  return replyWith(call, found.body)
}

/** The answer, which is handed to `done` when the whole of it has come. */
export function watched(reply: Reply, done: (body: Completion, bytes?: number) => void): Reply {
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
export function isStorable({ choices, data }: Completion, toolCalls: boolean): boolean {
  if (data) return data.length > 0
  if (!choices || choices.length === 0) return false
  return choices.every(({ finish_reason, message }) => {
    if (!finish_reason || finish_reason === 'content_filter' || message?.refusal) return false
    return toolCalls || !message?.tool_calls?.length
  })
}
