import { readdir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { type Discovered, explain, read, type Source } from './manifest.ts'
import type { Stage } from './staging/stage.ts'

/** Where a plugin from outside should be, and under which id. */
export interface Place {
  readonly id: string
  readonly folder: string
  readonly source: Exclude<Source, 'builtin'>
  /** Why it cannot be taken from there, when that is known already. */
  readonly problem?: string
  /** Hash that its content must have. */
  readonly content?: string
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
  const { id, folder, source, content } = place
  try {
    if (place.problem !== undefined) throw new Error(place.problem)
    const real = await realpath(folder)
    const staged = await stage?.take(id, real, again)
    if (content !== undefined && staged && staged.content !== content)
      throw new Error('its files are not those that were installed; install it again')
    return { ...(await read(staged?.root ?? real, source, id)), folder, staged }
  } catch (error) {
    return { id, folder, source, manifest: undefined, problem: explain(error), entry: undefined }
  }
}
