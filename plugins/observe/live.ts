import type { Call, ServerEvent } from '#kernel'
import { type Happening, happeningAt, idOf, oldest, type Ring, resumeAt } from './ring.ts'

export interface Viewer {
  readonly sees: (happening: Happening) => boolean
  /** The last event the viewer had, when it comes back. */
  readonly lastId: string | undefined
  /** End the view: the client left, or the plugin goes. */
  readonly signals: readonly AbortSignal[]
  readonly heartbeatMs: number
}

/**
 * The events from now on, or from where the viewer left off, with a heartbeat at the beginning and in silence. A viewer that
 * falls behind the length of the ring misses the events that fell out of it; they are kept nowhere else.
 */
export async function* follow(ring: Ring, viewer: Viewer): AsyncGenerator<ServerEvent> {
  ring.viewers += 1
  try {
    yield* happenings(ring, viewer)
  } finally {
    ring.viewers -= 1
    ring.leftAt = Date.now()
  }
}

async function* happenings(ring: Ring, viewer: Viewer): AsyncGenerator<ServerEvent> {
  const ended = AbortSignal.any([...viewer.signals])
  let next = resumeAt(ring, viewer.lastId)
  let spokeAt = performance.now()
  yield heartbeat()
  while (!ended.aborted) {
    next = Math.max(next, oldest(ring))
    for (; next <= ring.last; next++) {
      const happening = happeningAt(ring, next)
      if (!happening || !viewer.sees(happening)) continue
      yield { id: idOf(ring, next), event: happening.event, data: happening.data() }
      spokeAt = performance.now()
      if (ended.aborted) return
    }
    const silentMs = performance.now() - spokeAt
    if (silentMs >= viewer.heartbeatMs) {
      yield heartbeat()
      spokeAt = performance.now()
    } else await somethingHappens(ring, ended, viewer.heartbeatMs - silentMs)
  }
}

/** Whose a happening of a call is: its caller's, and that of the user whose words it repeats. */
export function usersOf({ principal, trace }: Call): Pick<Happening, 'userId' | 'sourceUserId'> {
  const { source_user_id: source } = trace.facts
  return { userId: principal.userId, sourceUserId: typeof source === 'string' ? source : undefined }
}

/** The event of a call that has just been accepted; built when a viewer needs it, without holding on to the call. */
export function startedOf({ id, trace, operation, wire, request, principal, context, stream }: Call) {
  const { startedAt } = trace
  const { source, project } = context
  const { model } = request
  const { userId = null, keyId } = principal
  return () => ({
    id,
    timestamp: new Date(startedAt).toISOString(),
    source,
    operation,
    wire,
    stream,
    model_requested: model,
    user_id: userId,
    key_id: keyId,
    project,
  })
}

/** The event when the first content of a stream has left. */
export function firstTokenOf({ id, trace }: Call) {
  const ttft_ms = Math.round(((trace.firstContentAt ?? performance.now()) - trace.started) * 1000) / 1000
  return () => ({ id, ttft_ms })
}

const heartbeat = (): ServerEvent => ({
  event: 'heartbeat',
  data: { timestamp: new Date().toISOString() },
})

/** Resolves when something happens, the view ends, or the time is over. */
function somethingHappens(ring: Ring, ended: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer)
      ring.waiting.delete(wake)
      ended.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    timer.unref()
    ring.waiting.add(wake)
    ended.addEventListener('abort', wake)
  })
}
