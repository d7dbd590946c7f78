import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../../config/config.ts'
import { readBackup } from '../../plugins/system/backup/backup.ts'
import { copyFiles, dataFiles } from '../../plugins/system/backup/data-files.ts'
import { examine, isLocked } from '../../storage/level.ts'
import { checkData } from './checks/data.ts'
import { exists } from './data-folder.ts'
import { type OutputOptions, report } from './plugin/session.ts'
import { demandOwn } from './running.ts'

/** Names that stay in place when a backup replaces everything else. */
const staying = /^(backups|before-restore-.*|\.restore-.*|lost\+found)$/

/**
 * `switchyard restore`: puts a backup into the data folder of a gateway that does not run. The previous content is moved aside,
 * and stays. A backup without the encryption key leaves the present one in place.
 */
export function restore(folder: string, options: OutputOptions): Promise<void> {
  const source = path.resolve(folder)
  return report(
    options,
    async (config) => {
      const { dataDir } = config
      await demandBackup(source)
      await demandStopped(config)
      await removeUnfinished(dataDir)
      const at = new Date().toISOString().toLowerCase().replaceAll(/[:.]/g, '-')
      const incoming = path.join(dataDir, `.restore-${at}`)
      await mkdir(incoming, { recursive: true, mode: 0o700 })
      for (const name of ['db', ...(await dataFiles(source))])
        await copyFiles(path.join(source, name), path.join(incoming, name))
      const before = await putAside(dataDir, path.join(dataDir, `before-restore-${at}`))
      if (before && !(await exists(path.join(incoming, 'secrets'))))
        await copyFiles(path.join(before, 'secrets'), path.join(incoming, 'secrets')).catch(ifMissing)
      for (const name of await readdir(incoming))
        await rename(path.join(incoming, name), path.join(dataDir, name))
      await rmdir(incoming)
      const checks = await checkData(config, { running: false, repair: false })
      return {
        restored: dataDir,
        from: source,
        before,
        checks: checks.filter(({ status }) => status !== 'ok'),
      }
    },
    ({ restored, from, before, checks }) =>
      [
        `${restored} now has the content of ${from}.`,
        ...(before === undefined
          ? []
          : [`The previous content is in ${before}; delete it when all is well.`]),
        ...checks.map(({ name, message }) => `${name}: ${message}`),
      ].join('\n'),
  )
}

async function demandBackup(folder: string): Promise<void> {
  if (!(await readBackup(folder)))
    throw new Error(`${folder} is not a backup: it has no readable backup.json`)
  const damaged = (what: string) => new Error(`the backup is damaged, and nothing was changed: ${what}`)
  // Opened where there is none, a store is made.
  if (!(await exists(path.join(folder, 'db', 'CURRENT')))) throw damaged('db/CURRENT is missing')
  const damage = await examine(path.join(folder, 'db'))
  if (damage.length > 0) throw damaged(damage.map(({ file, found }) => `${file}: ${found}`).join('. '))
}

async function demandStopped(config: Config): Promise<void> {
  const url = await demandOwn(config)
  if (url !== undefined) throw new Error(`a gateway runs on ${url}: stop it first`)
  const store = path.join(config.dataDir, 'db')
  if ((await exists(store)) && (await isLocked(store)))
    throw new Error(`another process has the store in ${config.dataDir} open: stop it first`)
}

/** Removes the copies of a restore that was killed before it put them into place. */
async function removeUnfinished(dataDir: string): Promise<void> {
  const names = await readdir(dataDir).catch(() => [])
  for (const name of names)
    if (name.startsWith('.restore-')) await rm(path.join(dataDir, name), { recursive: true })
}

/** Moves what a data folder holds into a folder inside it; undefined where there was nothing. */
async function putAside(dataDir: string, aside: string): Promise<string | undefined> {
  const names = (await readdir(dataDir)).filter((name) => !staying.test(name))
  if (names.length === 0) return undefined
  await mkdir(aside, { mode: 0o700 })
  for (const name of names) await rename(path.join(dataDir, name), path.join(aside, name))
  return aside
}

function ifMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
