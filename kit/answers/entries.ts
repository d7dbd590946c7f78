import type { Collection, ListOptions, Store } from '../../storage/index.ts'
import {
  answersIn,
  type CacheEntry,
  type Clearing,
  heldIn,
  isCleared,
  type Kept,
  type Stored,
  type StoredEntry,
  sizeOf,
  unexpired,
} from './entry.ts'
import { rowOf, type Seals } from './seals.ts'

/** Rows that are written before others get their turn. */
const batch = 32

interface EntriesParts {
  readonly store: Store
  readonly kept: Kept
  readonly stored: Stored
  readonly seals: Seals
  readonly maxEntries: number
}

/**
 * Answers in memory, and behind them in the store, where they survive a restart. They are written now and then, and
 * only those that are still kept: of thousands a second most would be deleted again before a call asked for them.
 */
export class Entries {
  readonly #kept: Kept
  readonly #stored: Stored
  readonly #rows: Collection<StoredEntry>
  readonly #seals: Seals
  readonly #maxEntries: number

  constructor({ store, kept, stored, seals, maxEntries }: EntriesParts) {
    this.#kept = kept
    this.#stored = stored
    this.#seals = seals
    this.#maxEntries = maxEntries
    this.#rows = answersIn(store)
  }

  /** Takes note of what comes into the store and leaves it; returns what ends that. */
  watch(): () => void {
    return this.#rows.watch(({ id, row }) => {
      if (row) this.#stored.keys?.set(id, sizeOf(row))
      else this.#stored.keys?.delete(id)
    })
  }

  /** Reads which keys are in the store, so that no call asks it in vain; until then every call asks it. */
  async load(): Promise<void> {
    if (this.#stored.keys) return
    const keys = new Map<string, number>()
    const end = this.#rows.watch(({ id, row }) => void (row ? keys.set(id, sizeOf(row)) : keys.delete(id)))
    try {
      for await (const [key, row] of this.#rows.scan()) keys.set(key, sizeOf(row))
      this.#stored.keys = keys
    } finally {
      end()
    }
  }

  /** How many there are, and their bytes. Other threads' answers are counted when they are in the store. */
  get held(): { readonly entries: number; readonly bytes: number } {
    return heldIn(this.#kept, this.#stored)
  }

  has(key: string): boolean {
    return this.#kept.answers.has(key) || this.#stored.keys?.has(key) !== false
  }

  /** A promise only when it takes a look into the store. */
  find(key: string): CacheEntry | undefined | Promise<CacheEntry | undefined> {
    const { keys } = this.#stored
    const found = this.#kept.answers.get(key)
    if (found) return unexpired(found)
    return keys && !keys.has(key) ? undefined : this.#findStored(key)
  }

  /** Keeps an answer; `bytes` is its size where that is known. */
  add(key: string, given: CacheEntry, bytes?: number): void {
    const { answers, unsaved } = this.#kept
    const found = { ...given, key, bytes: bytes ?? sizeOf(given) }
    answers.set(key, found)
    if (answers.has(key)) unsaved.add(key)
    if (unsaved.size > 2 * this.#maxEntries) this.#forgetGone()
  }

  /**
   * Writes the entries given so far that are not in the store yet. An entry that memory had no more room for is not written:
   * under load that is most of them, and only entries that have stayed for a while are worth a write.
   */
  save(until = Number.POSITIVE_INFINITY): Promise<void> {
    const saved = this.#kept.saving.then(() => this.#save(until))
    this.#kept.saving = saved.catch(() => {})
    return saved
  }

  /** Deletes what has expired, and the oldest beyond the limit. */
  async sweep(): Promise<void> {
    await this.#deleteAll({ index: 'expires_at', to: Date.now() + 1 })
    const excess = (await this.#rows.count()) - this.#maxEntries
    if (excess > 0) await this.#deleteAll({ index: 'stored_at', limit: excess })
  }

  /** Drops answers from the memory of this thread, also those that are being read from the store. */
  drop(which: Clearing): void {
    const { answers, unsaved } = this.#kept
    this.#kept.cleared = which
    for (const [key, found] of answers.entries()) {
      if (!isCleared(key, found, which)) continue
      answers.delete(key)
      unsaved.delete(key)
    }
  }

  async #deleteAll(which: ListOptions): Promise<void> {
    const { answers } = this.#kept
    for await (const [key, row] of this.#rows.scan(which)) {
      await this.#rows.delete(key)
      if (answers.peek(key)?.stored_at === row.stored_at) answers.delete(key)
    }
  }

  async #findStored(key: string): Promise<CacheEntry | undefined> {
    const row = await this.#rows.get(key)
    const found = row && unexpired(row) && (await this.#seals.open(row))
    if (!found) return undefined
    const { answers, cleared } = this.#kept
    if (cleared && isCleared(key, found, cleared)) return undefined
    answers.set(key, found)
    return found
  }

  /** What cannot be written, or is replaced meanwhile, waits for the next time. */
  async #save(until: number): Promise<void> {
    const { answers, unsaved } = this.#kept
    const waiting = this.#unsavedUntil(until)
    for (let at = 0; at < waiting.length; at += batch) {
      const write = async ([key, found]: readonly [string, CacheEntry]): Promise<void> => {
        await this.#rows.put(key, await rowOf(found))
        if (answers.peek(key) === found) unsaved.delete(key)
      }
      await Promise.all(waiting.slice(at, at + batch).map(write))
    }
  }

  #unsavedUntil(until: number): (readonly [string, CacheEntry])[] {
    const { answers, unsaved } = this.#kept
    const waiting: (readonly [string, CacheEntry])[] = []
    for (const key of unsaved) {
      const found = answers.peek(key)
      if (!found || !unexpired(found)) unsaved.delete(key)
      else if (found.stored_at <= until) waiting.push([key, found])
    }
    return waiting
  }

  #forgetGone(): void {
    const { answers, unsaved } = this.#kept
    for (const key of unsaved) if (!answers.has(key)) unsaved.delete(key)
  }
}
