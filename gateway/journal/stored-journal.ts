import { z } from 'zod'
import type { StoredSetting } from '../../config/setting.ts'
import { actorOf, eventActor } from '../../kernel/events/happening.ts'
import type { Journal, JournalEntry, ReadyChange } from '../../kernel/plugin/journal.ts'
import { conflict } from '../../kit/errors.ts'
import type { Collection, Sequence, Store } from '../../storage/index.ts'
import { codeChanges, writeRows, writeValues } from './recorded.ts'

const change = z.object({ section: z.string(), key: z.string(), before: z.unknown(), after: z.unknown() })

const entry = z.object({
  generation: z.int(),
  at: z.string(),
  kind: z.enum(['start', 'change', 'rollback']),
  actor: eventActor,
  cause: z.string().exactOptional(),
  to: z.int().exactOptional(),
  changes: z.array(change),
})

/** A journal in the store, beside the settings that it tells of. */
export class StoredJournal implements Journal {
  readonly #store: Store
  readonly #settings: Collection<StoredSetting>
  readonly #entries: Sequence<JournalEntry>

  constructor(store: Store, settings: Collection<StoredSetting>) {
    this.#store = store
    this.#settings = settings
    this.#entries = store.sequence('journal', entry)
  }

  get(generation: number): Promise<JournalEntry | undefined> {
    return this.#entries.get(generation)
  }

  last(): Promise<number> {
    return this.#entries.last()
  }

  scan(from?: number, to?: number): AsyncIterable<JournalEntry> {
    return this.#entries.scan(from, to)
  }

  async write(ready: ReadyChange): Promise<void> {
    const { generation, news, before, after, rows, values = [] } = ready
    const told = entryOf(ready)
    await this.#store.transaction((batch) => {
      const changes = [
        ...codeChanges(news, before, after),
        ...writeRows(batch, this.#settings, rows, (id) => after.get(id) ?? before.get(id)),
        ...writeValues(batch, values),
      ]
      batch.append(this.#entries, (_, seq) => {
        if (seq !== generation) throw conflict('The configuration has changed meanwhile; try again.')
        return { ...told, changes }
      })
    })
  }
}

/** An entry without its changes. */
function entryOf({ to, news, actor, generation }: ReadyChange): Omit<JournalEntry, 'changes'> {
  return {
    generation,
    at: new Date().toISOString(),
    kind: to !== undefined ? 'rollback' : news ? 'change' : 'start',
    actor: actorOf({ cause: actor }),
    ...(actor?.requestId !== undefined && { cause: actor.requestId }),
    ...(to !== undefined && { to }),
  }
}
