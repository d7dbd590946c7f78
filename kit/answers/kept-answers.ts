import { type AnswerCache, AnswerCaches } from '../../contract/answer-caches.ts'
import type { Sealing } from '../../contract/sealing.ts'
import type { Attempt } from '../../kernel/call/attempt.ts'
import type { Call } from '../../kernel/call/call.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Completion } from '../canonical/forms.ts'
import { personalOfUsers } from '../records/personal.ts'
import { Entries } from './entries.ts'
import { type CacheEntry, createKept, type Stored } from './entry.ts'
import { Figures } from './figures.ts'
import { managed } from './managed.ts'
import { type Seals, sealsOf } from './seals.ts'

/** How long an answer is kept before it is stored; it would be lost if the process broke down until then. */
const minuteMs = 60_000

/** What a cache is made of. */
export interface KeptAnswersOptions {
  readonly ttlS: number
  /** In the store. */
  readonly maxEntries: number
  /** In the memory of each thread. */
  readonly maxBytes: number
  /** Asks for the module's own `sealing`, when something is sealed. */
  readonly sealing: () => Sealing
  /** How `/api/cache` shows it; as an exact one without it. */
  readonly shownAs?: Pick<AnswerCache, 'kind' | 'verification'>
}

/** What is known of an answer beside itself. */
export interface AnswerFacts {
  /** The attempt that gave it. */
  readonly served?: Attempt | undefined
  /** Its size; measured where it is not given. */
  readonly bytes?: number | undefined
}

/**
 * The answers that a module keeps to give them again, in the memory of each thread and in the module's store. They are part of
 * `/api/cache`, are sealed on disk where a module asks for that, and go with the personal data of their users. The manifest requires `cache`
 * and `sealing`, and has the permissions `store` and `service:sealing`.
 */
export class KeptAnswers {
  readonly figures: Figures
  readonly #entries: Entries
  readonly #seals: Seals
  readonly #ttlMs: number

  private constructor(figures: Figures, entries: Entries, seals: Seals, ttlS: number) {
    this.figures = figures
    this.#entries = entries
    this.#seals = seals
    this.#ttlMs = ttlS * 1000
  }

  /** Those of a module, for its `setup`. */
  static async of(context: Context<unknown>, options: KeptAnswersOptions): Promise<KeptAnswers> {
    const { store, memory, every, own, signal, log, use } = context
    const { ttlS, maxEntries, maxBytes, sealing, shownAs = { kind: 'exact' } } = options
    const kept = memory(`kept ${maxEntries} ${maxBytes}`, () => createKept(maxEntries, maxBytes))
    const figures = new Figures(await store.counters('figures'))
    const stored = memory('sizes', (): Stored => ({ keys: undefined }))
    const seals = sealsOf(context, sealing)
    const entries = new Entries({ store, kept, stored, seals, maxEntries })
    own(entries.watch())
    own(() => entries.save())
    entries.load().catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error }, 'the stored answers could not be listed')
    })
    every(minuteMs, () => entries.save(Date.now() - minuteMs), { inEachThread: true })
    every(minuteMs, async () => {
      await entries.sweep()
      figures.sweep((key) => entries.has(key))
    })
    const cache = managed(context, entries, figures, shownAs)
    own(use(AnswerCaches).add(cache))
    const clearedAt = await use(AnswerCaches).clearedAt()
    if (clearedAt !== undefined) await cache.clearUntil(clearedAt)
    context.personal(
      personalOfUsers({ count: (id) => cache.countOf(id), erase: (userId) => cache.clear({ userId }) }),
    )
    return new KeptAnswers(figures, entries, seals, ttlS)
  }

  /** The answer under a key that has not expired. A promise only when it takes a look into the store. */
  find(key: string): CacheEntry | undefined | Promise<CacheEntry | undefined> {
    return this.#entries.find(key)
  }

  /** Keeps the answer to a call. */
  keep(call: Call, key: string, body: Completion, { served, bytes }: AnswerFacts): void {
    const now = Date.now()
    const { principal, context, request } = call
    const origin = served && { provider: served.provider, model: served.model }
    const asked = {
      ...(principal.userId !== undefined && { user_id: principal.userId }),
      project: context.project,
      model: request.model,
    }
    const times = { stored_at: now, expires_at: now + this.#ttlMs }
    this.#entries.add(key, { body, ...times, origin, asked, seal: this.#seals.sealFor(call) }, bytes)
  }
}

/** The age of a kept answer, in seconds. */
export const ageS = ({ stored_at }: CacheEntry): number => (Date.now() - stored_at) / 1000
