import { stat } from 'node:fs/promises'
import type { Collection } from '../../../storage/index.ts'
import type { Discovered } from '../manifest.ts'
import { forget, type StoredSetting } from '../setting.ts'
import { packagesFolder } from './installed.ts'
import { removeLeftovers } from './leftovers.ts'
import { ifAlone } from './lock.ts'
import { endRemovals } from './removal.ts'

/**
 * Before any plugin runs: removes what killed commands have left, and ends what they had begun, unless somebody is at work
 * there, or nothing was ever installed. A plugin that was found by now under the name of one that was removed keeps the
 * settings of that.
 */
export async function tidyPackages(
  dataDir: string,
  settings: Collection<StoredSetting>,
  found: readonly Discovered[],
): Promise<void> {
  const there = await stat(packagesFolder(dataDir)).catch(() => undefined)
  if (!there) return
  await ifAlone(dataDir, async () => {
    await removeLeftovers(dataDir)
    const { failed } = await endRemovals(dataDir, async (id, removal) => {
      const taken = found.some((item) => item.id === id)
      if (removal.settings === 'forgotten' && !taken) await forget(settings, id)
    })
    if (failed[0]) throw failed[0].error
  })
}
