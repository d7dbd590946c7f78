import type { End } from '../entry.ts'
import type { Linked } from './link.ts'

/** The methods of the thread. */
export type LinkingMethods = {
  /** All facts are one text, since one crosses faster than many. */
  link(task: { readonly facts: string; readonly end: End }): Linked
}

/** A character that no JSON has as it is, nor do facts. */
export const betweenFacts = '\u0001'
