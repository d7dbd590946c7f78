import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Message } from '#kernel'
import { orderedJson } from '#kit'

/** Instructions that are remembered, by their hashes. */
const most = 10_000

/** Which instructions came in earlier calls, and so are likely to come again. */
export class Seen {
  readonly #hashes = new LRUCache<string, true>({ max: most })

  /**
   * Tells for each of these instructions whether it is stable, and remembers all of them. One that came before is; where none of them did, as in
   * the first call of an application, all are taken to be.
   */
  stable(circle: string, instructions: readonly Message[]): readonly boolean[] {
    const hashes = instructions.map((message) => hash('sha256', `${circle}${orderedJson(message)}`))
    const known = hashes.map((one) => this.#hashes.has(one))
    for (const one of hashes) this.#hashes.set(one, true)
    return known.includes(true) ? known : known.map(() => true)
  }
}
