import type { Call } from '../../kernel/call/call.ts'
import { badRequest } from '../errors.ts'

/** How urgent a call is, most urgent first. */
export const priorities = ['high', 'normal', 'low'] as const
export type Priority = (typeof priorities)[number]

/** Calls of the gateway's own features that nobody waits for. */
const background: ReadonlySet<string> = new Set(['replay', 'workflow', 'batch', 'redteam', 'calibration'])

const isPriority = (name: string): name is Priority => (priorities as readonly string[]).includes(name)

/**
 * The urgency of a call: what the client says in `X-Priority`, else low for the gateway's own work in the background, else normal.
 * Throws a bad request for any other value of the header.
 */
export function priorityOf({ context }: Call): Priority {
  const said = context.headers['x-priority']
  if (said === undefined || said === '') return background.has(context.source) ? 'low' : 'normal'
  const name = String(said).toLowerCase()
  if (isPriority(name)) return name
  throw badRequest(`X-Priority must be one of ${priorities.join(', ')}.`, { param: 'X-Priority' })
}
