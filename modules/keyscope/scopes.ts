import { z } from 'zod'
import type { Collection, Store } from '#kernel'
import { followRows } from '#kit'
import { Rules } from './rules.ts'
import { type Scope, scopeFields } from './scope.ts'

const storedScope = z.object(scopeFields).partial().extend({ created_at: z.string(), updated_at: z.string() })
export type StoredScope = z.infer<typeof storedScope>

/** Absent fields stay as they are, null removes one. */
export type ScopeChange = { readonly [K in keyof Scope]: Scope[K] | null }

/** The scopes of keys, by key id. Rules are answered from memory, so that no call waits for the store. */
export class Scopes {
  readonly #rows: Collection<StoredScope>
  readonly #rules = new Map<string, Rules>()

  constructor(store: Store) {
    this.#rows = store.collection('scopes', { schema: storedScope })
  }

  /** Takes in what is stored, and from then on every change; returns what ends that. */
  load(): Promise<() => void> {
    return followRows(this.#rows, (id, row) => this.#take(id, row))
  }

  /** Key ids that have a scope. */
  get keyIds(): Iterable<string> {
    return this.#rules.keys()
  }

  rules(keyId: string): Rules | undefined {
    return this.#rules.get(keyId)
  }

  get(keyId: string): Promise<StoredScope | undefined> {
    return this.#rows.get(keyId)
  }

  /** When it resolves, the next call of the key is under the new scope. */
  async change(keyId: string, change: ScopeChange): Promise<StoredScope> {
    const row = await this.#rows.update(keyId, (row) => changed(row, change))
    this.#take(keyId, row)
    return row!
  }

  async delete(keyId: string): Promise<boolean> {
    const deleted = await this.#rows.delete(keyId)
    this.#take(keyId, undefined)
    return deleted
  }

  /** A key that takes the place of another is under its scope, from the first call on. */
  async inherit(from: string, to: string): Promise<void> {
    const rules = this.#rules.get(from)
    if (!rules || this.#rules.has(to)) return
    this.#rules.set(to, rules)
    const row = await this.#rows.get(from)
    if (row) await this.#rows.create(to, row)
  }

  #take(keyId: string, row: StoredScope | undefined): void {
    if (row) this.#rules.set(keyId, new Rules(row))
    else this.#rules.delete(keyId)
  }
}

function changed(row: StoredScope | undefined, change: ScopeChange): StoredScope {
  const now = new Date().toISOString()
  const next: Record<string, unknown> = { created_at: now, ...row, updated_at: now }
  for (const [field, value] of Object.entries(change)) {
    if (value === null) delete next[field]
    else if (value !== undefined) next[field] = value
  }
  return next as StoredScope
}
