import { setImmediate as nextTurn } from 'node:timers/promises'
import { type BlockHeader, BlockIndex, type Change, sealBlock } from './block.ts'
import type { Cells } from './cells.ts'
import { apart, type BodySlot, encodeBodies, encodeLines, largestInlineBody } from './chunk.ts'
import { compress } from './compression.ts'
import type { LogBlocks } from './log-blocks.ts'
import { reportRefused } from './log-intake.ts'
import type { LogQueue } from './log-queue.ts'
import { factsBy, type QueuedRow, sizeOf } from './queued-row.ts'

const turnMs = 2
const rowsPerBatch = 1000
const bytesPerBatch = 2 * 1024 * 1024

/**
 * Puts queued rows into chunks, and full blocks into their index. The work is cut into turns of about 2 ms; what it
 * made goes to disk in one batch at the end.
 */
export class LogAppender<T> {
  readonly #blocks: LogBlocks<T>
  readonly #cells: Cells
  readonly #queue: LogQueue
  #lines: string[] = []
  #bodies: BodySlot[] = []
  #loaded = false

  constructor(blocks: LogBlocks<T>, cells: Cells, queue: LogQueue) {
    this.#blocks = blocks
    this.#cells = cells
    this.#queue = queue
  }

  /** Reads from disk what is not known yet, or not any more after a failed write. Must run exclusively. */
  async load(): Promise<void> {
    if (this.#loaded) return
    this.#cells.reset()
    await this.#blocks.load()
    await this.reloadChunk()
    this.#loaded = true
  }

  /** Has everything read again before the next write, as after a failed one. */
  forget(): void {
    this.#loaded = false
  }

  /** Reads the chunk that is not full yet, after it was changed on disk. */
  async reloadChunk(): Promise<void> {
    const { next } = this.#blocks.state
    const length = next % this.#blocks.format.chunkRows
    const [chunk] = await this.#blocks.readChunks(next - length, next)
    this.#lines = Array.from({ length }, (_, at) => chunk?.lines[at] ?? '')
    this.#bodies = Array.from({ length }, (_, at) => chunk?.bodies[at])
  }

  /**
   * Writes all that waits, in batches of bounded size. What the disk refuses waits again, in its place. Must run
   * exclusively.
   */
  async drain(): Promise<void> {
    const { writer, report } = this.#blocks.backing
    if (writer.failure) throw writer.failure
    await this.load()
    const taken = this.#queue.take()
    const queued = taken.rows
    let written = 0
    try {
      while (written < queued.length)
        written += await this.#write(queued.slice(written, written + rowsPerBatch))
      this.#queue.settle(taken)
    } catch (error) {
      this.#queue.settle(taken)
      const left = queued.slice(written)
      if (writer.failure) this.#queue.putBack(left)
      else this.#queue.drop(left.length)
      this.forget()
      throw error
    } finally {
      reportRefused(this.#queue, this.#blocks.path, report)
    }
  }

  /** As `drain`, for readers: while the disk refuses writes, rows in the queue go on waiting. Must run exclusively. */
  async drainIfWritable(): Promise<void> {
    try {
      await this.drain()
    } catch (error) {
      if (!this.#blocks.backing.writer.failure) throw error
      await this.load()
    }
  }

  /** Writes the first of these rows, as many as make a batch, and returns how many. */
  async #write(queued: readonly QueuedRow[]): Promise<number> {
    const { chunkRows, blockRows } = this.#blocks.format
    const { keys, state, options } = this.#blocks
    const changes: Change[] = []
    const sealed: BlockHeader[] = []
    let { open, next } = state
    let taken = 0
    let bytes = 0
    let turnEnds = performance.now() + turnMs
    for (const row of queued) {
      if (bytes >= bytesPerBatch) break
      taken++
      bytes += sizeOf(row)
      const slot = this.#slot(row.body, next, changes)
      open.add(factsBy(options, row), slot !== undefined)
      for (const [cells, totals] of row.sums) this.#cells.add(cells, totals)
      this.#lines.push(row.json)
      this.#bodies.push(slot)
      next++
      if (next % chunkRows === 0) this.#closeChunk(next, changes)
      if (next % blockRows === 0) {
        const [header, index] = sealBlock(keys, next / blockRows - 1, open)
        changes.push(...index)
        sealed.push(header)
        open = new BlockIndex(options)
      }
      if (performance.now() > turnEnds) {
        await nextTurn()
        turnEnds = performance.now() + turnMs
      }
    }
    if (this.#lines.length > 0) this.#putChunk(Math.floor(next / chunkRows), changes)
    for (const change of this.#cells.takeChanges()) changes.push(change)
    const all = sealed.length === 0 ? state.sealed : [...state.sealed, ...sealed]
    await this.#blocks.commit(changes, { sealed: all, open, next }, false)
    return taken
  }

  #slot(body: string | undefined, row: number, changes: Change[]): BodySlot {
    if (body === undefined || body.length <= largestInlineBody) return body
    changes.push([this.#blocks.keys.largeBody(row), compress([body])])
    return apart
  }

  #closeChunk(next: number, changes: Change[]): void {
    this.#putChunk(next / this.#blocks.format.chunkRows - 1, changes)
    this.#lines = []
    this.#bodies = []
  }

  #putChunk(chunk: number, changes: Change[]): void {
    const { keys } = this.#blocks
    changes.push(
      [keys.rows(chunk), encodeLines(this.#lines)],
      [keys.bodies(chunk), encodeBodies(this.#bodies)],
    )
  }
}
