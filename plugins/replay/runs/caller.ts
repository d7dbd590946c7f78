import { type Context, Plans, type Principal } from '#kernel'

/** In whose name and on whose bill a run is made. `signal` ends it. */
export interface Caller {
  readonly as: Principal
  readonly ip: string
  readonly signal: AbortSignal
}

/** The caller of a route that takes a key. */
export const callerOf = ({
  principal,
  ip,
  signal,
}: {
  readonly principal: Principal | undefined
  readonly ip: string
  readonly signal: AbortSignal
}): Caller => ({ as: principal!, ip, signal })

/** Throws where plans are enforced, and the caller's has no replays. */
export function demandReplays(find: Context<unknown>['find'], principal: Principal): void {
  find(Plans)?.demand(principal, 'individual', 'Replays')
}
