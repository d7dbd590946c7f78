import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, readlink } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { conflict } from '../../kit/errors.ts'
import { explain } from '../../kit/explain.ts'
import { manifestSchema } from './manifest-schema.ts'
import type { PluginFolder } from './plugin-folder.ts'

const version = z.object({
  package: z.string(),
  /** The source that the command named: a name with a range, an archive or a folder. */
  spec: z.string(),
  version: z.string(),
  /** Of the package's archive, as npm computes it. */
  integrity: z.string(),
  /** Hash of everything that was unpacked: the plugin's files and those of all packages that it depends on. */
  content: z.string(),
  /** Where everything was unpacked, and below that the plugin itself, from the folder of packages. */
  root: z.string(),
  folder: z.string(),
  /** The plugin's manifest, for when its files can no longer be trusted. */
  manifest: z.looseObject({ permissions: z.array(z.string()) }),
  installed_at: z.string(),
})

/** The part of the record that a gateway uses: the installed plugins, by their ids. */
export const installedRecord = z.object({
  format: z.literal(1),
  plugins: z.record(z.string(), z.object({ current: version, previous: version.optional() })),
})

export type InstalledVersion = z.infer<typeof version>

/** The folder of everything that was installed by command. */
export const packagesFolder = (dataDir: string): string => path.join(dataDir, 'packages')

export const recordFile = (dataDir: string): string => path.join(packagesFolder(dataDir), 'installed.json')

/** The record of what is installed, undefined when there is none. Throws a conflict when it cannot be read. */
export async function readRecord<T>(dataDir: string, schema: z.ZodType<T>): Promise<T | undefined> {
  const file = recordFile(dataDir)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  try {
    return text === undefined ? undefined : schema.parse(JSON.parse(text))
  } catch (error) {
    throw conflict(
      `${file}, the record of installed plugins, is damaged: ${explain(error)}. Put it right, or remove it and add them again.`,
      { cause: error },
    )
  }
}

/** Whether everything that was unpacked for a version is there and as it was. */
export async function isIntact({ root, content }: InstalledVersion, dataDir: string): Promise<boolean> {
  return (await hashTree(path.join(packagesFolder(dataDir), root)).catch(() => undefined)) === content
}

/** Where the installed plugins are; those whose files have changed since with that as their problem. */
export async function installedPackages(dataDir: string): Promise<PluginFolder[]> {
  const installed = Object.entries((await readRecord(dataDir, installedRecord))?.plugins ?? {})
  return Promise.all(
    installed.map(async ([id, { current }]): Promise<PluginFolder> => {
      const folder = path.join(packagesFolder(dataDir), current.folder)
      const place = { id, folder, source: 'package', installed: true } as const
      if (await isIntact(current, dataDir)) return place
      const problem =
        'its files, or those of packages it depends on, have changed since they were installed; ' +
        `"switchyard plugin update ${id}" installs them again`
      return { ...place, problem, manifest: manifestSchema.safeParse(current.manifest).data }
    }),
  )
}

/**
 * SHA-256, in hex, of everything below a folder: the path and the content of each file, and the target of each link. Links are
 * not followed. Throws when there is anything else.
 */
export async function hashTree(folder: string): Promise<string> {
  const hash = createHash('sha256')
  const visit = async (below: string): Promise<void> => {
    const entries = await readdir(path.join(folder, below), { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const at = path.posix.join(below, entry.name)
      if (entry.isDirectory()) await visit(at)
      else hash.update(JSON.stringify([at, ...(await contentOf(path.join(folder, at), entry))]))
    }
  }
  await visit('')
  return hash.digest('hex')
}

async function contentOf(
  file: string,
  entry: { isFile(): boolean; isSymbolicLink(): boolean },
): Promise<readonly [kind: string, content: string]> {
  if (entry.isSymbolicLink()) return ['link', await readlink(file)]
  if (!entry.isFile()) throw new Error(`${file} is neither a file nor a link`)
  const hash = createHash('sha256')
  for await (const part of createReadStream(file)) hash.update(part)
  return ['file', hash.digest('hex')]
}
