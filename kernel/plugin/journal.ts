import { z } from 'zod'
import {
  type Page,
  type PageOptions,
  type Sequence,
  type Store,
  StoreError,
  type Transaction,
} from '../../storage/index.ts'
import { conflict, notFound } from '../errors.ts'
import { eventActor } from '../events/happening.ts'
import { sectionsOfSettings } from './recorded.ts'

const change = z.object({
  /** `modules`, `bindings`, `plugins`, `code`, or a section that a plugin keeps. */
  section: z.string(),
  key: z.string(),
  /** The value set at runtime; null for none. */
  before: z.unknown(),
  after: z.unknown(),
})
export type ConfigChange = z.infer<typeof change>

const entry = z.object({
  generation: z.int(),
  at: z.string(),
  kind: z.enum(['start', 'change', 'rollback']),
  actor: eventActor,
  /** Id of the request that asked for it. */
  cause: z.string().exactOptional(),
  /** The generation that a rollback went back to. */
  to: z.int().exactOptional(),
  changes: z.array(change),
})
export type JournalEntry = z.infer<typeof entry>

/**
 * The configuration made at runtime, change by change, each written in one batch with its rows. The number of an entry is that
 * of the generation which it led to: numbers have no gaps, and grow over restarts.
 */
export class Journal {
  readonly #entries: Sequence<JournalEntry>

  constructor(store: Store) {
    this.#entries = store.sequence('journal', entry)
  }

  /** Number of the last entry; 0 before the first. */
  last(): Promise<number> {
    return this.#entries.last()
  }

  /** Adds an entry to a transaction. Refuses it when its number is not the next one. */
  append(transaction: Transaction, made: JournalEntry): void {
    transaction.append(this.#entries, (_, seq) => {
      if (seq !== made.generation) throw conflict('The configuration has changed meanwhile; try again.')
      return made
    })
  }

  /** Throws a not found. */
  async get(generation: number): Promise<JournalEntry> {
    const found = await this.#entries.get(generation)
    if (found) return found
    throw notFound(`There is no generation ${generation}; the last is ${await this.last()}.`, {
      param: 'generation',
    })
  }

  /** Entries, the newest first. Throws `QUERY_INVALID` for what is no place in them. */
  async page({ after, limit = 50, offset = 0 }: PageOptions): Promise<Page<JournalEntry>> {
    const total = await this.last()
    const end = Math.max(0, (after === undefined ? total : placeOf(after, total)) - offset)
    const start = Math.max(0, end - limit)
    const items: JournalEntry[] = []
    for await (const item of this.#entries.scan(start + 1, end + 1)) items.unshift(item)
    return { items, total, ...(start > 0 && { next: String(start) }) }
  }

  /** The changes after a generation: for each key the value at that generation, and the value now. */
  async since(generation: number): Promise<ConfigChange[]> {
    const changes = new Map<string, ConfigChange>()
    for await (const later of this.#entries.scan(generation + 1)) {
      for (const { before, ...rest } of later.changes) {
        // Of a plugin that is gone the kind is not known, so its settings may have been under another section.
        const id = sectionsOfSettings.has(rest.section) ? rest.key : JSON.stringify([rest.section, rest.key])
        const first = changes.get(id)
        changes.set(id, { ...rest, before: first ? first.before : before })
      }
    }
    return [...changes.values()]
  }
}

/** How many entries come after the place that a page said. */
function placeOf(after: string, total: number): number {
  const place = /^\d{1,15}$/.test(after) ? Number(after) : Number.NaN
  if (place <= total) return place
  throw new StoreError('QUERY_INVALID', 'This is no place in the history.')
}
