import { createReadStream } from 'node:fs'
import { appendFile, open, rename, rm, stat, truncate } from 'node:fs/promises'
import path from 'node:path'
import { createInterface } from 'node:readline'
import type { Mark, Sink } from './sink.ts'

interface Rotation {
  readonly folder: string
  /** Of the files, without their ending. */
  readonly name: string
  readonly maxBytes: number
  /** Full files beside the present one. */
  readonly keep: number
}

/**
 * Appends lines to a file and begins a new one when it is full: `calls.jsonl`, `calls.1.jsonl` and so on, the oldest last.
 * What a killed process wrote behind the last mark is cut off, so that no line is there twice and none in part.
 */
export class FileSink implements Sink {
  readonly #rotation: Rotation
  #mark: Mark | undefined

  constructor(rotation: Rotation) {
    this.#rotation = rotation
  }

  get mark(): Mark | undefined {
    return this.#mark
  }

  async open(mark: Mark | undefined): Promise<void> {
    const found = await statOf(this.#at(0))
    this.#mark = mark ?? { inode: found?.ino ?? 0, bytes: found?.size ?? 0 }
    // Nothing of a file that was begun behind the mark was accounted for.
    const length = this.#mark.inode === found?.ino ? this.#mark.bytes : 0
    if (found && found.size > length) await truncate(this.#at(0), length)
  }

  async write(lines: readonly string[]): Promise<void> {
    const text = Buffer.from(lines.join(''))
    const size = (await statOf(this.#at(0)))?.size ?? 0
    if (size > 0 && size + text.length > this.#rotation.maxBytes) await this.#rotate()
    await this.#append(text)
    const { ino: inode, size: bytes } = await stat(this.#at(0))
    this.#mark = { inode, bytes }
  }

  async countOf(userId: string): Promise<number> {
    let count = 0
    for (const file of await this.#files())
      for await (const line of linesOf(file)) if (isOf(line, userId)) count += 1
    return count
  }

  /** Forgets its mark: it holds for files that are replaced here. */
  async eraseOf(userId: string): Promise<number> {
    this.#mark = undefined
    let erased = 0
    for (const file of await this.#files()) erased += await eraseIn(file, userId)
    return erased
  }

  /** Takes back what was written of lines that were not written whole, such as on a full disk. */
  async #append(text: Buffer): Promise<void> {
    const before = (await statOf(this.#at(0)))?.size ?? 0
    try {
      await appendFile(this.#at(0), text, { mode: 0o600 })
    } catch (error) {
      await truncate(this.#at(0), before).catch(() => {})
      throw error
    }
  }

  async #rotate(): Promise<void> {
    const { keep } = this.#rotation
    await rm(this.#at(keep), { force: true })
    for (let n = keep - 1; n >= 0; n -= 1)
      if (await statOf(this.#at(n))) await rename(this.#at(n), this.#at(n + 1))
  }

  async #files(): Promise<string[]> {
    const all = Array.from({ length: this.#rotation.keep + 1 }, (_, n) => this.#at(n))
    const found = await Promise.all(all.map(statOf))
    return all.filter((_, n) => found[n])
  }

  /** The path of the present file, which is 0, or of a full one. */
  #at(n: number): string {
    const { folder, name } = this.#rotation
    return path.join(folder, n === 0 ? `${name}.jsonl` : `${name}.${n}.jsonl`)
  }
}

const statOf = (file: string) =>
  stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

const linesOf = (file: string) =>
  createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })

const isOf = (line: string, userId: string): boolean => {
  try {
    return (JSON.parse(line) as { user_id?: unknown }).user_id === userId
  } catch {
    return false
  }
}

/** Writes a file anew without the lines of a user; returns how many these were. */
async function eraseIn(file: string, userId: string): Promise<number> {
  const next = `${file}.next`
  const to = await open(next, 'w', 0o600)
  let erased = 0
  try {
    for await (const line of linesOf(file))
      if (isOf(line, userId)) erased += 1
      else await to.write(`${line}\n`)
    await to.sync()
  } finally {
    await to.close()
  }
  if (erased > 0) await rename(next, file)
  else await rm(next)
  return erased
}
