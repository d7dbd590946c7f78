import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { Level } from 'level'
import { decompress } from '../storage/level/compression.ts'

/**
 * Where a text is in the data folder of a gateway that has ended: the files that hold its bytes, in frames of zstd or in Base64
 * as well, deleted rows included, and the parts of the store whose keys or values hold it once they are inflated.
 */
export async function placesOf(dataDir: string, text: string): Promise<string[]> {
  const places = new Set<string>()
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    if (entry.isFile() && holds(await readFile(file), text)) places.add(path.relative(dataDir, file))
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

const frameStart = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

function holds(bytes: Buffer, text: string): boolean {
  const forms = [text, ...base64Of(text)]
  const isIn = (where: Buffer): boolean => forms.some((form) => where.includes(form))
  if (isIn(bytes)) return true
  for (let at = bytes.indexOf(frameStart); at !== -1; at = bytes.indexOf(frameStart, at + 1))
    if (isIn(inflated(bytes.subarray(at)))) return true
  return false
}

/** The frame that the bytes begin with; nothing of one that goes on elsewhere. */
function inflated(bytes: Buffer): Buffer {
  try {
    return zstdDecompressSync(bytes)
  } catch {
    return Buffer.alloc(0)
  }
}

/** What Base64 makes of a text in the midst of others: one form for each place that it can begin at in three bytes. */
function base64Of(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const all = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
    return all.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((all.length * 8) / 6))
  })
}

/** The bytes of a part of a body as text. */
function decoded(key: string, content: string): string {
  if (!key.includes('/bodies/')) return ''
  return [...content.matchAll(/"([A-Za-z0-9+/]{4,}={0,2})"/g)]
    .map(([, base64]) => Buffer.from(base64!, 'base64').toString())
    .join('\n')
}
