import type { Evaluation } from './evaluation.ts'
import type { Firings } from './firings.ts'
import type { History } from './history.ts'

/** What alert rules that group by user keep of one. Rules that name a user are configuration, and stay. */
export class PersonalHistory {
  readonly #evaluation: Evaluation
  readonly #firings: Firings
  readonly #history: History

  constructor(evaluation: Evaluation, firings: Firings, history: History) {
    this.#evaluation = evaluation
    this.#firings = firings
    this.#history = history
  }

  count(user: string): Promise<number> {
    return this.#history.rows.count({ index: 'user', equals: user })
  }

  /** Also what windows hold goes, before a check can see it: it would fire anew, and write down whose it is. */
  async erase(user: string): Promise<number> {
    let erased = 0
    await this.#evaluation.betweenChecks(async () => {
      this.#evaluation.forgetUser(user)
      for await (const [id, { alert_id: alert }] of this.#history.rows.scan({
        index: 'user',
        equals: user,
      })) {
        const standing = this.#firings.get(alert, user)
        if (standing) await this.#firings.forget(standing)
        if (await this.#history.rows.delete(id)) erased += 1
      }
    })
    return erased
  }
}
