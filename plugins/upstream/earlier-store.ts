import type { Collection, Store } from '#kernel'
import { routeRows } from './directory/route-section.ts'
import { keyRows } from './keys/key-store.ts'

/** Where versions before contract 2 kept provider keys and routes: the kernel's namespace. */
const earlier = 'kernel'

interface Storage {
  contents(prefix: string): Promise<readonly unknown[]>
  erase(prefix: string): Promise<void>
  namespace(name: string): Store
}

/**
 * Carries users' provider keys and routes over from where versions before contract 2 kept them, and erases them there. Rows
 * that exist in `store` stay. If it is cut short, the next start continues.
 */
export async function carryOver(storage: Storage, store: Store): Promise<void> {
  await carry('provider_keys', keyRows)
  await carry('routes', routeRows)

  async function carry<T>(name: string, open: (store: Store) => Collection<T>): Promise<void> {
    const path = `${earlier}/${name}`
    if ((await storage.contents(path)).length === 0) return
    const rows = open(store)
    for await (const [id, row] of open(storage.namespace(earlier)).scan()) await rows.create(id, row)
    await storage.erase(path)
  }
}
