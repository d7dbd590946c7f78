import type { Entry } from '../chain/entry.ts'
import type { Instance } from './instance.ts'

/** Runs modules beside calls, which they do not change. It is handed in: nothing here knows how that is done. */
export interface Shadow {
  /** Throws a conflict for an instance whose effect does not go through hooks, and so cannot be held back. */
  refuse(instance: Instance): void
  /** A module's place in the chain with hooks that do nothing, and run the module's own aside. */
  place(entry: Entry): Entry
}
