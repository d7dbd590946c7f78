import { hash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileOf, type Recording, recordingIn, saysTheSame } from './recording.ts'

/** Bytes of one recording. */
const largest = 4 * 1024 * 1024
const ending = '.json'

/** The reason why a recording was not kept; undefined where it was. */
export type Kept = 'full' | 'too_large' | undefined

/** The recordings of one folder, a file each. Its files are read with every use, so an edit holds from the next call on. */
export class Cassette {
  readonly #folder: string
  readonly #most: number
  #turn: Promise<unknown> = Promise.resolve()

  /** `most`: how many it takes. */
  constructor(folder: string, most = Number.POSITIVE_INFINITY) {
    this.#folder = folder
    this.#most = most
  }

  /** The file of a question, by the model that it asks and its key. */
  static nameOf(model: string, key: string): string {
    const readable = model
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .slice(0, 40)
      .replace(/^-|-$/g, '')
    return `${readable}-${hash('sha256', key).slice(0, 16)}${ending}`
  }

  /** Undefined where there is no such file. Throws for a file that is no recording. */
  async find(name: string): Promise<Recording | undefined> {
    const file = await this.#read(name)
    return file === undefined ? undefined : recordingIn(file)
  }

  /** Writes a recording, in the place of an earlier one that says something else. One at a time, so that the count holds. */
  keep(name: string, recording: Recording): Promise<Kept> {
    const kept = this.#turn.then(() => this.#keep(name, recording))
    this.#turn = kept.catch(() => {})
    return kept
  }

  delete(name: string): Promise<void> {
    return rm(path.join(this.#folder, name), { force: true })
  }

  /** The files, in one order. */
  async names(): Promise<string[]> {
    const all = await readdir(this.#folder).catch(orNone)
    return (all ?? []).filter((name) => name.endsWith(ending)).sort()
  }

  async #keep(name: string, recording: Recording): Promise<Kept> {
    const file = fileOf(recording)
    if (Buffer.byteLength(file) > largest) return 'too_large'
    const earlier = await this.#read(name)
    if (earlier === undefined && (await this.names()).length >= this.#most) return 'full'
    if (earlier !== undefined && isSame(earlier, recording)) return undefined
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    // Nobody reads half a file, and two calls that write the same one do not mix.
    const next = path.join(this.#folder, `${name}.${randomUUID()}`)
    try {
      await writeFile(next, file, { mode: 0o600 })
      await rename(next, path.join(this.#folder, name))
    } catch (error) {
      await rm(next, { force: true })
      throw error
    }
    return undefined
  }

  #read(name: string): Promise<string | undefined> {
    return readFile(path.join(this.#folder, name), 'utf8').catch(orNone)
  }
}

function isSame(file: string, recording: Recording): boolean {
  try {
    return saysTheSame(recordingIn(file), recording)
  } catch {
    return false
  }
}

function orNone(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}
