import { stat } from 'node:fs/promises'
import { packagesFolder } from '../../../gateway/discovery/installed.ts'
import type { DiskData } from '../../../gateway/disk-data.ts'
import type { Discovered } from '../../../kernel/discovery/manifest.ts'
import { removeLeftovers } from './leftovers.ts'
import { ifAlone } from './lock.ts'
import { dispose, endRemovals } from './removal.ts'

/**
 * Before any plugin runs: removes the remains of killed commands, and finishes the work that they had begun, unless a command
 * is at work there, or nothing was ever installed. A plugin that now has the name of a removed one keeps the data that the
 * removed one left.
 */
export async function tidyPackages(
  dataDir: string,
  found: readonly Discovered[],
  pluginData: DiskData,
): Promise<void> {
  const there = await stat(packagesFolder(dataDir)).catch(() => undefined)
  if (!there) return
  await ifAlone(dataDir, async () => {
    await removeLeftovers(dataDir)
    const { failed } = await endRemovals(dataDir, async (id, removal) => {
      if (!found.some((item) => item.id === id)) await dispose(id, removal, pluginData)
    })
    if (failed[0]) throw failed[0].error
  })
}
