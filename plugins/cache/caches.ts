import { z } from 'zod'
import {
  type AnswerCache,
  type AnswerCaches,
  type CachedWhich,
  type Collection,
  type Context,
  notFound,
} from '#kernel'

const cleared = z.object({ at: z.number() })
const all = 'all'

/** The caches that are on in this thread, and when all of them were cleared last. */
export class Caches implements AnswerCaches {
  readonly #on: AnswerCache[]
  readonly #cleared: Collection<z.infer<typeof cleared>>

  constructor({ store, memory }: Pick<Context<unknown>, 'store' | 'memory'>) {
    this.#on = memory('on', () => [])
    this.#cleared = store.collection('cleared', { schema: cleared })
  }

  add(cache: AnswerCache): () => void {
    this.#on.push(cache)
    return () => {
      this.#on.splice(this.#on.indexOf(cache), 1)
    }
  }

  async clearedAt(): Promise<number | undefined> {
    return (await this.#cleared.get(all))?.at
  }

  /** One for each name, by name. While a cache is being reconfigured it is there twice, and the later one counts. */
  get on(): readonly AnswerCache[] {
    const byName = new Map(this.#on.map((cache) => [cache.name, cache]))
    return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /** The cache of this name, or the first; throws where there is none of the name. */
  named(name: string | undefined): AnswerCache | undefined {
    const found = this.on.find((cache) => name === undefined || cache.name === name)
    if (!found && name !== undefined) throw notFound(`No cache called ${name} is on.`, { param: 'cache' })
    return found
  }

  /** Deletes these answers in the caches that are on and returns how many; without a condition, in those that are off, too. */
  async clear(which: CachedWhich): Promise<number> {
    const isAll = Object.values(which).every((value) => value === undefined)
    if (isAll) await this.#cleared.put(all, { at: Date.now() })
    const deleted = await Promise.all(this.on.map((cache) => cache.clear(which)))
    return deleted.reduce((sum, count) => sum + count, 0)
  }
}
