import type { End } from '../end.ts'
import type { Linked } from './link.ts'

/** The methods of the thread. */
export type LinkingMethods = {
  link(task: { readonly drafts: Uint8Array; readonly end: End }): Linked
}
