import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { packagesFolder } from '../../../gateway/discovery/installed.ts'
import { type Installed, readInstalled } from './record.ts'

/**
 * Removes what the record of installed plugins does not name: versions that were replaced, and whatever commands that
 * were killed have left. Only for the holder of the lock. Removes nothing when the record cannot be read.
 */
export async function removeLeftovers(dataDir: string): Promise<void> {
  const folder = packagesFolder(dataDir)
  const kept = rootsOf(await readInstalled(dataDir))
  for (const name of await namesIn(folder)) {
    if (name === '.lock' || name === 'installed.json') continue
    const versions = kept.get(name)
    if (!versions) await removeAll(path.join(folder, name))
    else
      for (const version of await namesIn(path.join(folder, name)))
        if (!versions.has(version)) await removeAll(path.join(folder, name, version))
  }
}

/** Names of the folders of versions by plugin. */
function rootsOf(installed: Installed): ReadonlyMap<string, ReadonlySet<string>> {
  return new Map(
    Object.entries(installed).map(([id, { current, previous }]) => [
      id,
      new Set([current, previous].flatMap((version) => (version ? path.basename(version.root) : []))),
    ]),
  )
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** An npm that outlived the command which ran it may still write there: what cannot go now goes the next time. */
const removeAll = (at: string): Promise<void> => rm(at, { recursive: true, force: true }).catch(() => {})
