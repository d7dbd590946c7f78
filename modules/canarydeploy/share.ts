import { hash } from 'node:crypto'
import type { Call } from '#kernel'
import type { Rollout } from './rollout.ts'

/** Where a call stands among all calls, from 0 to 100: the same for what is chosen together, whatever the percentage. */
export function placeOf(id: string, { sticky }: Rollout, { id: callId, principal, context }: Call): number {
  const user = principal.userId ?? principal.keyId
  const whose = { user, session: JSON.stringify([user, context.sessionId ?? null]), call: callId }[sticky]
  return (hash('sha256', `${id} ${whose}`, 'buffer').readUInt32BE(0) / 2 ** 32) * 100
}
