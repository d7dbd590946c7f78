import type { Awaitable } from '../../kit/work/continue-with.ts'
import { token } from '../token.ts'

/** A session of a browser: it stands for the key that began it, and works as long as that key does. */
export interface Session {
  readonly id: string
  /** The digest of the key, as `Accounts.digestOf` gives it. */
  readonly key: string
}

/** The sessions of browsers, which send a cookie in place of a key. */
export interface Sessions {
  /** The session with this secret, while it lasts. Asked for every management request that comes with a cookie. */
  find(secret: string): Awaitable<Session | undefined>
}

/** The kernel asks it about cookies; while no plugin offers it, there are no sessions. */
export const Sessions = token<Sessions>('sessions')
