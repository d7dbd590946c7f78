import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { type Awaitable, type Collection, newId, type Store, type Subject } from '#kernel'

/** The salt that keys are derived with. */
export interface Salt {
  readonly id: string
  readonly bytes: Uint8Array
}

/** Subjects whose salts are kept in memory. */
const mostKnown = 10_000

const saltBytes = 32

const subjectRow = z.strictObject({ salt: z.string() })
const saltRow = z.strictObject({ bytes: z.string() })

/**
 * A random salt for each subject. Both rows of one, and those alone, say whose data a key is for, so deleting them makes
 * what was sealed with it unreadable.
 */
export class Salts {
  readonly #store: Store
  readonly #subjects: Collection<z.infer<typeof subjectRow>>
  readonly #salts: Collection<z.infer<typeof saltRow>>
  readonly #ofSubject = new Map<string, Salt>()
  readonly #byId = new Map<string, Salt>()
  /** Counts deletions: what was read before one is not remembered after it. */
  #deletions = 0

  constructor(store: Store) {
    this.#store = store
    this.#subjects = store.collection('subjects', { schema: subjectRow })
    this.#salts = store.collection('salts', { schema: saltRow })
  }

  /** Forgets at once what another thread deletes. Returns what ends that. */
  watch(): () => void {
    const forget = (known: Map<string, Salt>, id: string): void => {
      this.#deletions += 1
      known.delete(id)
    }
    const ends = [
      this.#subjects.watch(({ id, row }) => row ?? forget(this.#ofSubject, id)),
      this.#salts.watch(({ id, row }) => row ?? forget(this.#byId, id)),
    ]
    return () => {
      for (const end of ends) end()
    }
  }

  /** The salt of a subject, made at first use. */
  of(subject: Subject): Awaitable<Salt> {
    const name = nameOf(subject)
    return this.#ofSubject.get(name) ?? this.#load(name)
  }

  async find(id: string): Promise<Salt | undefined> {
    const known = this.#byId.get(id)
    if (known) return known
    const before = this.#deletions
    const row = await this.#salts.get(id)
    if (!row) return undefined
    const salt = { id, bytes: Buffer.from(row.bytes, 'base64') }
    if (before === this.#deletions) bound(this.#byId).set(id, salt)
    return salt
  }

  /** Deletes the salt of a subject; whether there was one. */
  delete(subject: Subject): Promise<boolean> {
    const name = nameOf(subject)
    return this.#store.transaction((tx) => {
      const row = tx.get(this.#subjects, name)
      if (!row) return false
      tx.delete(this.#subjects, name)
      tx.delete(this.#salts, row.salt)
      return true
    })
  }

  async has(subject: Subject): Promise<boolean> {
    return (await this.#subjects.get(nameOf(subject))) !== undefined
  }

  async #load(name: string): Promise<Salt> {
    const before = this.#deletions
    const fresh = { id: newId('salt_'), bytes: randomBytes(saltBytes).toString('base64') }
    const { id, bytes } = await this.#store.transaction((tx) => {
      const row = tx.get(this.#subjects, name)
      const stored = row && tx.get(this.#salts, row.salt)
      if (row && stored) return { id: row.salt, bytes: stored.bytes }
      tx.put(this.#subjects, name, { salt: fresh.id })
      tx.put(this.#salts, fresh.id, { bytes: fresh.bytes })
      return fresh
    })
    const salt = { id, bytes: Buffer.from(bytes, 'base64') }
    if (before === this.#deletions) {
      bound(this.#ofSubject).set(name, salt)
      bound(this.#byId).set(id, salt)
    }
    return salt
  }
}

/** A map that may take one more. */
function bound<V>(map: Map<string, V>): Map<string, V> {
  if (map.size >= mostKnown) map.clear()
  return map
}

const nameOf = ({ kind, id }: Subject): string => `${kind}:${id}`
