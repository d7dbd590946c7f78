import type { Erasure, PersonalData } from '../../kernel/contract/personal-data.ts'
import type { Collection } from '../../storage/index.ts'
import type { Awaitable } from '../work/continue-with.ts'

/** Data that is kept by user: each is a number of pieces. */
export interface KeptOfUser {
  count(userId: string): Awaitable<number>
  erase(userId: string): Awaitable<number>
}

/** Personal data that is kept by user, for `ctx.personal`. */
export const personalOfUsers = (kept: KeptOfUser, on?: readonly Erasure[]): PersonalData => ({
  ...(on && { on }),
  count: ({ kind, id }) => (kind === 'user' ? kept.count(id) : 0),
  erase: ({ kind, id }) => (kind === 'user' ? kept.erase(id) : 0),
})

/** The rows of a collection whose index `user` names whose they are. */
export const rowsOfUsers = <T>(rows: Collection<T>): KeptOfUser => ({
  count: (userId) => rows.count({ index: 'user', equals: userId }),
  async erase(userId) {
    let erased = 0
    for await (const [id] of rows.scan({ index: 'user', equals: userId }))
      if (await rows.delete(id)) erased += 1
    return erased
  },
})
