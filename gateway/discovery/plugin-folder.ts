import { readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { type Discovered, idPattern, type Manifest, type Source } from '../../kernel/discovery/manifest.ts'
import { explain } from '../../kit/explain.ts'
import type { Stage } from '../../staging/stage.ts'
import { readManifest } from './manifest-file.ts'
import { read } from './read.ts'

/** Where a plugin from outside should be, and under which id. */
export interface PluginFolder {
  readonly id: string
  readonly folder: string
  readonly source: Exclude<Source, 'builtin'>
  /** Why it cannot be taken from there, when that is known already. */
  readonly problem?: string
  /** Whether a command installed it: then it is on unless its settings say otherwise. */
  readonly installed?: true
  /** Its manifest before it had its problem. */
  readonly manifest?: Manifest | undefined
}

/** Every folder below a root, and every link to one: an operator may keep the folder itself elsewhere. */
export async function foldersIn(root: string): Promise<PluginFolder[]> {
  const names = (await readdir(root).catch(() => [])).filter((name) => !/^[._]|^node_modules$/.test(name))
  const folders = names.toSorted().map(async (id): Promise<PluginFolder[]> => {
    const folder = path.join(root, id)
    const found = await stat(folder).catch(() => undefined)
    if (!found) return [{ id, folder, source: 'local', problem: 'it is a link that leads nowhere' }]
    return found.isDirectory() ? [{ id, folder, source: 'local' }] : []
  })
  return (await Promise.all(folders)).flat()
}

/** Reads the plugin at a place, from a copy when there is a stage; a problem is reported in its place. */
export async function readFolder(place: PluginFolder, stage?: Stage, again = false): Promise<Discovered> {
  const { id, folder, source, problem, manifest, installed } = place
  const found = { id, folder, source, installed }
  if (problem !== undefined) return { ...found, manifest, problem, entry: undefined }
  try {
    const real = await realpath(folder)
    const staged = await stage?.take(id, real, again)
    return { ...(await read(staged?.root ?? real, source, id)), ...found, staged }
  } catch (error) {
    return { ...found, manifest: undefined, problem: explain(error), entry: undefined }
  }
}

/** The form of names that npm allows; none could lead out of a `node_modules`. */
export const namePattern = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/

/** A package named in the configuration: in the `node_modules` of the base folder, or of the nearest one above it. */
export async function findPackage(name: string, base: string): Promise<PluginFolder> {
  const missing = { id: name, folder: path.join(base, 'node_modules'), source: 'package' as const }
  if (!namePattern.test(name)) return { ...missing, problem: `"${name}" is not the name of a package` }
  for (let at = base; ; at = path.dirname(at)) {
    const folder = path.join(at, 'node_modules', name)
    if (await isFolder(folder)) return { id: await idOf(folder, name), folder, source: 'package' }
    if (at === path.dirname(at)) break
  }
  const problem = `the package ${name} is not in the node_modules of ${base} or above it; install it there with npm`
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
