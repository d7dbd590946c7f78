import type { Call } from '#kernel'
import { stickyPlace } from '#kit'
import type { Rollout } from './rollout.ts'

/** Where a call stands among all calls, from 0 to 100: the same for what is chosen together, whatever the percentage. */
export const placeOf = (id: string, { sticky }: Rollout, call: Call): number =>
  stickyPlace(id, sticky, call) * 100
