import type { Chunk } from '../../kit/canonical/chunk.ts'
import { continueWith } from '../../kit/work/continue-with.ts'
import type { Call } from '../call/call.ts'
import { withoutBody } from '../call/outcome.ts'
import { changedTexts, mergeParameters } from '../call/redacted.ts'
import type { Reply } from '../call/reply.ts'
import type { Hooks, Next } from '../chain/hooks.ts'
import { checkedFilter, checkedStep } from '../chain/returned.ts'
import type { Detection } from '../detect/detect.ts'
import type { Filter, Out } from '../stream/filter.ts'
import { denied, type Grants } from './permissions.ts'
import { mapDetections, wrapHooks } from './wrap-hooks.ts'

type Around = NonNullable<Hooks['around']>

/**
 * Hooks that see and change no more of calls than their module asked for. Those that are handed texts cannot be had
 * without reading them; the others get calls without texts. A plugin that may read and write keeps its hooks unchanged.
 */
export function grantedHooks(id: string, hooks: Hooks, grants: Grants): Hooks {
  if (grants.writes) return hooks
  return grants.reads ? reading(id, hooks) : blind(id, hooks)
}

const handed = ['around', 'detect', 'reply', 'stream', 'reveal', 'show'] as const

function blind(id: string, hooks: Hooks): Hooks {
  for (const hook of handed)
    if (hooks[hook] !== undefined)
      throw denied(id, `has the hook ${hook}, which is handed texts,`, 'body:read')
  return wrapHooks(hooks, {
    request: (request) => (call) => {
      const seen = call.redacted
      return continueWith<unknown, Call | undefined>(request(seen), (returned) => {
        const after = sameTexts(id, seen, checkedStep(returned, call))
        return after && mergeParameters(call, seen, after)
      })
    },
    varies: (varies) => (call) => varies(call.redacted),
    eligible: (eligible) => (target, call) => eligible(target, call.redacted),
    prefers: (prefers) => (target, call) => prefers(target, call.redacted),
    attempt: (attempt) => (made, call, headers) => attempt(made, call.redacted, headers),
    attempted: (attempted) => (made, call) => attempted(made, call.redacted),
    attemptEnded: (attemptEnded) => (made, call) => attemptEnded(made, call.redacted),
    settled: (settled) => (outcome, call) => settled(withoutBody(outcome), call.redacted),
  })
}

function reading(id: string, hooks: Hooks): Hooks {
  for (const hook of ['reveal', 'show'] as const)
    if (hooks[hook]) throw denied(id, `has the hook ${hook}, which changes texts,`, 'body:write')
  return wrapHooks(hooks, {
    request: (request) => (call) =>
      continueWith<unknown, Call | undefined>(request(call), (returned) =>
        sameTexts(id, call, checkedStep(returned, call)),
      ),
    around: (around) => (call, next) => passingOn(id, around, call, next),
    reply: (reply) => async (body, call) => {
      const after = (await reply(body, call)) ?? body
      if (after !== body) throw denied(id, 'changes an answer', 'body:write')
      return undefined
    },
    stream: (stream) => {
      if (stream === 'buffer') return stream
      return (call) => {
        const filter = checkedFilter(stream(call))
        return filter && new ReadingFilter(id, filter)
      }
    },
    detect: (detect) => mapDetections(detect, (detection) => readingDetection(id, detection)),
  })
}

/** Runs an `around` that may ask with other parameters, and gives no answer but one that it got. */
function passingOn(id: string, around: Around, call: Call, next: Next): Promise<Reply> {
  const replies: Reply[] = []
  const keep = (reply: Reply): Reply => {
    replies.push(reply)
    return reply
  }
  const asked: Next = (to) => {
    try {
      refuseTexts(id, call, to)
    } catch (error) {
      return Promise.reject(error)
    }
    return next(to).then(keep)
  }
  return Promise.resolve(around(call, asked)).then((reply) => {
    if (!replies.includes(reply)) throw denied(id, 'answers a call', 'body:write')
    return reply
  })
}

/** The call that a request hook returned, if it returned one. Throws for an answer, and for other texts than the hook was shown. */
function sameTexts(id: string, seen: Call, step: ReturnType<typeof checkedStep>): Call | undefined {
  if (step === undefined) return undefined
  if ('kind' in step) throw denied(id, 'answers a call', 'body:write')
  refuseTexts(id, seen, step)
  return step
}

function refuseTexts(id: string, before: Call, after: Call): void {
  if (after === before) return
  const [field] = changedTexts(before.request, after.request)
  if (field !== undefined) throw denied(id, `changes ${field} of a request`, 'body:write')
}

function readingDetection(id: string, detection: Detection): Detection {
  if (detection.frame) throw denied(id, 'has a frame, which changes texts,', 'body:write')
  return {
    ...detection,
    scan(...given) {
      const spans = detection.scan(...given)
      for (const { action } of spans)
        if (action === 'replace') throw denied(id, 'replaces a text', 'body:write')
      return spans
    },
  }
}

/** Lets chunks pass as they came, and no others. */
class ReadingFilter implements Filter {
  readonly #id: string
  readonly #filter: Filter
  readonly #came = new Set<Chunk>()
  #out: Out | undefined

  constructor(id: string, filter: Filter) {
    this.#id = id
    this.#filter = filter
  }

  push(chunk: Chunk, out: Out): void {
    this.#came.add(chunk)
    this.#filter.push(chunk, this.#guarded(out))
  }

  end(out: Out): void {
    this.#filter.end?.(this.#guarded(out))
  }

  #guarded(out: Out): Out {
    this.#out ??= {
      emit: (chunk) => {
        if (!this.#came.delete(chunk)) throw denied(this.#id, 'changes an answer', 'body:write')
        out.emit(chunk)
      },
      finish: (reason, choices) => out.finish(reason, choices),
      fail: (error) => out.fail(error),
    }
    return this.#out
  }
}
