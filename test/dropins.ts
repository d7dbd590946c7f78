import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { moduleCode, writePlugin } from './plugin-folder.ts'

/** A module of a test: the body of its `setup(ctx)`, and what its manifest says besides the usual. */
export interface Dropin {
  readonly setup: string
  readonly manifest?: Readonly<Record<string, unknown>>
}

/** A folder of modules that are switched on and may do what they like with texts, for `plugin_dirs`. */
export async function writeDropins(
  plugins: Readonly<Record<string, Dropin>>,
): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-plugins-'))
  for (const [id, plugin] of Object.entries(plugins)) await writeDropin(folder, id, plugin)
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Writes one of them into such a folder; returns where it is. */
export function writeDropin(folder: string, id: string, { setup, manifest }: Dropin): Promise<string> {
  const files = { 'index.js': moduleCode(setup) }
  return writePlugin(folder, id, { manifest: { permissions: ['body:write'], ...manifest }, files })
}
