import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'

/** Everything of a plugin's folder that its code can depend on, as it was at one moment. */
export interface Content {
  /** By path below the folder, with forward slashes, sorted. */
  readonly files: ReadonlyMap<string, Buffer>
  /** Stands for what is installed in its own `node_modules`; undefined without one. */
  readonly dependencies: string | undefined
  /** SHA-256 of all of that, in hex: the same for the same content, wherever it lies. */
  readonly hash: string
}

const maxFiles = 5_000
const maxBytes = 64 * 2 ** 20

/**
 * Reads a plugin's folder, its `node_modules` and what begins with a dot left out. Throws a readable error for links,
 * which could lead out of the folder, for what is no file, and for more than 5,000 files or 64 MB.
 */
export async function readContent(folder: string): Promise<Content> {
  const files = new Map<string, Buffer>()
  let bytes = 0
  const visit = async (below: string): Promise<void> => {
    const entries = await readdir(path.join(folder, below), { withFileTypes: true })
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const at = path.posix.join(below, entry.name)
      if (entry.isDirectory()) await visit(at)
      else if (!entry.isFile()) throw new Error(`${at} is a link or a device; only plain files are allowed`)
      else {
        const content = await readFile(path.join(folder, at))
        bytes += content.length
        files.set(at, content)
      }
      if (files.size > maxFiles || bytes > maxBytes)
        throw new Error(`the folder has more than ${maxFiles} files or ${maxBytes / 2 ** 20} MB`)
    }
  }
  await visit('')
  const dependencies = await hashDependencies(path.join(folder, 'node_modules'))
  return { files, dependencies, hash: hashOf(files, dependencies) }
}

function hashOf(files: ReadonlyMap<string, Buffer>, dependencies: string | undefined): string {
  const hash = createHash('sha256').update(dependencies ?? '')
  for (const [name, content] of files) hash.update(`\0${name}\0${content.length}\0`).update(content)
  return hash.digest('hex')
}

/** Of what npm says it has installed, or else of every package's own description. */
async function hashDependencies(folder: string): Promise<string | undefined> {
  const lock = await readFile(path.join(folder, '.package-lock.json')).catch(() => undefined)
  if (lock) return createHash('sha256').update(lock).digest('hex')
  const names = await packagesIn(folder)
  if (names.length === 0) return undefined
  const hash = createHash('sha256')
  for (const name of names) {
    const description = await readFile(path.join(folder, name, 'package.json')).catch(() => '')
    hash.update(`\0${name}\0`).update(description)
  }
  return hash.digest('hex')
}

async function packagesIn(folder: string): Promise<string[]> {
  const list = (at: string): Promise<string[]> => readdir(at).catch(() => [])
  const top = (await list(folder)).filter((name) => !name.startsWith('.'))
  const nested = top.map(async (name) =>
    name.startsWith('@') ? (await list(path.join(folder, name))).map((inner) => `${name}/${inner}`) : [name],
  )
  return (await Promise.all(nested)).flat().sort()
}
