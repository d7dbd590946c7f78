import type { Collection } from '../../storage/index.ts'
import { isId } from '../../storage/names.ts'

/** Something that learns from calls. */
export interface Learner<R> {
  /** Calls that it has learned from. */
  readonly calls: number
  /** When it last learned, in milliseconds since the epoch. */
  readonly lastAt: number
  /** Grows with whatever it learns. */
  readonly version: number
  /** What is kept of it on disk. */
  pack(): R
}

export interface LearnedOptions<R, L> {
  readonly rows: Collection<R>
  /** How many there are at a time. */
  readonly most: number
  unpack(row: R): L
}

/** One is written so often at the most, and so many in one go, so that the disk is never busy with them. */
const restMs = 600_000
const mostAtOnce = 50

/** One with fewer calls gives way first: names that clients make up must not push out what was learned. */
const settledCalls = 50

interface Written {
  readonly version: number
  readonly at: number
}

/**
 * Things that learn, by name: bounded in number, in memory, and written to disk every ten minutes. A crash loses what they learned
 * since, and a restart those with a name that no row can have, such as half a character. They learn in the first thread; others hold a
 * copy that they do not write.
 */
export class Learned<R, L extends Learner<R>> {
  readonly #options: LearnedOptions<R, L>
  readonly #all = new Map<string, L>()
  readonly #written = new Map<string, Written>()

  constructor(options: LearnedOptions<R, L>) {
    this.#options = options
  }

  /** Takes in what was written. */
  async load(): Promise<void> {
    const at = Date.now()
    for await (const [name, row] of this.#options.rows.scan()) {
      const learner = this.#options.unpack(row)
      this.#all.set(name, learner)
      this.#written.set(name, { version: learner.version, at })
    }
  }

  get(name: string): L | undefined {
    return this.#all.get(name)
  }

  entries(): Iterable<[string, L]> {
    return this.#all.entries()
  }

  /** Adds one; where there are too many, the least known goes. */
  add(name: string, learner: L): L {
    if (this.#all.size >= this.#options.most) this.#all.delete(this.#leastKnown())
    this.#all.set(name, learner)
    return learner
  }

  /** Resolves with whether there was one. */
  async delete(name: string): Promise<boolean> {
    const isHere = this.#all.delete(name)
    const isWritten = this.#written.delete(name) && (await this.#options.rows.delete(name))
    return isHere || isWritten
  }

  /** Writes those that have learned and were not written for a while, and deletes those that gave way. */
  async write(now = Date.now()): Promise<void> {
    for (const name of [...this.#written.keys()]) if (!this.#all.has(name)) await this.delete(name)
    await this.#write((at) => now - at >= restMs, mostAtOnce)
  }

  /** Writes all that have learned. */
  async flush(): Promise<void> {
    await this.#write(() => true, Number.POSITIVE_INFINITY)
  }

  async #write(isDue: (at: number) => boolean, most: number): Promise<void> {
    let left = most
    for (const [name, learner] of [...this.#all]) {
      const { version = 0, at = Number.NEGATIVE_INFINITY } = this.#written.get(name) ?? {}
      if (learner.version === version || !isDue(at) || !isId(name)) continue
      if (left === 0) return
      left -= 1
      const written = { version: learner.version, at: Date.now() }
      await this.#options.rows.put(name, learner.pack())
      this.#written.set(name, written)
    }
  }

  #leastKnown(): string {
    const all = [...this.#all]
    const young = all.filter(([, { calls }]) => calls < settledCalls)
    const [name] = (young.length > 0 ? young : all).reduce((a, b) => (b[1].lastAt < a[1].lastAt ? b : a))
    return name
  }
}
