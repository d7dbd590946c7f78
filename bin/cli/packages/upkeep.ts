import { stat } from 'node:fs/promises'
import type { Discovered } from '../../../kernel/plugin/manifest.ts'
import { packagesFolder } from '../../../kernel/plugin/packages/installed.ts'
import type { PluginData } from '../../../kernel/plugin/plugin-data.ts'
import { removeLeftovers } from './leftovers.ts'
import { ifAlone } from './lock.ts'
import { dispose, endRemovals } from './removal.ts'

/**
 * Before any plugin runs: removes what killed commands have left, and ends what they had begun, unless somebody is at work
 * there, or nothing was ever installed. A plugin that was found by now under the name of one that was removed keeps what
 * that has left.
 */
export async function tidyPackages(
  dataDir: string,
  found: readonly Discovered[],
  pluginData: PluginData,
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
