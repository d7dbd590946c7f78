import { SealedBodies, type Sealing } from '../contract/sealing.ts'
import type { Principal } from '../kernel/call/call.ts'
import type { Awaitable } from '../kernel/chain/hooks.ts'
import type { Context } from '../kernel/contract/plugin.ts'

export type Seal = (text: string) => string

/** Seals a plugin's bodies of calls where a module asks for it, and opens them whether that module is still there or not. */
export interface BodySeals {
  /** The function that seals the bodies of this caller; undefined where they are stored as they are. */
  sealFor(caller: Principal): Awaitable<Seal> | undefined
  /**
   * A stored body as it was: a sealed one opened, JSON as it is. Undefined after its caller's data was erased; rejects with
   * `SECRET_UNREADABLE` under another encryption key.
   */
  open(stored: string): Awaitable<string | undefined>
}

/** The seals of a plugin; it hands in its `sealing`, which is asked for only where something is sealed. */
export const bodySeals = (
  { id, find }: Pick<Context<unknown>, 'id' | 'find'>,
  sealing: () => Sealing,
): BodySeals => ({
  sealFor(caller) {
    const subject = find(SealedBodies)?.subjectOf(caller)
    return subject && sealing().sealFor(id, subject)
  },
  // No JSON begins so, and what was never sealed needs no service.
  open: (stored) => (stored.startsWith('sealed:') ? sealing().open(id, stored) : stored),
})
