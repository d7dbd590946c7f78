import { SealedBodies, type Sealing } from '../../contract/sealing.ts'
import type { Principal } from '../../kernel/call/call.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Awaitable } from '../work/continue-with.ts'

export type Seal = (text: string) => string

/** Seals a plugin's bodies of calls where a module asks for it, and opens them whether that module is still there or not. */
export interface BodySeals {
  /** The function that seals the bodies of this caller; undefined where they are stored as they are. */
  sealFor(caller: Pick<Principal, 'userId' | 'tenant'>): Awaitable<Seal> | undefined
  /**
   * A stored body as it was: a sealed one opened, JSON as it is. Undefined after its caller's data was erased; rejects with
   * `SECRET_UNREADABLE` under another encryption key.
   */
  open(stored: string): Awaitable<string | undefined>
  /** The same, and undefined for whatever cannot be opened. */
  tryOpen(stored: string): Promise<string | undefined>
}

/** The seals of a plugin; it hands in its `sealing`, which is asked for only where something is sealed. */
export function bodySeals(
  { id, find }: Pick<Context<unknown>, 'id' | 'find'>,
  sealing: () => Sealing,
): BodySeals {
  // No JSON begins so, and what was never sealed needs no service.
  const open = (stored: string) => (stored.startsWith('sealed:') ? sealing().open(id, stored) : stored)
  return {
    sealFor(caller) {
      const subject = find(SealedBodies)?.subjectOf(caller)
      return subject && sealing().sealFor(id, subject)
    },
    open,
    async tryOpen(stored) {
      try {
        return await open(stored)
      } catch {
        return undefined
      }
    },
  }
}
