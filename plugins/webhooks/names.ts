import { badRequest, type EventType } from '#kernel'
import { compileGlobs, isGlob, nearest } from '#kit'

/** Every event but those that are for plugins in the process: of single calls, which have no JSON, and the times of sweeps. */
export const isDeliverable = ({ name }: Pick<EventType<unknown>, 'name'>): boolean =>
  !name.startsWith('call.') && !name.startsWith('retention.')

/** Names that are documented for areas and modules that may not run here, in both sets. */
const documented: readonly string[] = [
  'webhook.test',
  'alert.fired',
  'cost.threshold',
  'cost_threshold',
  'spend.cap_exceeded',
  'provider_error',
  'provider.health_changed',
  'rate_limit_hit',
  'circuit_open',
  'guardrail.violation',
  'trust.violation',
  'trust_violation',
  'upgrade.autoroute_cap_reached',
  'upgrade.autoroute_savings_10',
  'upgrade.redteam_bypass_detected',
]

/** The names that an event has: the canonical one, and the alias of the older set. */
type Names = Pick<EventType<unknown>, 'name' | 'alias'>

/**
 * The name under which an event goes to a subscriber, once: the name that it subscribed to, also with a glob, and the canonical
 * one for both. Undefined when it did not subscribe.
 */
export function nameFor({ name, alias }: Names, events: readonly string[]): string | undefined {
  const matches = compileGlobs(events.filter(isGlob))
  const isWanted = (one: string): boolean => events.includes(one) || matches(one)
  if (isWanted(name)) return name
  return alias !== undefined && isWanted(alias) ? alias : undefined
}

/** Throws a bad request for a name that no event has, and for a glob that holds none. */
export function demandNames(events: readonly string[], declared: readonly Names[]): void {
  const known = new Set(documented)
  for (const type of declared) {
    if (!isDeliverable(type)) continue
    known.add(type.name)
    if (type.alias !== undefined) known.add(type.alias)
  }
  for (const [i, event] of events.entries()) {
    const isKnown = isGlob(event) ? [...known].some(compileGlobs([event])) : known.has(event)
    if (isKnown) continue
    const [near] = nearest(event, [...known])
    const hint = near === undefined ? '.' : `; do you mean ${near}?`
    throw badRequest(`body events › ${i}: there is no event ${event}${hint} * stands for all.`, {
      param: `events.${i}`,
    })
  }
}
