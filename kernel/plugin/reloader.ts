import type { Plugin } from './plugin-record.ts'

/** The result of a look at the folders, by names of plugins. */
export interface Rescan {
  readonly added: string[]
  readonly changed: string[]
  readonly removed: string[]
  /** New or changed, and not taken: what ran before still runs. */
  readonly failed: { readonly name: string; readonly problem: string }[]
  readonly unchanged: number
}

/** Brings what runs into line with what lies in the operator's folders. One look at a time. */
export interface Reloader {
  /**
   * Takes in what is new or has other content, and stops what is gone. Unchanged content is left alone, and so is every
   * plugin that is not among `only`, if that is given.
   */
  rescan(only?: ReadonlySet<string>): Promise<Rescan>
  /**
   * Takes the code that lies in a plugin's folder now. Resolves with whether there was anything to do: the same content is not
   * imported twice, unless its import failed or it does not run though it should. Rejects when it cannot run; the code before
   * still runs then.
   */
  reload(id: string): Promise<{ plugin: Plugin; reloaded: boolean }>
  /** Lets go of what was found and not taken. */
  settle(): Promise<void>
  /** Lets the look that is under way end, and allows no other. */
  close(): Promise<void>
}
