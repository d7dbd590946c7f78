import type { Transaction } from '../../storage/index.ts'
import type { Principal } from '../call/call.ts'

/** The caller of a management route who asks for a change of the configuration. */
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
  /** What was set under a key; undefined for nothing. */
  read(transaction: Transaction, key: string): V | undefined
  /** Sets what is under a key, or goes back to nothing. */
  write(transaction: Transaction, key: string, value: V | undefined): void
  /** Throws for a value that cannot hold as things are. */
  check?(key: string, value: V | undefined): void
  /** What the history shows of a value; all of it without this. */
  show?(value: V): unknown
}

/** What a key of a section is to be. */
export interface SectionValue {
  readonly section: Section
  readonly key: string
  readonly value: unknown
}
