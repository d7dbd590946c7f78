import type { Context } from '#kernel'
import { personalOfUsers } from '#kit'
import { Replays } from './replays.ts'
import { addReplayRoutes } from './routes.ts'

const hourMs = 3_600_000

/** Replays: their routes, and the jobs that make them. */
export function addReplays(context: Context<unknown>): Replays {
  const replays = new Replays(context)
  context.every(hourMs, () => replays.prune())
  context.personal(
    personalOfUsers({ count: (user) => replays.count({ user }), erase: (user) => replays.eraseOf(user) }),
  )
  addReplayRoutes(context, replays)
  return replays
}
