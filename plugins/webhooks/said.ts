import type { WebhookRow } from './rows.ts'

type State = 'id' | 'owner' | 'status' | 'gone' | 'former' | 'consecutive_failures' | 'last_delivery_at'

/** What is said of a webhook, as the history keeps it; what came of its deliveries is no part of it. */
export type WebhookSaid = Omit<WebhookRow, State>

/** Whether an admin has it on, be it that its receiver said that it is gone. */
export const isSaidOn = ({ enabled, gone = false }: Pick<WebhookRow, 'enabled' | 'gone'>): boolean =>
  enabled || gone

/** What an admin has said of a webhook; undefined for one that a plugin keeps. */
export function saidOf(row: WebhookRow | undefined): WebhookSaid | undefined {
  if (!row || row.owner !== undefined) return undefined
  const {
    id: _id,
    owner: _owner,
    status: _status,
    gone: _gone,
    former: _former,
    consecutive_failures: _failures,
    last_delivery_at: _last,
    ...said
  } = row
  return { ...said, enabled: isSaidOn(row) }
}

/**
 * The row of a webhook of which this is said. One that is there keeps its state, as long as it is not switched, and its secret:
 * that changes by a rotation alone, which no rollback takes back.
 */
export function rowOf(id: string, said: WebhookSaid, now: WebhookRow | undefined): WebhookRow {
  const { secret, unseen, ...rest } = said
  if (!now) return { ...said, id, ...switched(said.enabled) }
  const { former, last_delivery_at: last, enabled, gone, status, consecutive_failures } = now
  const isKept = said.enabled === isSaidOn(now)
  return {
    ...rest,
    id,
    secret: now.secret,
    ...(now.unseen !== undefined && { unseen: now.unseen }),
    ...(former && { former }),
    ...(last !== undefined && { last_delivery_at: last }),
    ...(isKept
      ? { enabled, status, consecutive_failures, ...(gone !== undefined && { gone }) }
      : switched(said.enabled)),
  }
}

/** The state of a webhook that was just switched, as if it had never failed. */
export const switched = (enabled: boolean) =>
  ({
    enabled,
    gone: false,
    status: enabled ? 'active' : 'disabled',
    consecutive_failures: 0,
  }) satisfies Partial<WebhookRow>
