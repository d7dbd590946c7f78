import type { Awaitable, OnceContext } from '#kernel'
import { personalOfUsers } from '#kit'

/** A summary, and the user whose conversation it is of. */
export interface KeptSummary {
  readonly key: string
  readonly user: string | undefined
  readonly text: string
}

/** So many are kept, and so many characters of them together; the ones that were not used for longest go first. */
const most = { summaries: 500, characters: 4_000_000 }

type Parts = Pick<OnceContext, 'askFirstThread' | 'inFirstThread' | 'personal'>

/**
 * The summaries of all threads, in the memory of the first one. They are bounded, are erased with the data of their users, and go with
 * the process: a conversation is not written to disk for the sake of a summary.
 */
export class KeptSummaries {
  /** Undefined where there is none. */
  readonly get: (key: string) => Awaitable<string | undefined>
  readonly put: (summary: KeptSummary) => void
  readonly #all = new Map<string, KeptSummary>()
  #characters = 0

  constructor({ askFirstThread, inFirstThread, personal }: Parts) {
    this.get = askFirstThread('summary', (key: string) => this.#use(key))
    this.put = inFirstThread('keep summary', (summary: KeptSummary) => this.#keep(summary))
    personal(personalOfUsers({ count: (user) => this.#of(user).length, erase: (user) => this.#erase(user) }))
  }

  #use(key: string): string | undefined {
    const found = this.#all.get(key)
    if (!found) return undefined
    this.#all.delete(key)
    this.#all.set(key, found)
    return found.text
  }

  #keep(summary: KeptSummary): void {
    this.#delete(summary.key)
    this.#all.set(summary.key, summary)
    this.#characters += summary.text.length
    for (const key of this.#all.keys()) {
      if (this.#all.size <= most.summaries && this.#characters <= most.characters) return
      this.#delete(key)
    }
  }

  #of(user: string): string[] {
    return Array.from(this.#all.values()).flatMap((one) => (one.user === user ? [one.key] : []))
  }

  #erase(user: string): number {
    const keys = this.#of(user)
    for (const key of keys) this.#delete(key)
    return keys.length
  }

  #delete(key: string): void {
    this.#characters -= this.#all.get(key)?.text.length ?? 0
    this.#all.delete(key)
  }
}
