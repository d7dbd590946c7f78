import { deepFreeze } from '../../kit/json/deep-freeze.ts'
import { continueWith } from '../../kit/work/continue-with.ts'
import { Call } from '../call/call.ts'
import type { Outcome } from '../call/outcome.ts'
import { readOnlyAttempt } from '../call/read-only.ts'
import { type Reply, WholeReply } from '../call/reply.ts'
import type { Hooks, Next, Show, StreamHook } from '../chain/hooks.ts'
import { checkedFilter } from '../chain/returned.ts'
import type { Detection } from '../detect/detect.ts'
import { occurrenceOf } from '../events/happening.ts'
import type { EventBus, Occurrence } from '../events.ts'
import { type Filter, filterStream } from '../stream/filter.ts'
import { type HookWrappers, mapDetections, wrapHooks } from './wrap-hooks.ts'

/**
 * Hooks that cannot write into their arguments: for plugins from outside, which would otherwise change calls unseen, past their
 * permissions and in shadow. The arguments are frozen in place and not copied, once for all hooks; a write throws, and so is a
 * failure of the hook.
 */
export const readOnlyHooks = (hooks: Hooks): Hooks => wrapHooks(hooks, readOnly)

const readOnly: HookWrappers = {
  admit: (admit) => (visit) => admit(deepFreeze(visit)),
  request: (request) => (call) => continueWith(request(call.readOnly), (made) => taken(made, call)),
  around: (around) => (call, next) => aroundReadOnly(around, call, next),
  wraps: (wraps) => (call) => wraps(call.readOnly),
  varies: (varies) => (call) => varies(call.readOnly),
  eligible: (eligible) => (target, call) => eligible(Object.freeze(target), call.readOnly),
  prefers: (prefers) => (target, call) => prefers(Object.freeze(target), call.readOnly),
  detect: (detect) => mapDetections(detect, readOnlyDetection),
  reveal: readOnlyDetection,
  show: readOnlyShow,
  attempt: (attempt) => (made, call, headers) => attempt(readOnlyAttempt(made), call.readOnly, headers),
  attempted: (attempted) => (made, call) => attempted(readOnlyAttempt(made), call.readOnly),
  attemptEnded: (attemptEnded) => (made, call) => attemptEnded(readOnlyAttempt(made), call.readOnly),
  settled: (settled) => (outcome, call) => settled(readOnlyOutcome(outcome), call.readOnly),
  reply: (reply) => (body, call) => reply(deepFreeze(body), call.readOnly),
  stream: (stream) => (stream === 'buffer' ? stream : readOnlyStream(stream)),
}

/** The call that a hook returned, as the chain has it: with the trace that the kernel writes to. */
function taken<T>(made: T, call: Call): T | Call {
  if (made === call.readOnly) return call
  if (made instanceof WholeReply) return made.seal()
  return made instanceof Call && made.trace === call.readOnly.trace
    ? new Call({ ...made, trace: call.trace })
    : made
}

async function aroundReadOnly(around: NonNullable<Hooks['around']>, call: Call, next: Next): Promise<Reply> {
  const given = new Map<unknown, Reply>()
  const asked: Next = async (to) => {
    try {
      const reply = await next(taken(to, call))
      const shown = readOnlyReply(reply)
      given.set(shown, reply)
      return shown
    } catch (error) {
      throw deepFreeze(error)
    }
  }
  const made = await around(call.readOnly, asked)
  return given.get(made) ?? (made instanceof WholeReply ? made.seal() : made)
}

function readOnlyReply(reply: Reply): Reply {
  if (reply.kind === 'whole') return reply.seal()
  const sealed = filterStream(reply.chunks, [{ push: (chunk, out) => out.emit(chunk.seal()) }])
  const shown = reply.through(sealed)
  Object.freeze(shown)
  return shown
}

function readOnlyShow({ body, stream, error, headers }: Show): Show {
  return {
    ...(body && { body: (shown, call) => body(deepFreeze(shown), call.readOnly) }),
    ...(stream && { stream: readOnlyStream(stream) }),
    ...(error && { error: (shown, call) => error(deepFreeze(shown), call?.readOnly) }),
    ...(headers && { headers: (shown, call) => headers(shown, call?.readOnly) }),
  }
}

const readOnlyStream =
  (stream: StreamHook): StreamHook =>
  (call) => {
    const filter = checkedFilter(stream(call.readOnly))
    return filter && readOnlyFilter(filter)
  }

const readOnlyFilter = (filter: Filter): Filter => ({
  push: (chunk, out) => filter.push(chunk.seal(), out),
  end: (out) => filter.end?.(out),
})

const readOnlyOutcome = (outcome: Outcome): Outcome =>
  deepFreeze({ ...outcome, body: () => deepFreeze(outcome.body()) })

function readOnlyDetection(detection: Detection): Detection {
  const { reach, context, cleans, verdict, refusal } = detection
  return {
    reach,
    ...(context !== undefined && { context }),
    ...(cleans !== undefined && { cleans }),
    ...(verdict !== undefined && { verdict }),
    ...(refusal !== undefined && { refusal }),
    scan: (text, place, call, from) => detection.scan(text, deepFreeze(place), call.readOnly, from),
    ...(detection.open && { open: (text, call, from) => detection.open!(text, call.readOnly, from) }),
    ...(detection.applies && { applies: (call) => detection.applies!(call.readOnly) }),
    ...(detection.frame && {
      frame: (text, place, call) => detection.frame!(text, deepFreeze(place), call.readOnly),
    }),
    ...(detection.found && {
      found: (span, place, call) => detection.found!(Object.freeze(span), deepFreeze(place), call.readOnly),
    }),
  }
}

/** Events whose listeners cannot write into the data that they receive. */
export function readOnlyEvents(events: EventBus): EventBus {
  const readOnly =
    <T>(listener: (data: T, occurrence: Occurrence<T>) => unknown) =>
    (_: T, occurrence: Occurrence<T>) => {
      const seen = Object.freeze(occurrenceOf(occurrence.type, occurrence, readOnlyData(occurrence.data)))
      return listener(seen.data, seen)
    }
  return {
    declare: (type, by) => events.declare(type, by),
    emit: (type, data, options) => events.emit(type, data, options),
    on: (type, listener) => events.on(type, readOnly(listener)),
    onAny: (listener) => events.onAny(readOnly(listener)),
  }
}

/** Data of an event; data of calls are copied, since the kernel goes on with the originals. */
function readOnlyData<T>(data: T): T {
  const { call, outcome } = (data ?? {}) as { readonly call?: unknown; readonly outcome?: Outcome }
  if (!(call instanceof Call)) return deepFreeze(data)
  return Object.freeze({
    ...data,
    call: call.readOnly,
    ...(outcome && { outcome: readOnlyOutcome(outcome) }),
  })
}
