import { z } from 'zod'
import type { Meter } from '../chain/meter.ts'
import type { CircuitChange } from '../chain/module-circuit.ts'
import type { Discovered } from '../discovery/manifest.ts'
import { defineEvent, type Events } from '../events.ts'
import type { Log } from '../log.ts'

export const ModuleChanged = defineEvent(
  'module.changed',
  z.object({ name: z.string(), enabled: z.boolean(), state: z.string(), generation: z.int() }),
  { description: 'A plugin was toggled or reconfigured.' },
)

export const ModuleTripped = defineEvent(
  'module.tripped',
  z.object({
    name: z.string(),
    reason: z.string(),
    effect: z.enum(['calls pass without it', 'calls are refused']),
    open_s: z.number(),
  }),
  {
    description: 'A module kept failing and is left out for a while. Its failure policy decides on calls.',
  },
)

export const ModuleRestored = defineEvent(
  'module.restored',
  z.object({ name: z.string(), by: z.enum(['probe', 'operator']) }),
  { description: 'A module that was left out because of failures works again.' },
)

interface Parts {
  readonly events: Events
  readonly log: Log
}

/** Reports to the module's events, the log and all listeners that the module was left out, or is back. */
export function announceChange(
  id: string,
  { manifest }: Pick<Discovered, 'manifest'>,
  meter: Meter,
  change: CircuitChange,
  { events, log }: Parts,
): void {
  if (change.to === 'restored') {
    meter.event('restored', change.by)
    log.info({ plugin: id, by: change.by }, 'a module that was left out is back')
    events.emit(ModuleRestored, { name: id, by: change.by })
    return
  }
  const { reason, openMs } = change
  const closed = manifest && 'failure' in manifest && manifest.failure === 'closed'
  meter.event('tripped', reason)
  log.error({ plugin: id, reason }, 'a module keeps failing and is left out')
  const effect = closed ? 'calls are refused' : 'calls pass without it'
  events.emit(ModuleTripped, { name: id, reason, effect, open_s: openMs / 1000 })
}
