import { readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { type Discovered, explain, type Manifest, read, type Source } from './manifest.ts'
import type { Stage } from './staging/stage.ts'

/** Where a plugin from outside should be, and under which id. */
export interface Place {
  readonly id: string
  readonly folder: string
  readonly source: Exclude<Source, 'builtin'>
  /** Why it cannot be taken from there, when that is known already. */
  readonly problem?: string
  /** Whether it was installed by command: then it is on unless somebody says otherwise. */
  readonly installed?: true
  /** What it said of itself before it had its problem. */
  readonly manifest?: Manifest | undefined
}

/** Every folder below a root, and every link to one: an operator may keep the folder itself elsewhere. */
export async function foldersIn(root: string): Promise<Place[]> {
  const names = (await readdir(root).catch(() => [])).filter((name) => !/^[._]|^node_modules$/.test(name))
  const folders = names.toSorted().map(async (id): Promise<Place[]> => {
    const folder = path.join(root, id)
    const found = await stat(folder).catch(() => undefined)
    if (!found) return [{ id, folder, source: 'local', problem: 'it is a link that leads nowhere' }]
    return found.isDirectory() ? [{ id, folder, source: 'local' }] : []
  })
  return (await Promise.all(folders)).flat()
}

/** Reads the plugin at a place, from a copy when there is a stage; what is wrong with it is reported in its place. */
export async function readPlace(place: Place, stage?: Stage, again = false): Promise<Discovered> {
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
