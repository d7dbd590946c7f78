import type { DiskData } from '../../../gateway/disk-data.ts'
import { type Removal, readRecord, writeRecord } from './record.ts'

/**
 * Ends removals that have begun, such as those of commands that were killed: `end` does for one plugin what is left to do,
 * and is called again another time when it throws. Returns the ids of those that have ended, and for the others why they
 * have not. Only for the holder of the lock.
 */
export async function endRemovals(
  dataDir: string,
  end: (id: string, removal: Removal) => Promise<unknown>,
): Promise<{ ended: string[]; failed: { id: string; error: unknown }[] }> {
  const ended: string[] = []
  const failed: { id: string; error: unknown }[] = []
  const { plugins, leaving } = await readRecord(dataDir)
  for (const [id, removal] of Object.entries(leaving)) {
    try {
      await end(id, removal)
      ended.push(id)
    } catch (error) {
      failed.push({ id, error })
    }
  }
  const isOpen = ([id]: [string, Removal]) => !ended.includes(id)
  if (ended.length > 0)
    await writeRecord(dataDir, {
      plugins,
      leaving: Object.fromEntries(Object.entries(leaving).filter(isOpen)),
    })
  return { ended, failed }
}

/** Does with what a plugin that is gone has left as its removal says; whether there was anything to do. */
export async function dispose(
  id: string,
  { settings, stored }: Removal,
  pluginData: Pick<DiskData, 'erase' | 'forget'>,
): Promise<boolean> {
  const erased = stored === 'erased' && (await pluginData.erase(id))
  const forgotten = settings === 'forgotten' && (await pluginData.forget(id))
  return erased || forgotten
}
