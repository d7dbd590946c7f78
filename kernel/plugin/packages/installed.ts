import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { conflict } from '../../errors.ts'
import { explain, manifestSchema } from '../manifest.ts'
import type { Place } from '../place.ts'
import { hashTree } from './tree.ts'

const version = z.object({
  package: z.string(),
  /** What was asked for: a name with a range, an archive or a folder. */
  spec: z.string(),
  version: z.string(),
  /** Of the package's archive, as npm computes it. */
  integrity: z.string(),
  /** Hash of everything that was unpacked: the plugin's files and those of all packages that it depends on. */
  content: z.string(),
  /** Where everything was unpacked, and below that the plugin itself, from the folder of packages. */
  root: z.string(),
  folder: z.string(),
  /** What the plugin said of itself, for when its files can no longer be trusted. */
  manifest: z.looseObject({ permissions: z.array(z.string()) }),
  installed_at: z.string(),
})

const record = z.object({ current: version, previous: version.optional() })

/** What becomes of what a plugin leaves that is not installed any more. */
const removal = z.object({
  settings: z.enum(['kept', 'forgotten']),
  stored: z.enum(['kept', 'erased']).default('kept'),
})

const lock = z.object({
  format: z.literal(1),
  plugins: z.record(z.string(), record),
  leaving: z.record(z.string(), removal).default({}),
})

export type InstalledVersion = z.infer<typeof version>
/** A package that was installed as a plugin, and the version it had before. */
export type InstalledPackage = z.infer<typeof record>
export type Removal = z.infer<typeof removal>
/** By the plugin's id. */
export type Installed = Readonly<Record<string, InstalledPackage>>

/** What is installed, and the removals that have begun and not ended, both by the plugin's id. */
export interface InstallRecord {
  readonly plugins: Installed
  readonly leaving: Readonly<Record<string, Removal>>
}

/** The folder of everything that was installed by command. */
export const packagesFolder = (dataDir: string): string => path.join(dataDir, 'packages')

const recordFile = (dataDir: string): string => path.join(packagesFolder(dataDir), 'installed.json')

/** What is installed. Throws a conflict when the record of it cannot be read. */
export async function readInstalled(dataDir: string): Promise<Installed> {
  return (await readRecord(dataDir)).plugins
}

/** The same with the removals that have not ended. */
export async function readRecord(dataDir: string): Promise<InstallRecord> {
  const file = recordFile(dataDir)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return { plugins: {}, leaving: {} }
  try {
    return lock.parse(JSON.parse(text))
  } catch (error) {
    throw conflict(
      `${file}, the record of installed plugins, is damaged: ${explain(error)}. Put it right, or remove it and add them again.`,
      { cause: error },
    )
  }
}

/** Replaces the record of what is installed: a crash leaves the one before or this one. */
export async function writeRecord(dataDir: string, { plugins, leaving }: InstallRecord): Promise<void> {
  const file = recordFile(dataDir)
  await mkdir(path.dirname(file), { recursive: true })
  const content = { format: 1, plugins, ...(Object.keys(leaving).length > 0 && { leaving }) }
  await writeFile(`${file}.tmp`, `${JSON.stringify(content, null, 2)}\n`, { flush: true })
  await rename(`${file}.tmp`, file)
}

/** Whether everything that was unpacked for a version is there and as it was. */
export async function isIntact({ root, content }: InstalledVersion, dataDir: string): Promise<boolean> {
  return (await hashTree(path.join(packagesFolder(dataDir), root)).catch(() => undefined)) === content
}

/** Where the installed plugins are; those whose files have changed since with that as their problem. */
export async function installedPackages(dataDir: string): Promise<Place[]> {
  const installed = Object.entries(await readInstalled(dataDir))
  return Promise.all(
    installed.map(async ([id, { current }]): Promise<Place> => {
      const folder = path.join(packagesFolder(dataDir), current.folder)
      const place = { id, folder, source: 'package', installed: true } as const
      if (await isIntact(current, dataDir)) return place
      const problem =
        'its files, or those of packages it depends on, are not those that were installed; ' +
        `"switchyard plugin update ${id}" installs them again`
      return { ...place, problem, manifest: manifestSchema.safeParse(current.manifest).data }
    }),
  )
}
