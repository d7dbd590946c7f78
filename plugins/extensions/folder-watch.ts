import { type FSWatcher, watch } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import path from 'node:path'
import { type Context, kernelServices } from '#kernel'
import { contain } from '#kit'

/** Takes in by itself what changes in the operator's folders, if the configuration says so, and logs what came of it. */
export function watchPlugins({ use, own, log }: Context<unknown>): void {
  const { plugins, pluginDirs } = use(kernelServices.config)
  // The first thread has the others follow it.
  if (!plugins.watch || use(kernelServices.runtime).thread > 1) return
  const reloader = use(kernelServices.reloader)
  const onError = (problem: string): void => log.error({ problem }, 'the plugin folders cannot be watched')
  const onSettled = async (names: ReadonlySet<string>): Promise<void> => {
    const { added, changed, removed, failed } = await reloader.rescan(names)
    const outcome = { added, changed, removed, failed }
    if (Object.values(outcome).some(({ length }) => length > 0))
      log[failed.length > 0 ? 'warn' : 'info'](outcome, 'plugins were loaded')
  }
  own(watchFolders(pluginDirs, { settleMs: 1_000, onSettled, onError }))
}

export interface FolderWatchOptions {
  /** How long nothing in a folder may have changed before it counts as whole, in milliseconds. */
  readonly settleMs: number
  /** Called with the names of folders that changed and came to rest. */
  readonly onSettled: (names: ReadonlySet<string>) => Promise<unknown>
  readonly onError: (problem: string) => void
}

/**
 * Watches the folders below some roots. A folder that is being copied is reported once nothing in it has changed for that long;
 * one that is moved into place, with older content, is reported at once. Returns a function that ends the watch.
 */
export function watchFolders(roots: readonly string[], options: FolderWatchOptions): () => void {
  const { settleMs } = options
  const waiting = new Map<string, NodeJS.Timeout>()
  const watchers: FSWatcher[] = []
  let closed = false

  const look = async (folder: string, delayMs: number): Promise<void> => {
    clearTimeout(waiting.get(folder))
    if (closed) return
    if (delayMs > 0) {
      const timer = setTimeout(() => void rest(folder).catch(tell), delayMs)
      timer.unref()
      waiting.set(folder, timer)
      return
    }
    waiting.delete(folder)
    await options.onSettled(new Set([path.basename(folder)]))
  }
  const rest = async (folder: string): Promise<void> => {
    const changedMs = await newestChange(folder)
    await look(folder, changedMs === undefined ? 0 : settleMs - (Date.now() - changedMs))
  }
  /** A folder that is gone may be about to be replaced; a folder that is there shows its own age. */
  const heard = async (folder: string): Promise<void> => {
    if (waiting.has(folder)) return
    const changedMs = await newestChange(folder)
    await look(folder, changedMs === undefined ? settleMs : settleMs - (Date.now() - changedMs))
  }
  const tell = (error: unknown): void =>
    options.onError(error instanceof Error ? error.message : String(error))

  for (const root of roots) {
    try {
      const changed = contain('a watched folder', (_, file: string | null) => {
        const name = file?.split(path.sep)[0]
        if (name && !/^[._]/.test(name)) heard(path.join(root, name)).catch(tell)
      })
      const watcher = watch(root, { recursive: true, persistent: false }, changed)
      watchers.push(watcher.on('error', contain('a watched folder', tell)))
    } catch (error) {
      tell(error)
    }
  }
  return () => {
    closed = true
    for (const watcher of watchers) watcher.close()
    for (const timer of waiting.values()) clearTimeout(timer)
  }
}

/** When anything inside a folder last changed, moves of the folder itself left out; undefined when it is gone. */
async function newestChange(folder: string): Promise<number | undefined> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => undefined)
  if (!entries) return undefined
  let newest = 0
  for (const entry of entries) {
    const stats = await lstat(path.join(entry.parentPath, entry.name)).catch(() => undefined)
    newest = Math.max(newest, stats?.ctimeMs ?? Date.now())
  }
  return entries.length > 0 ? newest : Date.now()
}
