import type { Stats } from 'node:fs'
import { appendFile, rename, rm, stat, truncate } from 'node:fs/promises'
import path from 'node:path'
import type { Mark, Sink } from './sink.ts'
import { countIn, eraseIn, filesBySink } from './user-lines.ts'

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
    if (!found || !mark) return
    // Nothing of a file that was begun behind the mark was accounted for.
    const length = (await this.#isBegunBehind(mark, found)) ? 0 : mark.bytes
    if (found.size > length) await truncate(this.#at(0), length)
  }

  /**
   * Whether the present file is not the one of a mark, since that one was full. A copy of its folder, such as a backup, has the file
   * of the mark under another inode.
   */
  async #isBegunBehind({ inode, bytes }: Mark, present: Stats): Promise<boolean> {
    if (present.ino === inode) return false
    const { keep } = this.#rotation
    return keep === 0 ? present.size !== bytes : (await statOf(this.#at(1)))?.ino === inode
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
    return countIn(await this.#files(), userId)
  }

  /** Forgets its mark: it holds for files that are replaced here. */
  async eraseOf(userId: string): Promise<number> {
    this.#mark = undefined
    return eraseIn(await this.#files(), userId)
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

  /** Also those of a time when it kept more. */
  async #files(): Promise<readonly string[]> {
    const { folder, name } = this.#rotation
    return (await filesBySink(folder)).get(name) ?? []
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
