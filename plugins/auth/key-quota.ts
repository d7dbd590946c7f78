import { type Accounts, conflict } from '#kernel'

/** The kinds of a user's keys that work: to be used from now on, or replaced and in their grace. */
export type Working = keyof Awaited<ReturnType<Accounts['keys']['working']>>

const what: Readonly<Record<Working, string>> = {
  current: 'keys that work; revoke one first',
  replaced: 'replaced keys in their grace; rotate without one, or wait until one has ended',
}

/** How many keys a user may have of each kind. It is held to exactly: what adds to one user's goes one after the other. */
export class KeyQuota {
  readonly #limit: number
  readonly #turns = new Map<string, Promise<unknown>>()

  /** `limit` is 0 for any number. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** Does what adds a key to a user's; throws a conflict, and does nothing, when there are as many as there may be. */
  add<T>(keys: Accounts['keys'], userId: string, kind: Working, work: () => Promise<T>): Promise<T> {
    if (this.#limit === 0) return work()
    return this.#inTurn(userId, async () => {
      const { [kind]: count } = await keys.working(userId)
      if (count < this.#limit) return work()
      throw conflict(`A user may have ${this.#limit} (auth.keys_per_user) ${what[kind]}.`)
    })
  }

  #inTurn<T>(userId: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(userId) ?? Promise.resolve()
    const turn = before.then(work, work)
    this.#turns.set(userId, turn)
    const leave = (): void => {
      if (this.#turns.get(userId) === turn) this.#turns.delete(userId)
    }
    turn.then(leave, leave)
    return turn
  }
}
