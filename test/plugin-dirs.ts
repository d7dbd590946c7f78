import { cp, mkdir, readFile, realpath, stat, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * Copies plugins into folders below `root`, as an operator drops them in: each under the id in its manifest, with the
 * packages within its reach where it lies. Returns the folders, for `plugin_dirs`.
 */
export function dropIn(plugins: readonly string[], root: string): Promise<string[]> {
  return Promise.all(
    plugins.map(async (plugin, n) => {
      const folder = path.resolve(plugin)
      const dir = await reachingPackages(folder, path.join(root, `plugins-${n}`))
      await cp(folder, path.join(dir, await idOf(folder)), {
        recursive: true,
        verbatimSymlinks: true,
        filter: (file) =>
          !/^(\.|node_modules$)/.test(path.relative(folder, file).split(path.sep).at(-1) ?? ''),
      })
      return dir
    }),
  )
}

/** The same for one folder, which is linked and not copied: what is saved in it is there at the next look. */
export async function linkIn(plugin: string, root: string): Promise<{ id: string; dir: string }> {
  const folder = path.resolve(plugin)
  const [id, dir] = [await idOf(folder), await reachingPackages(folder, root)]
  await symlink(folder, path.join(dir, id), 'dir')
  return { id, dir }
}

/** Why a plugin's folder cannot be tried in the temporary folder: that is this one or lies in it. Undefined where it can. */
export async function selfCopied(folder: string): Promise<string | undefined> {
  const [own, temporary] = await Promise.all([realpath(folder), realpath(tmpdir())])
  return `${temporary}${path.sep}`.startsWith(`${own}${path.sep}`)
    ? `it holds the temporary folder ${temporary}, where it would be copied to: set TMPDIR to one outside of it`
    : undefined
}

/** Makes a folder whose content has the packages within reach that a plugin has where it lies. */
async function reachingPackages(folder: string, root: string): Promise<string> {
  let dir = root
  await mkdir(dir)
  for (const packages of await packagesAround(folder)) {
    dir = path.join(dir, 'in')
    await mkdir(dir)
    await symlink(packages, path.join(dir, 'node_modules'), 'dir')
  }
  return dir
}

/** Every `node_modules` that code in this folder can import from, the outermost first. */
async function packagesAround(folder: string): Promise<string[]> {
  const above = path.dirname(folder)
  const outer = above === folder ? [] : await packagesAround(above)
  const own = path.join(folder, 'node_modules')
  return (await stat(own).catch(() => undefined))?.isDirectory() ? [...outer, own] : outer
}

/** As the manifest has it; the folder's name when it says none, for the gateway to tell what is wrong. */
export async function idOf(folder: string): Promise<string> {
  const json = async (name: string): Promise<Record<string, unknown>> =>
    JSON.parse(await readFile(path.join(folder, name), 'utf8').catch(() => '{}'))
  try {
    const { id } = {
      ...((await json('package.json')).switchyard as object),
      ...(await json('manifest.json')),
    } as {
      id?: unknown
    }
    if (typeof id === 'string' && /^[\w-]+$/.test(id)) return id
  } catch {
    // Not JSON: said where the gateway reads it.
  }
  return path.basename(folder)
}
