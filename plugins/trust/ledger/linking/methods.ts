import type { End } from '../end.ts'
import type { Linked } from './link.ts'

/** The methods of the thread. */
export type LinkingMethods = {
  /** All drafts are one text, since one crosses faster than many. */
  link(task: { readonly recorded: string; readonly end: End }): Linked
}
