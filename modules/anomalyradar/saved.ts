import type { Collection, Store } from '#kernel'
import { type PackedSubject, packedSubject, Subject } from './subject.ts'
import type { Subjects } from './subjects.ts'

/** A subject is written so often at the most, and so many in one go: some 2 MB a minute when all of them are busy. */
const restMs = 600_000
const mostAtOnce = 50

interface Written {
  readonly version: number
  readonly at: number
}

/** Keeps on disk what was learned. A crash forgets what was learned in the ten minutes before it. */
export class Saved {
  readonly #rows: Collection<PackedSubject>
  readonly #subjects: Subjects
  readonly #written = new Map<string, Written>()

  constructor(store: Store, subjects: Subjects) {
    this.#rows = store.collection('subjects', { schema: packedSubject })
    this.#subjects = subjects
  }

  /** Takes in what was kept. */
  async load(): Promise<void> {
    for await (const [key, kept] of this.#rows.scan()) {
      const { by, provider, name } = kept
      this.#subjects.add(new Subject({ by, provider, name }, kept))
      this.#written.set(key, { version: 0, at: Date.now() })
    }
  }

  /** Writes what has changed and was not written for a while. */
  async write(now: number): Promise<void> {
    await this.#write((at) => now - at >= restMs, mostAtOnce)
  }

  /** Writes all that has changed. */
  async flush(): Promise<void> {
    await this.#write(() => true, Number.POSITIVE_INFINITY)
  }

  async delete(key: string): Promise<void> {
    if (this.#written.delete(key)) await this.#rows.delete(key)
  }

  async #write(isDue: (at: number) => boolean, most: number): Promise<void> {
    let left = most
    for (const [key, subject] of [...this.#subjects.all]) {
      const { version = 0, at = Number.NEGATIVE_INFINITY } = this.#written.get(key) ?? {}
      if (subject.version === version || !isDue(at)) continue
      this.#written.set(key, { version: subject.version, at: Date.now() })
      await this.#rows.put(key, subject.pack())
      left -= 1
      if (left === 0) return
    }
  }
}
