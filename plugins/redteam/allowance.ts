import { type Context, type Counters, type Principal, rateLimited } from '#kernel'
import type { KeptOfUser } from '#kit'
import type { Settings } from './settings.ts'

const dayMs = 86_400_000
const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

/** Whose attacks are counted together. */
export const holderOf = ({ userId, keyId }: Pick<Principal, 'userId' | 'keyId'>): string => userId ?? keyId

/** The attacks that each caller may make in a day (UTC), which hold over restarts. */
export class Allowance {
  readonly #made: Counters
  readonly #most: number

  private constructor(made: Counters, most: number) {
    this.#made = made
    this.#most = most
  }

  static async open({ store, settings }: Pick<Context<Settings>, 'store' | 'settings'>): Promise<Allowance> {
    return new Allowance(await store.counters('made'), settings.requests_per_day)
  }

  /** Counts so many attacks before they are made. Throws when that is more than the day has left. */
  take(holder: string, attacks: number, now = Date.now()): void {
    const name = `${dayOf(now)}/${holder}`
    if (this.#made.get(name) + attacks > this.#most)
      throw rateLimited(`${this.#most} attacks a day are allowed, and the rest is not enough.`, {
        retryAfterS: Math.ceil((dayMs - (now % dayMs)) / 1000),
      })
    this.#made.add(name, attacks)
  }

  /** Forgets the days before this one. */
  prune(now = Date.now()): void {
    const today = dayOf(now)
    for (const [name] of this.#made.entries()) if (!name.startsWith(today)) this.#made.delete(name)
  }

  /** Its counts, as personal data of users. */
  get ofUsers(): KeptOfUser {
    const namesOf = (user: string): string[] =>
      this.#made.entries().flatMap(([name]) => (name.endsWith(`/${user}`) ? [name] : []))
    return {
      count: (user) => namesOf(user).length,
      erase: (user) => {
        const names = namesOf(user)
        for (const name of names) this.#made.delete(name)
        return names.length
      },
    }
  }
}
