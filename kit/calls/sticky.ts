import { hash } from 'node:crypto'
import type { Call } from '../../kernel/call/call.ts'

/** What is treated alike: all calls of a user, those of one of its sessions, or each call by itself. */
export const stickies = ['user', 'session', 'call'] as const
export type Sticky = (typeof stickies)[number]

/** Where a call stands in a draw, evenly from 0 to below 1: the same for what is treated alike, and unrelated in other draws. */
export function stickyPlace(draw: string, sticky: Sticky, { id, principal, context }: Call): number {
  const user = principal.userId ?? principal.keyId
  const whose = { user, session: JSON.stringify([user, context.sessionId ?? null]), call: id }[sticky]
  return hash('sha256', `${draw} ${whose}`, 'buffer').readUInt32BE(0) / 2 ** 32
}
