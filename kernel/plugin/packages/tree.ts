import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import path from 'node:path'

/**
 * SHA-256, in hex, of everything below a folder: the path of each file, what is in it, and where each link leads. Links
 * are not followed. Throws when there is anything else.
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
