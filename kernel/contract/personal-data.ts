import type { Awaitable } from '../../kit/work/continue-with.ts'

/** The person whose data something is. */
export interface Subject {
  readonly kind: 'user' | 'tenant'
  readonly id: string
}

/**
 * Why data is erased. `deletion`: the account is deleted, and what it owned goes with it. `request`: what says something
 * about the person goes, and the account may stay.
 */
export type Erasure = 'deletion' | 'request'

/** One kind of thing that a plugin keeps of persons. */
export interface PersonalData {
  /**
   * When it is erased; both without it. Settings of an account go with the account only, and the operator's records, such as
   * traces, on request only.
   */
  readonly on?: readonly Erasure[]
  /** How many there are. */
  count(subject: Subject): Awaitable<number>
  /** Deletes them and returns how many. It is called again after a failure, and then deletes the rest. */
  erase(subject: Subject): Awaitable<number>
}

/** How many things, by the id of the plugin that keeps them. Plugins that keep nothing are left out. */
export type PersonalSums = Readonly<Record<string, number>>

/** The personal data that all plugins keep, also those that are switched off. */
export interface Personal {
  /** The data that a request to erase would delete. */
  count(subject: Subject): Promise<PersonalSums>
  /**
   * Asks every plugin to erase. When one fails, the others are asked all the same; the promise then rejects with the names
   * of those that failed, and asking again erases the rest.
   */
  erase(subject: Subject, why: Erasure): Promise<PersonalSums>
  /** Names of stored data whose plugin is gone, so that nobody can be asked whose it is. It can only be erased as a whole. */
  unclaimed(): Promise<readonly string[]>
}
