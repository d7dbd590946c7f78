import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { copyDataFiles, sizeOf } from './data-files.ts'

/** The description of a backup, in its `backup.json`. */
export const backupNote = z.object({
  created_at: z.string().meta({ description: 'Start of the backup, in ISO 8601.' }),
  version: z.string().meta({ description: 'Version of the gateway that made it.' }),
  has_key: z.boolean().meta({ description: 'Whether it contains the files of the encryption key.' }),
  bytes: z.int().meta({ description: 'Size of its files in bytes.' }),
})

export type BackupNote = z.infer<typeof backupNote>

interface BackupOptions {
  readonly dataDir: string
  /** Writes the store, as it is at one moment, into a folder. */
  readonly copyStore: (folder: string) => Promise<void>
  readonly version: string
  /** Whether the folder of the encryption key is copied as well. */
  readonly withKey: boolean
}

const noteIn = (folder: string): string => path.join(folder, 'backup.json')

/** A data folder of its own, made from another one: whole when it is there under its name. */
export async function makeBackup(folder: string, options: BackupOptions): Promise<BackupNote> {
  const { dataDir, copyStore, version, withKey } = options
  const created_at = new Date().toISOString()
  const unfinished = path.join(path.dirname(folder), `.${path.basename(folder)}.unfinished`)
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true, mode: 0o700 })
  try {
    await copyStore(path.join(unfinished, 'db'))
    await copyDataFiles(dataDir, unfinished, withKey)
    const note = { created_at, version, has_key: withKey, bytes: await sizeOf(unfinished) }
    await writeFile(noteIn(unfinished), `${JSON.stringify(note, null, 2)}\n`, { mode: 0o600 })
    await rename(unfinished, folder)
    return note
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true })
    throw error
  }
}

/** The description of a backup; undefined where there is none. */
export async function readBackup(folder: string): Promise<BackupNote | undefined> {
  try {
    return backupNote.parse(JSON.parse(await readFile(noteIn(folder), 'utf8')))
  } catch {
    return undefined
  }
}
