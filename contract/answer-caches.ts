import { token } from '../kernel/token.ts'
import type { Page, PageOptions } from '../storage/index.ts'

/** An answer that a cache holds, without its text. Times are milliseconds since the epoch. */
export interface CachedAnswer {
  readonly id: string
  /** As the call that it was made for asked. */
  readonly model: string | undefined
  /** What answered. */
  readonly provider: string | undefined
  /** Whose call it was made for. */
  readonly userId: string | undefined
  readonly project: string | undefined
  readonly bytes: number
  /** How often it was given again. */
  readonly hits: number
  readonly storedAt: number
  readonly expiresAt: number
}

/** Which answers; all conditions must hold. */
export interface CachedWhich {
  readonly id?: string | undefined
  readonly userId?: string | undefined
  readonly model?: string | undefined
}

/** Sums over all threads, since the cache was first switched on. */
export interface CacheFigures {
  /** Those held now, with their size. */
  readonly entries: number
  readonly bytes: number
  readonly hits: number
  readonly misses: number
  /** Nano-dollars that answered calls would have cost. */
  readonly savedNano: number
  readonly savedTokens: number
}

/** Hits that a cache has checked, since it was first switched on. */
export interface CacheVerification {
  /** How often the provider was asked although the cache had an answer. */
  readonly verified: number
  /** How often the provider's answer agreed with the kept one. */
  readonly agreed: number
}

/** A cache of answers that is on. */
export interface AnswerCache {
  /** The module, or its binding. */
  readonly name: string
  /** `near_duplicates` compares the form of questions, `semantic` what an embedding model makes of them too. */
  readonly kind: 'exact' | 'near_duplicates' | 'semantic'
  figures(): CacheFigures
  /** For a cache that asks the provider anyway on a share of its hits. */
  verification?(): CacheVerification
  /** Newest first; by model first where only the user is given. */
  list(which: Omit<CachedWhich, 'id'>, page: PageOptions): Promise<Page<CachedAnswer>>
  get(id: string): Promise<CachedAnswer | undefined>
  /** Deletes answers that were there, and returns how many. No thread gives one of them when it resolves. */
  clear(which: CachedWhich): Promise<number>
}

/** The caches of all modules: each adds its own in setup, in every thread. */
export interface AnswerCaches {
  /** Returns what takes it out again. */
  add(cache: AnswerCache): () => void
  /** When all caches were last cleared, also those that were off: a cache that comes on deletes what is not newer. */
  clearedAt(): Promise<number | undefined>
}

export const AnswerCaches = token<AnswerCaches>('answer-caches')
