import type { Keys } from './keys.ts'

/** Makes an admin key when there is none; undefined when there is one. */
export async function firstAdminKey(keys: Keys): Promise<string | undefined> {
  if (await keys.hasAdmin()) return undefined
  return (await keys.issue({ type: 'admin' }, { name: 'first boot' })).secret
}
