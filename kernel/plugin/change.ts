import type { StoredSetting } from '../../config/setting.ts'
import type { Actor, SectionValue } from '../contract/section.ts'
import type { Plugin } from './plugin-record.ts'

/** The subject of a change: the settings of plugins and bindings, the code of a plugin, or its removal. */
export type PluginNews =
  | { readonly set: readonly string[] }
  | { readonly installed: string }
  | { readonly removed: string }

/** The news that other threads receive, with the number of the generation that the change led to. */
export type NumberedNews = PluginNews & { readonly generation: number }

/** The intended state of plugins and bindings: all of it takes effect, or nothing. */
export interface Change {
  /** Records for the places of those with their ids. One that has an instance keeps it. */
  readonly put?: readonly Plugin[]
  readonly remove?: readonly Plugin[]
  /** How much of `put` that is switched on must start: all or nothing changes, some may fail, or none is started. */
  readonly start?: 'all' | 'some' | 'none'
  /** Rows to write once everything stands ready; undefined deletes one. When that fails, nothing changes. */
  readonly rows?: ReadonlyMap<string, StoredSetting | undefined>
  /** Values of sections to write with the rows. */
  readonly values?: readonly SectionValue[]
  /** The generation that a rollback goes back to. */
  readonly to?: number
  /** Whether it is only tried: everything is made ready and checked, and nothing changes. */
  readonly isTrial?: boolean
  /** The caller; a change that would lock out the caller is refused. */
  readonly actor?: Actor | undefined
  /** The news for other threads and listeners. */
  readonly news?: PluginNews
}
