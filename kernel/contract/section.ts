import type { Transaction } from '../../storage/index.ts'
import type { Principal } from '../call/call.ts'

/** The caller of a management route that changes the configuration. */
export interface Actor {
  readonly ip: string
  /** Of the request; a module may let in requests by them. */
  readonly method?: string | undefined
  readonly path?: string | undefined
  readonly principal: Principal | undefined
  readonly requestId?: string | undefined
  /** Makes the change even if it locks out the caller. */
  readonly force?: boolean | undefined
  /** The change is wanted only if this is the generation that it changes. */
  readonly ifGeneration?: number | undefined
}

/**
 * A part of the runtime configuration that a plugin keeps in its store. Every change goes through the registry, which writes
 * it in one batch with its entry in the journal, so that the history is complete and can be rolled back.
 */
export interface Section<V = unknown> {
  /** Its name in the history, such as `routes`. */
  readonly name: string
  /** The value that was set under a key; undefined for none. */
  read(transaction: Transaction, key: string): V | undefined
  /** Sets what is under a key, or goes back to nothing. */
  write(transaction: Transaction, key: string, value: V | undefined): void
  /** Throws for a value that cannot hold as things are. */
  check?(key: string, value: V | undefined): void
  /** The form of a value in the history; the whole value without this. */
  show?(value: V): unknown
}

/** The new value of a key of a section. */
export interface SectionValue {
  readonly section: Section
  readonly key: string
  readonly value: unknown
}
