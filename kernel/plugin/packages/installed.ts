import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { explain } from '../manifest.ts'
import type { Place } from '../place.ts'

const version = z.object({
  version: z.string(),
  /** Of the package's archive, as npm computes it. */
  integrity: z.string(),
  /** Hash of the plugin's files as they were installed. */
  content: z.string(),
  /** Where the plugin is, from the folder of packages. */
  folder: z.string(),
  permissions: z.array(z.string()),
  installed_at: z.string(),
})

const record = z.object({
  package: z.string(),
  /** What was asked for: a name with a range, an archive or a folder. */
  spec: z.string(),
  current: version,
  previous: version.optional(),
})

const lock = z.object({ format: z.literal(1), plugins: z.record(z.string(), record) })

export type InstalledVersion = z.infer<typeof version>
/** A package that was installed as a plugin, and the version it had before. */
export type InstalledPackage = z.infer<typeof record>
/** By the plugin's id. */
export type Installed = Readonly<Record<string, InstalledPackage>>

/** The folder of everything that was installed by command. */
export const packagesFolder = (dataDir: string): string => path.join(dataDir, 'packages')

const lockFile = (dataDir: string): string => path.join(packagesFolder(dataDir), 'installed.json')

/** What is installed. Throws when the record of it cannot be read. */
export async function readInstalled(dataDir: string): Promise<Installed> {
  const text = await readFile(lockFile(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return {}
  try {
    return lock.parse(JSON.parse(text)).plugins
  } catch (error) {
    throw new Error(`${lockFile(dataDir)} is damaged: ${explain(error)}`, { cause: error })
  }
}

/** Replaces the record of what is installed, in one step. */
export async function writeInstalled(dataDir: string, plugins: Installed): Promise<void> {
  const file = lockFile(dataDir)
  await mkdir(path.dirname(file), { recursive: true })
  await writeFile(`${file}.tmp`, `${JSON.stringify({ format: 1, plugins }, null, 2)}\n`)
  await rename(`${file}.tmp`, file)
}

/** Where the installed plugins are, and what they must consist of. */
export async function installedPackages(dataDir: string): Promise<Place[]> {
  return Object.entries(await readInstalled(dataDir)).map(([id, { current }]) => ({
    id,
    folder: path.join(packagesFolder(dataDir), current.folder),
    source: 'package',
    content: current.content,
  }))
}
