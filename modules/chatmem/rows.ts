import { z } from 'zod'
import type { Collection, Store } from '#kernel'

const session = z.object({
  id: z.string(),
  /** The user's id, or that of a key without a user. */
  owner: z.string(),
  user_id: z.string().optional(),
  key_id: z.string(),
  tenant: z.string().optional(),
  project: z.string(),
  /** As the client calls it; sealed where that is asked for. */
  name: z.string(),
  /** Lines about turns that are gone; sealed likewise. */
  summary: z.string().optional(),
  turns: z.int(),
  /** About how many the turns have. */
  tokens: z.int(),
  started_at: z.int(),
  last_at: z.int(),
  forget_at: z.int(),
})
export type SessionRow = z.infer<typeof session>

const turn = z.object({
  /** The turn as JSON, sealed where that is asked for. */
  said: z.string(),
  tokens: z.int(),
})
export type TurnRow = z.infer<typeof turn>

/** All sessions, also by user, and by owner; the latest last. */
export const sessionsIn = (store: Store): Collection<SessionRow> =>
  store.collection('sessions', {
    schema: session,
    indexes: {
      last: ({ last_at }) => last_at,
      forget: ({ forget_at }) => forget_at,
      owner: ({ owner, last_at }) => [[owner, last_at]],
      user: ({ user_id, last_at }) => (user_id === undefined ? undefined : [[user_id, last_at]]),
    },
  })

export const turnsIn = (store: Store): Collection<TurnRow> => store.collection('turns', { schema: turn })

/** The turns of a session, the oldest first: ids of turns begin with that of their session, and grow. */
export const turnsOf = (session: string) => ({ from: `${session}/`, to: `${session}0` })
