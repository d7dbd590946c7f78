import { cp, readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'

/**
 * Names that are not copied: files that a gateway makes anew, those of the running process, and those put aside. The process
 * that has the store open copies the store.
 */
const leftOut =
  /^(db|staged|threads|backups|running\.json|backup\.json|\..*|before-restore-.*|db-before-repair-.*)$/
const secrets = 'secrets'

/** Names in a data folder, or in a backup, of what is copied as files. */
export async function dataFiles(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => !leftOut.test(name))
}

/**
 * Copies what a data folder holds beside its store; without the key, `secrets` is left out. Plugins that are installed
 * meanwhile are copied as they are then.
 */
export async function copyDataFiles(from: string, to: string, withKey: boolean): Promise<void> {
  for (;;) {
    const before = await recordIn(from)
    for (const name of await dataFiles(from))
      if (withKey || name !== secrets) await copyFiles(path.join(from, name), path.join(to, name))
    if ((await recordIn(from)) === before) return
  }
}

/** Copies a file or a folder, but for the locks and unfinished work that lie in it. */
export function copyFiles(from: string, to: string): Promise<void> {
  const isOthers = (file: string): boolean =>
    path.dirname(file) === from && /^\.(lock|adding-.*)$/.test(path.basename(file))
  const filter = (file: string): boolean => !isOthers(file)
  return cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true, filter })
}

/** Bytes of all files of a folder and those below it. */
export async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(
    files.map(({ parentPath, name }) =>
      stat(path.join(parentPath, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** The record of installed plugins. */
const recordIn = (dataDir: string): Promise<string | undefined> =>
  readFile(path.join(dataDir, 'packages', 'installed.json'), 'utf8').catch(() => undefined)
