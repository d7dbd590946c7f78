import type { Call } from '../kernel/call/call.ts'
import { type Reply, StreamReply } from '../kernel/call/reply.ts'
import type { Next } from '../kernel/chain/hooks.ts'
import { type Filter, filterStream } from '../kernel/stream/filter.ts'
import { KeptReply } from '../kernel/stream/kept-reply.ts'
import type { Chunk } from '../kit/canonical/chunk.ts'
import type { Feed } from './feed.ts'
import { compareReplies } from './reply.ts'
import type { ShadowRun } from './run.ts'

type Around = (call: Call, next: Next) => Promise<Reply>

/** Thrown at a module in shadow that would make the call a second time: it was made once, and is not made again. */
class Again extends Error {
  constructor() {
    super('a module in shadow makes no further calls')
    this.name = 'Again'
  }
}

/**
 * Makes the call as if the module were not there, and lets the module wrap what came of it: its first `next` is given a
 * copy of the answer, or the error; that it would have asked again, for something else, or not at all is noted.
 */
export async function aroundAside(run: ShadowRun, around: Around, call: Call, next: Next): Promise<Reply> {
  const given = Promise.withResolvers<Reply>()
  given.promise.catch(() => {})
  run.run('around', () => wrap(run, around, run.view(call), given.promise))
  try {
    const reply = await next(call)
    if (reply.kind === 'whole') {
      given.resolve(reply)
      return reply
    }
    const feed = run.feed()
    given.resolve(new StreamReply(reply.wire, feed))
    return reply.through(filterStream(reply.chunks, [tapInto(feed)]))
  } catch (error) {
    given.reject(error)
    throw error
  }
}

/** A filter that passes everything on, and to a feed. */
export function tapInto(feed: Feed): Filter {
  return {
    push(chunk: Chunk, out) {
      out.emit(chunk)
      feed.push(chunk)
    },
    end: () => feed.end(),
  }
}

async function wrap(run: ShadowRun, around: Around, call: Call, given: Promise<Reply>): Promise<void> {
  let asked = 0
  let passed: unknown
  let shown: KeptReply | undefined
  const nextAside: Next = async (to) => {
    asked += 1
    run.compare('request', call.request, to.request)
    if (asked > 1) {
      run.note('called_again')
      throw new Again()
    }
    try {
      shown = new KeptReply(await given)
      return shown.reply
    } catch (error) {
      passed = error
      throw error
    }
  }
  try {
    const made = await around(call, nextAside)
    if (!shown) run.note('answered')
    else await compareReplies(run, shown, made)
  } catch (error) {
    if (error !== passed && !(error instanceof Again)) throw error
  }
}
