import type { Awaitable } from '../kernel/chain/hooks.ts'
import type { Erasure, PersonalData } from '../kernel/contract/personal-data.ts'

interface KeptOfUser {
  count(userId: string): Awaitable<number>
  erase(userId: string): Awaitable<number>
}

/** Personal data that is kept by user, for `ctx.personal`. */
export const personalOfUsers = (kept: KeptOfUser, on?: readonly Erasure[]): PersonalData => ({
  ...(on && { on }),
  count: ({ kind, id }) => (kind === 'user' ? kept.count(id) : 0),
  erase: ({ kind, id }) => (kind === 'user' ? kept.erase(id) : 0),
})
