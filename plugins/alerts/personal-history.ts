import type { Firings } from './firings.ts'
import type { History } from './history.ts'

/** What alert rules that group by user keep of one. Rules that name a user are configuration, and stay. */
export class PersonalHistory {
  readonly #firings: Firings
  readonly #history: History

  constructor(firings: Firings, history: History) {
    this.#firings = firings
    this.#history = history
  }

  count(user: string): Promise<number> {
    return this.#history.rows.count({ index: 'user', equals: user })
  }

  async erase(user: string): Promise<number> {
    let erased = 0
    for await (const [id, { alert_id: alert }] of this.#history.rows.scan({ index: 'user', equals: user })) {
      const standing = this.#firings.get(alert, user)
      if (standing) await this.#firings.forget(standing)
      if (await this.#history.rows.delete(id)) erased += 1
    }
    return erased
  }
}
