import { z } from 'zod'
import type { Age, Context, RecordClass, StoreState } from '#kernel'
import type { Ring } from '../ring.ts'
import type { Traces } from '../traces.ts'

const count = z.int()

const status = z.object({
  status: z.enum(['healthy', 'degraded']).meta({
    description:
      'Degraded after a trace was dropped, and while the store refuses writes or has no space for bodies.',
  }),
  queue: z.object({
    depth: count.meta({ description: 'Traces that wait to be written.' }),
    bytes: count,
    dropped: count.meta({ description: 'Traces lost since the start.' }),
    flush_interval_ms: count,
  }),
  bodies: z
    .enum(['full', 'off', 'paused'])
    .meta({ description: 'Paused while the disk is short of space (storage.min_free).' }),
  max_body_bytes: count,
  retention_days: z.object({ rows: z.number(), bodies: z.number() }),
  live: z.object({ viewers: count, events: count }),
})

type Status = z.infer<typeof status>

interface Parts {
  readonly traces: Traces
  readonly ring: Ring
  readonly flushMs: number
  readonly settings: Pick<Status, 'bodies' | 'max_body_bytes'>
  readonly ages: (of: RecordClass) => Age
  readonly state: Pick<StoreState, 'problem' | 'hasRoom'>
}

/** How recording is doing. */
export function statusRoute(
  context: Context<unknown>,
  { traces, ring, flushMs, settings, ages, state }: Parts,
): void {
  context.route({
    method: 'get',
    path: '/api/observe/status',
    access: 'any',
    summary: 'State of recording',
    returns: status,
    handle() {
      const { depth, bytes, dropped } = traces.status()
      return {
        status: dropped > 0 || state.problem !== undefined ? ('degraded' as const) : ('healthy' as const),
        queue: { depth, bytes: Math.round(bytes), dropped, flush_interval_ms: flushMs },
        max_body_bytes: settings.max_body_bytes,
        retention_days: { rows: ages('traces').days, bodies: ages('bodies').days },
        bodies: settings.bodies === 'full' && !state.hasRoom ? ('paused' as const) : settings.bodies,
        live: { viewers: ring.viewers, events: ring.last },
      }
    },
  })
}
