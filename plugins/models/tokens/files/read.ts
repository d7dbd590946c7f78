import { readFile, stat } from 'node:fs/promises'
import { TokenizerFileError } from './file.ts'

/** Reads a file of at most so many bytes; undefined when there is none. Throws a TokenizerFileError for what cannot be read. */
export async function readBounded(file: string, mostBytes: number): Promise<string | undefined> {
  try {
    const found = await stat(file)
    if (!found.isFile()) throw new TokenizerFileError(file, 'it is not a file')
    if (found.size > mostBytes) {
      throw new TokenizerFileError(file, `it is larger than ${Math.floor(mostBytes / 2 ** 20)} MB`)
    }
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code === 'EACCES') throw new TokenizerFileError(file, 'this user may not read it')
    throw error
  }
}

/** The same for JSON; throws a TokenizerFileError also where the file holds something else. */
export async function readJson(file: string, mostBytes: number): Promise<unknown> {
  const json = await readBounded(file, mostBytes)
  try {
    return json === undefined ? undefined : JSON.parse(json)
  } catch {
    throw new TokenizerFileError(file, 'it is not JSON')
  }
}

/** Returns content that is required; throws when its file does not exist. */
export function present<T>(found: T | undefined, file: string): T {
  if (found === undefined) throw new TokenizerFileError(file, 'the file does not exist')
  return found
}
