import type { LedgerEntry, LedgerQuery } from '#kernel'

/** Whether an entry meets the conditions of a query that are not about its place. */
export function matches(
  { event_type, actor, resource, created_at }: LedgerEntry,
  query: LedgerQuery,
): boolean {
  if (query.eventType !== undefined && query.eventType !== event_type) return false
  if (query.actor !== undefined && query.actor !== actor.id) return false
  if (query.resource !== undefined && query.resource !== resource?.id) return false
  if (query.from === undefined && query.to === undefined) return true
  const at = Date.parse(created_at)
  return at >= (query.from ?? 0) && at < (query.to ?? Number.POSITIVE_INFINITY)
}
