import { copyFile, link, mkdir, readdir, realpath, symlink } from 'node:fs/promises'
import path from 'node:path'

/**
 * A second tree of the same files, by hard links, so that even big ones cost next to nothing; where the file system
 * cannot link they are copied. Links inside point to where the originals lead.
 */
export async function linkTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true })
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = path.join(from, entry.name)
    const target = path.join(to, entry.name)
    if (entry.isDirectory()) await linkTree(source, target)
    else if (entry.isSymbolicLink()) await linkAlias(source, target)
    else if (entry.isFile()) await link(source, target).catch(() => copyFile(source, target))
  }
}

/** A link that leads nowhere is left out: nobody can be using it. */
async function linkAlias(source: string, target: string): Promise<void> {
  const real = await realpath(source).catch(() => undefined)
  if (real !== undefined) await symlink(real, target)
}
