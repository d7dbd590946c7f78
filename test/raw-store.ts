import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { Level } from 'level'
import { decompress } from '../storage/level/compression.ts'

/**
 * Where a text is in the data folder of a gateway that has ended: the files that hold its bytes, and the parts of the store
 * whose keys or values hold it once they are inflated, bodies in Base64 included.
 */
export async function placesOf(dataDir: string, text: string): Promise<string[]> {
  const places = new Set<string>()
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (entry.isFile() && (await readFile(file)).includes(text)) places.add(path.relative(dataDir, file))
  }
  const database = new Level<string, Uint8Array>(path.join(dataDir, 'db'), { valueEncoding: 'view' })
  for await (const [key, value] of database.iterator()) {
    const content = decompress(value) ?? ''
    if (key.includes(text) || content.includes(text) || decoded(key, content).includes(text))
      places.add(key.slice(2, key.indexOf('!')))
  }
  await database.close()
  return [...places].sort()
}

/** The bytes of a part of a body as text. */
function decoded(key: string, content: string): string {
  if (!key.includes('/bodies/')) return ''
  return [...content.matchAll(/"([A-Za-z0-9+/]{4,}={0,2})"/g)]
    .map(([, base64]) => Buffer.from(base64!, 'base64').toString())
    .join('\n')
}
