import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LogOptions } from '../index.ts'
import type { Backing, Snapshot } from './backing.ts'
import { type BlockHeader, BlockIndex, type Change, factsOf } from './block.ts'
import { type Chunk, decodeBodies, decodeLines } from './chunk.ts'
import { prefixRange } from './keys.ts'
import { LastBodies } from './last-bodies.ts'
import { LogKeys } from './log-keys.ts'
import { noted, parseHeader, parseLogNote } from './notes.ts'

/** How many rows share a chunk, and how many a block. Fixed when a log is made, as row numbers are built on it. */
export interface LogFormat {
  readonly chunkRows: number
  readonly blockRows: number
}

/** What is known of a log in memory: the blocks whose index is on disk, and the open block, whose index is here. */
export interface LogState {
  readonly sealed: readonly BlockHeader[]
  readonly open: BlockIndex
  /** Number of the next row; the rows before it are written. */
  readonly next: number
}

/** A state and the disk as they were at one moment. The code that takes one releases its snapshot. */
export interface LogView extends LogState {
  readonly snapshot: Snapshot
}

/** A row, and its place in its block. */
export interface Placed<T> {
  readonly at: number
  readonly row: T
}

const rowsPerTurn = 256

/**
 * The rows of a log as chunks and blocks on disk, with the state that leads to them. Changes are made one after the
 * other (`exclusive`), each in one atomic batch, after which the new state takes the place of the old one.
 */
export class LogBlocks<T> {
  readonly backing: Backing
  readonly keys: LogKeys
  readonly path: string
  readonly lastBodies = new LastBodies()
  options: LogOptions<T>
  #format: LogFormat
  #state: LogState = { sealed: [], open: new BlockIndex(), next: 0 }
  #last: Promise<unknown> = Promise.resolve()

  constructor(backing: Backing, path: string, options: LogOptions<T>, format: LogFormat) {
    this.backing = backing
    this.keys = new LogKeys(path)
    this.path = path
    this.options = options
    this.#format = format
  }

  get format(): LogFormat {
    return this.#format
  }

  get state(): LogState {
    return this.#state
  }

  get fields(): string[] {
    return Object.keys(this.options.fields ?? {})
  }

  get numbers(): string[] {
    return Object.keys(this.options.numbers ?? {})
  }

  /** Number of the first row of the open block. */
  get openFirst(): number {
    return this.#state.next - (this.#state.next % this.#format.blockRows)
  }

  /** Runs after all that was given before, and before all that is given later. */
  exclusive<R>(change: () => Promise<R>): Promise<R> {
    const result = this.#last.then(change)
    this.#last = result.catch(() => {})
    return result
  }

  /** Reads the state from disk; the index of the open block is made again from its rows. */
  async load(): Promise<void> {
    const meta = this.backing.database.getSync(this.keys.meta)
    const stored = meta === undefined ? undefined : noted(this.keys.meta, meta, parseLogNote)
    if (stored) this.#format = { chunkRows: stored.chunkRows, blockRows: stored.blockRows }
    const next = stored?.next ?? 0
    const sealed: BlockHeader[] = []
    for await (const [key, text] of this.backing.database.iterator(prefixRange(this.keys.headers)))
      sealed.push(noted(key, text, parseHeader))
    const first = next - (next % this.#format.blockRows)
    const chunks = await this.readChunks(first, next)
    const open = await this.indexChunks(chunks, first, next)
    this.#state = { sealed, open, next }
  }

  /** Writes changes in one atomic batch; then the new state holds. A failed write leaves the state of the disk. */
  async commit(changes: readonly Change[], state: LogState, durable: boolean): Promise<void> {
    const { writer } = this.backing
    for (const [key, value] of changes) {
      if (value === undefined) writer.delete(key)
      else writer.put(key, value)
    }
    writer.put(this.keys.meta, JSON.stringify({ ...this.#format, next: state.next }))
    await writer.commit(durable)
    this.#state = state
  }

  /** Must run exclusively, as the disk is ahead of the state while a batch is being written. */
  view(): LogView {
    return { ...this.#state, snapshot: this.backing.database.snapshot() }
  }

  /** The chunks that hold the rows from `first` (the first of a chunk) to before `end`. */
  async readChunks(first: number, end: number): Promise<Chunk[]> {
    const numbers = this.chunkNumbers(first, end)
    const [lines, bodies] = await Promise.all([
      this.backing.database.getMany<string, Uint8Array>(
        numbers.map((chunk) => this.keys.rows(chunk)),
        { valueEncoding: 'view' },
      ),
      this.backing.database.getMany<string, Uint8Array>(
        numbers.map((chunk) => this.keys.bodies(chunk)),
        { valueEncoding: 'view' },
      ),
    ])
    return numbers.map((_, at) => {
      const rows = decodeLines(lines[at])
      const slots = decodeBodies(bodies[at])
      return { lines: rows, bodies: Array.from(rows, (_line, row) => slots[row]) }
    })
  }

  chunkNumbers(first: number, end: number): number[] {
    const from = Math.floor(first / this.#format.chunkRows)
    const to = Math.ceil(end / this.#format.chunkRows)
    return Array.from({ length: to - from }, (_, at) => from + at)
  }

  /** The index of the rows in these chunks. What cannot be read is left out and reported. */
  async indexChunks(chunks: readonly Chunk[], first: number, end: number): Promise<BlockIndex> {
    const { options } = this
    const index = new BlockIndex(options)
    const { chunkRows } = this.#format
    for await (const some of this.rowsOf(chunks, first, end)) {
      await options.prepare?.(some.map(({ row }) => row))
      for (const { at, row } of some) {
        while (index.ids.length < at) index.skip()
        const hasBody = chunks[Math.floor(at / chunkRows)]!.bodies[at % chunkRows] !== undefined
        this.#index(index, options, row, first + at, hasBody)
      }
    }
    while (index.ids.length < end - first) index.skip()
    return index
  }

  /** The rows in these chunks that can be read, with their places, some at a time and with turns for others between. */
  async *rowsOf(chunks: readonly Chunk[], first: number, end: number): AsyncGenerator<readonly Placed<T>[]> {
    const { chunkRows } = this.#format
    let some: Placed<T>[] = []
    for (let at = 0; at < end - first; at++) {
      const line = chunks[Math.floor(at / chunkRows)]?.lines[at % chunkRows]
      const row = line ? this.parse(line, first + at) : undefined
      if (row !== undefined) some.push({ at, row })
      if (at % rowsPerTurn < rowsPerTurn - 1) continue
      yield some
      some = []
      await nextTurn()
    }
    yield some
  }

  /** Undefined for what is not JSON, which is reported. */
  parse(line: string, row: number): T | undefined {
    try {
      return JSON.parse(line)
    } catch {
      this.#reportUnreadable(row)
      return undefined
    }
  }

  #index(index: BlockIndex, options: LogOptions<T>, parsed: T, row: number, hasBody: boolean): void {
    try {
      index.add(factsOf(options, parsed), hasBody)
    } catch {
      index.skip()
      this.#reportUnreadable(row)
    }
  }

  #reportUnreadable(row: number): void {
    const message = 'A stored row of the log cannot be read; listings leave it out.'
    this.backing.report({ code: 'ROW_UNREADABLE', part: this.path, id: `#${row}`, message })
  }
}
