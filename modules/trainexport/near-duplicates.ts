import { wordsOf } from '#kit'

/** Values of a signature: bands of rows. Texts that share two thirds of their shingles meet in a band nine times in ten. */
const bands = 16
const rows = 8
const length = bands * rows

/** Shingles of a text that its signature is made of. */
const sampled = 512

/** The share of equal values from which texts are nearly the same; it estimates the share of shingles in common. */
const threshold = 0.8

/**
 * Recognises texts that are nearly the same as one before, by MinHash signatures of their words and pairs of words, which are
 * compared where a band of them is equal. Each text takes 400 to 800 bytes, whatever its length.
 */
export class NearDuplicates {
  #capacity = 1024
  #count = 0
  /** The lower halves of the values, one signature behind the other. */
  #signatures = new Uint16Array(this.#capacity * length)
  /** For each band an open hash table with the numbers of signatures, from 1. */
  #tables = emptyTables(this.#capacity)

  /** Remembers a text, and returns true, unless it is nearly the same as one before. */
  add(text: string): boolean {
    const signature = signatureOf(text)
    if (this.#isKnown(signature)) return false
    if (this.#count === this.#capacity) this.#grow()
    this.#signatures.set(signature, this.#count * length)
    this.#enter(this.#count)
    this.#count += 1
    return true
  }

  #isKnown(signature: Uint16Array): boolean {
    for (let band = 0; band < bands; band += 1) {
      const table = this.#tables[band]!
      for (let slot = slotOf(signature, 0, band, table); table[slot] !== 0; slot = (slot + 1) % table.length)
        if (alike(signature, this.#signatures, (table[slot]! - 1) * length) >= threshold * length) return true
    }
    return false
  }

  #enter(n: number): void {
    for (let band = 0; band < bands; band += 1) {
      const table = this.#tables[band]!
      let slot = slotOf(this.#signatures, n * length, band, table)
      while (table[slot] !== 0) slot = (slot + 1) % table.length
      table[slot] = n + 1
    }
  }

  #grow(): void {
    this.#capacity *= 2
    const signatures = new Uint16Array(this.#capacity * length)
    signatures.set(this.#signatures)
    this.#signatures = signatures
    this.#tables = emptyTables(this.#capacity)
    for (let n = 0; n < this.#count; n += 1) this.#enter(n)
  }
}

/** Twice as many slots as signatures, so that runs of full ones stay short. */
const emptyTables = (capacity: number): Uint32Array[] =>
  Array.from({ length: bands }, () => new Uint32Array(2 * capacity))

/** Where a band of a signature belongs in its table. */
function slotOf(signatures: Uint16Array, at: number, band: number, table: Uint32Array): number {
  let hash = 0x811c9dc5
  const from = at + band * rows
  for (let n = from; n < from + rows; n += 1) hash = Math.imul(hash ^ signatures[n]!, 0x01000193)
  return mixed(hash) % table.length
}

function alike(signature: Uint16Array, all: Uint16Array, at: number): number {
  let equal = 0
  for (let n = 0; n < length; n += 1) if (signature[n] === all[at + n]) equal += 1
  return equal
}

/** The least value of each of many hash functions over the shingles of a text. */
function signatureOf(text: string): Uint16Array {
  const least = new Uint32Array(length).fill(0xffffffff)
  for (const hash of sampleOf(text))
    for (let n = 0; n < length; n += 1) {
      const value = mixed(hash ^ seeds[n]!)
      if (value < least[n]!) least[n] = value
    }
  return Uint16Array.from(least)
}

/** The least hashes of the words of a text and of their pairs: texts that share most shingles share most of these as well. */
function sampleOf(text: string): Uint32Array {
  const found = wordsOf(text)
  const words = found.length > 0 ? found : [text]
  const hashes = new Uint32Array(2 * words.length - 1)
  let before = 0
  let at = 0
  for (const word of words) {
    const hash = hashOf(word)
    hashes[at++] = hash
    if (before !== 0) hashes[at++] = mixed(Math.imul(before, 31) ^ hash)
    before = hash
  }
  return hashes
    .sort()
    .filter((hash, n) => hash !== hashes[n - 1])
    .subarray(0, sampled)
}

/** FNV-1a, mixed. Never 0. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5
  for (let n = 0; n < word.length; n += 1) hash = Math.imul(hash ^ word.charCodeAt(n), 0x01000193)
  return mixed(hash) || 1
}

/** The finalizer of MurmurHash3: every bit of the input reaches every bit of the result. */
function mixed(value: number): number {
  let hash = value
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The same in every process, so that a set that is built again is the same. */
const seeds = Uint32Array.from({ length }, (_, n) => mixed(Math.imul(n + 1, 0x9e3779b1)))
