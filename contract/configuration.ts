import type { Actor, Section } from '../kernel/contract/section.ts'
import type { JointChange } from '../kernel/plugin/registry.ts'
import { guardedToken } from '../kernel/token.ts'

/** A part of the runtime configuration that can be read and set as a whole, in forms without secrets and times. */
export interface Portable<V = unknown> {
  /** Everything that is set, by its keys. */
  all(): Iterable<readonly [string, V]> | AsyncIterable<readonly [string, V]>
  /** The form of a value in documents: JSON without secrets, ids and times. */
  shared(value: V): unknown
  /**
   * The value that a form stands for; what no form has, such as secrets, it takes from the one before. Returns `before` itself
   * when nothing changes, and undefined for a form that says nothing. Throws a bad request that names the field.
   */
  given(key: string, form: unknown, before: V | undefined): V | undefined | Promise<V | undefined>
  /** Throws a bad request for a value that cannot be beside all that a change leaves set. */
  fits?(value: V, after: Forms): void
  /** The same for what holds while nothing is set under any key, such as what service.yaml says. */
  fitsUnset?(after: Forms): void
  /** The names of the fields that a value has and its form has not, because they are secret. */
  withheld?(value: V): readonly string[]
  /** How many keys there may be. */
  readonly most?: number
}

/** A section that is in exports, imports, differences and packs, and not in the history alone. */
export interface PortableSection<V = unknown> extends Section<V>, Portable<V> {}

/** The forms of values by their sections and keys. */
export type Forms = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** What was set at runtime, at one moment. */
export interface Configured {
  readonly generation: number
  /** SHA-256 of the forms as canonical JSON, in hexadecimal: equal wherever the same is set. Sections without a value do not count. */
  readonly hash: string
  readonly sections: Forms
  /** Names of secret fields that are set, as `section.key.field`. */
  readonly secrets: readonly string[]
}

/** A key whose value changes; null for none. */
export interface FormChange {
  readonly section: string
  readonly key: string
  readonly before: unknown
  readonly after: unknown
}

/** What came of a change: the changed keys, and how things stand after it. */
export interface Applied {
  readonly changes: readonly FormChange[]
  readonly after: Configured
}

/** How a change is made. */
export interface ApplyOptions {
  readonly actor: Actor
  /** Makes everything ready and checks it, and changes nothing. */
  readonly isTrial?: boolean
  /** Told the changes before they are made; what it returns is made. It runs while nothing else changes, and may throw. */
  readonly decide?: (changes: readonly FormChange[]) => Decided
}

/** The changes of those told that are to be made, and values of the caller's own section for the same batch. */
export interface Decided {
  readonly changes: readonly FormChange[]
  readonly also?: JointChange['values']
}

/** The runtime configuration as a whole. */
export interface Configuration {
  /** All sections, or those named; throws a bad request for one that there is not. */
  read(sections?: readonly string[]): Promise<Configured>
  /**
   * Sets keys of any sections to whole forms, or clears them with null: in one batch, as one generation, or not at all. `wanted` is
   * asked while nothing else changes. What changes nothing makes no generation. A refusal names the key, and leaves all as it was.
   */
  apply(wanted: (now: Configured) => Forms | Promise<Forms>, options: ApplyOptions): Promise<Applied>
}

/** Offered by the area `config`. */
export const Configuration = guardedToken<Configuration>('configuration')
