import type { StoredSetting } from '../../config/setting.ts'
import type { Sequence } from '../../storage/index.ts'
import type { EventActor } from '../events/happening.ts'
import type { Change } from './change.ts'
import type { Plugins } from './plugin-record.ts'

export interface ConfigChange {
  /** `modules`, `bindings`, `plugins`, `code`, or a section that a plugin keeps. */
  readonly section: string
  readonly key: string
  /** The value set at runtime; null for none. */
  readonly before: unknown
  readonly after: unknown
}

export interface JournalEntry {
  readonly generation: number
  readonly at: string
  readonly kind: 'start' | 'change' | 'rollback'
  readonly actor: EventActor
  /** Id of the request that asked for it. */
  readonly cause?: string
  /** The generation that a rollback went back to. */
  readonly to?: number
  readonly changes: readonly ConfigChange[]
}

/** A change that stands ready: what it leads to, and the settings to write for it. */
export interface ReadyChange extends Pick<Change, 'values' | 'to' | 'news' | 'actor'> {
  readonly generation: number
  /** Undefined deletes one. */
  readonly rows: ReadonlyMap<string, StoredSetting | undefined>
  readonly before: Plugins
  readonly after: Plugins
}

/**
 * The configuration made at runtime, change by change. The number of an entry is that of the generation which it led to: numbers
 * have no gaps, and grow over restarts. It is handed in: nothing here knows how that is written.
 */
export interface Journal extends Pick<Sequence<JournalEntry>, 'get' | 'last' | 'scan'> {
  /** Writes a change in one batch with its entry. Rejects with a conflict when another one has its number. */
  write(ready: ReadyChange): Promise<void>
}
