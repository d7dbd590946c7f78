import { mkdir, rename, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { z } from 'zod'
import { installedRecord, readRecord as readAs, recordFile } from '../../../gateway/discovery/installed.ts'

/** The fate of the settings and data that a removed plugin leaves. */
const removal = z.object({
  settings: z.enum(['kept', 'forgotten']),
  stored: z.enum(['kept', 'erased']).default('kept'),
})

const record = installedRecord.extend({ leaving: z.record(z.string(), removal).default({}) })

export type Removal = z.infer<typeof removal>
/** By the plugin's id. */
export type Installed = Readonly<z.infer<typeof record>['plugins']>
/** A package that was installed as a plugin, and the version it had before. */
export type InstalledPackage = Installed[string]

/** The installed plugins, and the removals that have begun and not ended, both by the plugin's id. */
export interface InstallRecord {
  readonly plugins: Installed
  readonly leaving: Readonly<Record<string, Removal>>
}

/** The installed plugins. Throws a conflict when the record of them cannot be read. */
export async function readInstalled(dataDir: string): Promise<Installed> {
  return (await readRecord(dataDir)).plugins
}

/** The same with the removals that have not ended. */
export async function readRecord(dataDir: string): Promise<InstallRecord> {
  return (await readAs(dataDir, record)) ?? { plugins: {}, leaving: {} }
}

/** Replaces the record of what is installed: a crash leaves the one before or this one. */
export async function writeRecord(dataDir: string, { plugins, leaving }: InstallRecord): Promise<void> {
  const file = recordFile(dataDir)
  await mkdir(path.dirname(file), { recursive: true })
  const content = { format: 1, plugins, ...(Object.keys(leaving).length > 0 && { leaving }) }
  await writeFile(`${file}.tmp`, `${JSON.stringify(content, null, 2)}\n`, { flush: true })
  await rename(`${file}.tmp`, file)
}
