import { z } from 'zod'
import { type Context, type EventShape, ModuleChanged } from '#kernel'
import { scopeOf } from '#kit'
import { follow } from '../live.ts'
import type { Happening, Ring } from '../ring.ts'
import { guardrail, traceItem } from '../shapes.ts'

const heartbeatMs = 15_000

const { id, timestamp, source, operation, wire, stream, model_requested, user_id, key_id, project } =
  traceItem.shape
const started = { id, timestamp, source, operation, wire, stream, model_requested, user_id, key_id, project }

const liveEvents: readonly EventShape[] = [
  { event: 'heartbeat', data: z.object({ timestamp }) },
  { event: 'request.started', data: z.object(started) },
  { event: 'request.first_token', data: z.object({ id, ttft_ms: z.number() }) },
  { event: 'request.finished', data: traceItem },
  { event: 'guardrail', data: guardrail.extend({ trace_id: z.string() }) },
  { event: 'module.changed', data: ModuleChanged.schema },
]

/** The live view. */
export function liveRoute(context: Context<unknown>, ring: Ring): void {
  context.route({
    method: 'get',
    path: '/api/observe/live',
    access: 'any',
    summary:
      'Calls as they happen: request.started, request.first_token, request.finished, guardrail, module.changed, heartbeat',
    returns: 'events',
    events: liveEvents,
    handle({ principal, headers, signal }) {
      const own = scopeOf(principal)
      const sees = ({ userId }: Happening): boolean => own === undefined || userId === null || userId === own
      const lastId = headers['last-event-id']
      return follow(ring, {
        sees,
        lastId: typeof lastId === 'string' ? lastId : undefined,
        signals: [signal, context.signal],
        heartbeatMs,
      })
    },
  })
}
