/** The usual constants: how soon more of a term adds little, and how much the length of a passage counts. */
const saturation = 1.2
const lengthWeight = 0.75

interface Passage {
  readonly counts: ReadonlyMap<string, number>
  readonly length: number
}

/** Ranks passages by Okapi BM25: terms of the query that few passages have count most. Ids are of the passages. */
export class Bm25 {
  readonly #passages = new Map<string, Passage>()
  readonly #holders = new Map<string, Set<string>>()
  #length = 0

  get size(): number {
    return this.#passages.size
  }

  /** Adds a passage, in the place of one with its id. */
  add(id: string, terms: readonly string[]): void {
    this.delete(id)
    const counts = new Map<string, number>()
    for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
    for (const term of counts.keys()) {
      const holders = this.#holders.get(term)
      if (holders) holders.add(id)
      else this.#holders.set(term, new Set([id]))
    }
    this.#passages.set(id, { counts, length: terms.length })
    this.#length += terms.length
  }

  delete(id: string): void {
    const passage = this.#passages.get(id)
    if (!passage) return
    this.#passages.delete(id)
    this.#length -= passage.length
    for (const term of passage.counts.keys()) {
      const holders = this.#holders.get(term)!
      holders.delete(id)
      if (holders.size === 0) this.#holders.delete(term)
    }
  }

  /** The passages that have terms of the query, best first, with their scores; at most so many. Equals are in the order of their ids. */
  search(query: readonly string[], most: number): { readonly id: string; readonly score: number }[] {
    const scores = new Map<string, number>()
    const mean = this.#length / Math.max(1, this.size)
    for (const term of new Set(query)) {
      const holders = this.#holders.get(term)
      if (!holders) continue
      const rarity = Math.log(1 + (this.size - holders.size + 0.5) / (holders.size + 0.5))
      for (const id of holders) {
        const { counts, length } = this.#passages.get(id)!
        const count = counts.get(term)!
        const norm = saturation * (1 - lengthWeight + (lengthWeight * length) / mean)
        scores.set(id, (scores.get(id) ?? 0) + (rarity * count * (saturation + 1)) / (count + norm))
      }
    }
    return Array.from(scores, ([id, score]) => ({ id, score }))
      .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
      .slice(0, most)
  }
}
