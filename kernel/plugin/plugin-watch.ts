import type { Log } from '../log.ts'
import { watchFolders } from './folder-watch.ts'
import type { Reloader } from './reloader.ts'

/** Takes in by itself what changes in the operator's folders, and logs what came of it. Returns what ends it. */
export function watchPlugins(folders: readonly string[], reloader: Reloader, log: Log): () => void {
  const onError = (problem: string): void => log.error({ problem }, 'the plugin folders cannot be watched')
  const onSettled = async (names: ReadonlySet<string>): Promise<void> => {
    const { added, changed, removed, failed } = await reloader.rescan(names)
    const outcome = { added, changed, removed, failed }
    if (Object.values(outcome).some(({ length }) => length > 0)) log.info(outcome, 'plugins were taken in')
  }
  return watchFolders(folders, { settleMs: 1_000, onSettled, onError })
}
