import type { Context } from '#kernel'
import { follow } from '../live.ts'
import type { Happening, Ring } from '../ring.ts'
import { scopeOf } from '../viewer.ts'

const heartbeatMs = 15_000

/** The live view. */
export function liveRoute(context: Context<unknown>, ring: Ring): void {
  context.route({
    method: 'get',
    path: '/api/observe/live',
    access: 'any',
    summary:
      'Calls as they happen: request.started, request.first_token, request.finished, module.changed, heartbeat',
    returns: 'events',
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
