import { access, constants, cp, mkdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import type { Config } from '../../config/config.ts'
import { packageVersion } from '../../gateway/version.ts'
import { explain } from '../../kit/explain.ts'
import { type BackupNote, makeBackup } from '../../plugins/system/backup/backup.ts'
import { openLevel } from '../../storage/level.ts'
import { exists } from './data-folder.ts'
import type { GatewayOptions } from './plugin/gateway.ts'
import { type OutputOptions, report } from './plugin/session.ts'
import { askRunning, demandOwn } from './running.ts'

type BackupOptions = OutputOptions &
  GatewayOptions & {
    /** False leaves the encryption key out; `--key` is an admin key. */
    readonly encryptionKey?: boolean
  }

const made = z.looseObject({ folder: z.string() })

/**
 * `switchyard backup`: copies the data folder as it is at one moment, through the gateway while one runs, into a folder that
 * is not there yet. The copy is a data folder itself.
 */
export function backup(folder: string, options: BackupOptions): Promise<void> {
  const target = path.resolve(folder)
  return report(
    options,
    async (config) => {
      if (await exists(target)) throw new Error(`${target} exists already: name a folder that does not`)
      refuseWithin(config.dataDir, target)
      await demandParent(target)
      const withKey = options.encryptionKey !== false
      const url = options.url ?? (await demandOwn(config))
      if (url === undefined) return { folder: target, ...(await copyOfStopped(config, target, withKey)) }
      return { ...(await copyOfRunning(url, config, target, withKey, options.key)), folder: target }
    },
    ({ folder, has_key, bytes }) =>
      [
        `${folder} contains a backup of ${Math.ceil(bytes / 2 ** 20)} MB.`,
        has_key
          ? 'It contains the folder secrets: protect it like the data folder.'
          : 'It does not contain the folder secrets: keep a copy of that elsewhere.',
      ].join(' '),
  )
}

/** Of the data folder, only its `backups` is for copies: what else lies in it is copied with it, or is the store. */
function refuseWithin(dataDir: string, target: string): void {
  const within = path.relative(dataDir, target)
  const [first, ...more] = within.split(path.sep)
  if (first === '..' || path.isAbsolute(within) || (first === 'backups' && more.length > 0)) return
  throw new Error(
    `${target} is in the data folder, where later backups would contain it: name a folder outside, or in ${path.join(dataDir, 'backups')}`,
  )
}

/** Sees to it that the copy can be put there, before it is made: it has secrets, and so no others see what is made for it. */
async function demandParent(target: string): Promise<void> {
  const parent = path.dirname(target)
  await mkdir(parent, { recursive: true, mode: 0o700 })
  await access(parent, constants.W_OK)
}

async function copyOfStopped({ dataDir }: Config, target: string, withKey: boolean): Promise<BackupNote> {
  const store = path.join(dataDir, 'db')
  if (!(await exists(store)))
    throw new Error(`there is no store in ${dataDir}, so there is nothing to back up`)
  const engine = await openLevel(store)
  try {
    const copyStore = (at: string): Promise<void> => engine.copyTo(at)
    return await makeBackup(target, { dataDir, copyStore, version: packageVersion(), withKey })
  } finally {
    await engine.close()
  }
}

/** The gateway makes it in its data folder, from where it is moved; it does not stay there when that fails. */
async function copyOfRunning(
  url: string,
  { dataDir, adminKey }: Config,
  target: string,
  withKey: boolean,
  key = adminKey,
): Promise<BackupNote> {
  const note = (await askRunning(url, key, 'POST', '/api/backups', { key: withKey })) as BackupNote
  const { folder } = made.parse(note)
  if (path.relative(dataDir, folder).startsWith('..') || !(await exists(folder)))
    throw new Error(
      `the gateway on ${url} has another data folder than ${dataDir}; its backup is in ${folder}`,
    )
  try {
    await move(folder, target)
  } catch (error) {
    await rm(folder, { recursive: true, force: true }).catch(() => {
      throw new Error(`${explain(error)}; the backup is still in ${folder}`)
    })
    throw error
  }
  return note
}

/** Also to another disk. */
async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
    await copy(from, to)
    await rm(from, { recursive: true })
  }
}

/** Leaves nothing of a copy that is not whole. */
async function copy(from: string, to: string): Promise<void> {
  try {
    await cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  } catch (error) {
    await rm(to, { recursive: true, force: true })
    throw error
  }
}
