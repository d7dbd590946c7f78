import { stat } from 'node:fs/promises'
import path from 'node:path'
import { idPattern } from '../manifest.ts'
import { readManifest } from '../manifest-file.ts'
import type { Place } from '../place.ts'

/** What npm allows as a name; nothing that could lead out of a `node_modules`. */
export const namePattern = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

/** A package named in the configuration: in the `node_modules` of the base folder, or of the nearest one above it. */
export async function findPackage(name: string, base: string): Promise<Place> {
  const missing = { id: name, folder: path.join(base, 'node_modules'), source: 'package' as const }
  if (!namePattern.test(name)) return { ...missing, problem: `"${name}" is not the name of a package` }
  for (let at = base; ; at = path.dirname(at)) {
    const folder = path.join(at, 'node_modules', name)
    if (await isFolder(folder)) return { id: await idOf(folder, name), folder, source: 'package' }
    if (at === path.dirname(at)) break
  }
  const problem = `there is no package ${name} in the node_modules of ${base} or above it; npm install it there`
  return { ...missing, problem }
}

/** The id that a package gives its plugin, or else the package's name. */
export async function idOf(folder: string, name: string): Promise<string> {
  const manifest = await readManifest(folder).catch(() => undefined)
  const id = typeof manifest === 'object' && manifest !== null && 'id' in manifest ? manifest.id : undefined
  return typeof id === 'string' && idPattern.test(id) ? id : name
}

const isFolder = (folder: string): Promise<boolean> =>
  stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
