import { StoreError } from '../errors.ts'
import type { Database } from './group-commit.ts'

/** The version of the store's layout. Raise it when older programs could misread what this one writes. */
export const storeVersion = 1

/** Holds the version; a store without it has version 1. The key belongs to no part, because those begin with a letter. */
export const versionKey = '!version'

/** Refuses a store that a newer program has written: `VERSION_AHEAD`. */
export async function checkVersion(database: Database, folder: string): Promise<void> {
  const version = Number((await database.get(versionKey)) ?? 1)
  if (version <= storeVersion) return
  throw new StoreError(
    'VERSION_AHEAD',
    `A newer version of Switchyard has written the store in ${folder} (store version ${version}; this one reads ${storeVersion}). Start the newer version, or restore the backup from before the upgrade.`,
  )
}
