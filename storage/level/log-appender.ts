import { setImmediate as nextTurn } from 'node:timers/promises'
import { type BlockHeader, BlockIndex, type Change, factsOf, type RowFacts, sealBlock } from './block.ts'
import type { Cells } from './cells.ts'
import { apart, type BodySlot, encodeBodies, encodeLines, largestInlineBody } from './chunk.ts'
import { compress } from './compression.ts'
import type { LogBlocks } from './log-blocks.ts'
import type { LogQueue, Queued } from './log-queue.ts'

const turnMs = 2
const rowsPerBatch = 1000
const bytesPerBatch = 2 * 1024 * 1024

type CellAmounts = [cell: string, amounts: Readonly<Record<string, number>>]

/**
 * Turns queued rows into chunks, and full blocks into their index. The work is cut into turns of about 2 ms; what it
 * made goes to disk in one batch at the end.
 */
export class LogAppender<T> {
  readonly #blocks: LogBlocks<T>
  readonly #cells: Cells
  readonly #queue: LogQueue<T>
  #lines: string[] = []
  #bodies: BodySlot[] = []
  #size = { rows: 0, rowBytes: 0, bodies: 0, bodyBytes: 0 }
  #loaded = false

  constructor(blocks: LogBlocks<T>, cells: Cells, queue: LogQueue<T>) {
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

  /** Writes all that waits, in batches of bounded size. Must run exclusively. */
  async drain(): Promise<void> {
    await this.load()
    const queued = this.#queue.take()
    let written = 0
    try {
      while (written < queued.length)
        written += await this.#write(queued.slice(written, written + rowsPerBatch))
    } catch (error) {
      this.#queue.drop(queued.length - written)
      this.forget()
      throw error
    } finally {
      this.#queue.settle()
    }
  }

  /** Writes the first of these rows, as many as make a batch, and returns how many. */
  async #write(queued: readonly Queued<T>[]): Promise<number> {
    const { chunkRows, blockRows } = this.#blocks.format
    const { keys, state } = this.#blocks
    const changes: Change[] = []
    const sealed: BlockHeader[] = []
    let { open, next } = state
    let taken = 0
    let failed = 0
    this.#size = { rows: 0, rowBytes: 0, bodies: 0, bodyBytes: 0 }
    let turnEnds = performance.now() + turnMs
    for (const { row, body } of queued) {
      if (this.#size.rowBytes + this.#size.bodyBytes >= bytesPerBatch) break
      taken++
      const encoded = this.#encode(row)
      if (!encoded) {
        failed++
        continue
      }
      const slot = this.#slot(body, next, changes)
      open.add(encoded.facts, slot !== undefined)
      this.#lines.push(encoded.json)
      this.#bodies.push(slot)
      next++
      if (next % chunkRows === 0) this.#closeChunk(next, changes)
      if (next % blockRows === 0) {
        const [header, index] = sealBlock(keys, next / blockRows - 1, open)
        changes.push(...index)
        sealed.push(header)
        open = new BlockIndex(this.#blocks.fields)
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
    if (failed > 0) this.#reportDropped(failed)
    this.#queue.learn(this.#size.rows, this.#size.rowBytes, this.#size.bodies, this.#size.bodyBytes)
    return taken
  }

  /** Undefined for a row that is not JSON or that one of the log's functions refuses. */
  #encode(row: T): { json: string; facts: RowFacts } | undefined {
    try {
      const json: string | undefined = JSON.stringify(row)
      if (json === undefined) return undefined
      const facts = factsOf(this.#blocks.options, row)
      if (this.#blocks.options.rollup) {
        const amounts: CellAmounts[] = []
        this.#blocks.options.rollup(row, (cell, totals) => amounts.push([cell, totals]))
        for (const [cell, totals] of amounts) this.#cells.add(cell, totals)
      }
      this.#size.rows++
      this.#size.rowBytes += json.length
      return { json, facts }
    } catch {
      return undefined
    }
  }

  #slot(body: (() => string | undefined) | undefined, row: number, changes: Change[]): BodySlot {
    let text: string | undefined
    try {
      text = body?.()
    } catch {
      const message = 'The body of a row could not be made. The row is kept without it.'
      this.#blocks.backing.report({ code: 'ROW_INVALID', part: this.#blocks.path, message })
    }
    if (text === undefined) return undefined
    this.#size.bodies++
    this.#size.bodyBytes += text.length
    if (text.length <= largestInlineBody) return text
    changes.push([this.#blocks.keys.largeBody(row), compress(text)])
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

  #reportDropped(rows: number): void {
    this.#queue.drop(rows)
    const message = `${rows} rows were dropped: they are not JSON, or have no id or time.`
    this.#blocks.backing.report({ code: 'ROW_INVALID', part: this.#blocks.path, message })
  }
}
