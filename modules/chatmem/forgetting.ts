import type { Collection, ListOptions } from '#kernel'
import { type SessionRow, type TurnRow, turnsOf } from './rows.ts'

/** Sessions of one user or key, and in all: of more, the one whose last call is longest ago is forgotten. */
const most = { ofOwner: 100, all: 10_000 }

/** Deletes sessions with their turns. */
export class Forgetting {
  readonly #sessions: Collection<SessionRow>
  readonly #turns: Collection<TurnRow>

  constructor(sessions: Collection<SessionRow>, turns: Collection<TurnRow>) {
    this.#sessions = sessions
    this.#turns = turns
  }

  /** Whether it was there. What is cut off in between is found again, and turns that come meanwhile go too. */
  async forget(id: string): Promise<boolean> {
    await this.#forgetTurns(id)
    const wasThere = await this.#sessions.delete(id)
    await this.#forgetTurns(id)
    return wasThere
  }

  /** Forgets the sessions of a user, or all; returns how many there were. */
  forgetAll(user?: string): Promise<number> {
    return this.#forgetEach(user === undefined ? {} : { index: 'user', equals: [user] })
  }

  /** Forgets what is past its time. */
  async sweep(now: number): Promise<void> {
    await this.#forgetEach({ index: 'forget', to: now + 1 })
  }

  /** Keeps the bounds after an owner has got another session. */
  async makeRoom(owner: string): Promise<void> {
    const own = { index: 'owner', equals: [owner] }
    const tooMany = (await this.#sessions.count(own)) - most.ofOwner
    if (tooMany > 0) await this.#forgetEach({ ...own, limit: tooMany })
    const excess = (await this.#sessions.count()) - most.all
    if (excess > 0) await this.#forgetEach({ index: 'last', limit: excess })
  }

  async #forgetEach(which: ListOptions): Promise<number> {
    let forgotten = 0
    for await (const [id] of this.#sessions.scan(which)) if (await this.forget(id)) forgotten += 1
    return forgotten
  }

  async #forgetTurns(id: string): Promise<void> {
    for await (const [key] of this.#turns.scan(turnsOf(id))) await this.#turns.delete(key)
  }
}
