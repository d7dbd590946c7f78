import type { Log, LogOptions, LogQuery, LogStatus, Page } from '../index.ts'
import { checkIndexNames } from '../names.ts'
import type { Backing } from './backing.ts'
import { BlockRewriter } from './block-rewriter.ts'
import { Cells } from './cells.ts'
import { LogAppender } from './log-appender.ts'
import { LogBlocks, type LogFormat } from './log-blocks.ts'
import { LogQueue } from './log-queue.ts'
import { LogViews } from './log-views.ts'
import { queuedRow } from './queued-row.ts'
import { Retention } from './retention.ts'
import { Upkeep } from './upkeep.ts'

/** Rows that are written before their time is over: what waits longer outlives its youth, and costs the collector. */
const flushRows = 512
const flushBytes = 1024 * 1024
const defaultFlushMs = 250
const defaultQueueBytes = 64 * 1024 * 1024

/** A log in LevelDB: a queue in memory, chunks of rows and blocks of index on disk. */
export class LevelLog<T> implements Log<T> {
  readonly #backing: Backing
  readonly #blocks: LogBlocks<T>
  readonly #cells: Cells
  readonly #queue: LogQueue<T>
  readonly #appender: LogAppender<T>
  readonly #upkeep: Upkeep<T>
  readonly #views: LogViews<T>
  readonly #retention: Retention<T>
  #flushMs: number
  #timer: NodeJS.Timeout | undefined
  #due: Promise<void> | undefined

  constructor(backing: Backing, path: string, options: LogOptions<T>, format: LogFormat) {
    checkIndexNames(Object.keys({ ...options.fields, ...options.numbers }))
    this.#backing = backing
    this.#blocks = new LogBlocks(backing, path, options, format)
    this.#cells = new Cells(backing, this.#blocks.keys)
    this.#queue = new LogQueue(options.maxQueueBytes ?? defaultQueueBytes)
    this.#appender = new LogAppender(this.#blocks, this.#cells, this.#queue)
    const rewriter = new BlockRewriter(this.#blocks, this.#appender)
    this.#upkeep = new Upkeep(this.#blocks, this.#appender, rewriter)
    this.#views = new LogViews(backing, this.#blocks, this.#appender, this.#upkeep)
    this.#retention = new Retention(this.#blocks, rewriter)
    this.#flushMs = options.flushMs ?? defaultFlushMs
  }

  /** Takes over the options of a handle that was made later; what waits is written with the former ones. */
  reshape(options: LogOptions<T>): void {
    checkIndexNames(Object.keys({ ...options.fields, ...options.numbers }))
    this.#flushMs = options.flushMs ?? defaultFlushMs
    this.#queue.maxBytes = options.maxQueueBytes ?? defaultQueueBytes
    const reshaped = this.#blocks.exclusive(async () => {
      await this.#appender.drain().finally(() => {
        const { fields, numbers } = this.#blocks
        this.#blocks.options = options
        const isSame = `${fields};${numbers}` === `${this.#blocks.fields};${this.#blocks.numbers}`
        if (!isSame) this.#appender.forget()
      })
    })
    reshaped.catch(() => this.#reportFailure())
  }

  append(row: T, body?: () => string | undefined): void {
    if (!this.#backing.gate.isOpen || this.#queue.isFull) {
      this.#queue.drop(1)
      return
    }
    this.#queueUp(row, body)
    const { rows, bytes } = this.#queue.waiting
    if (rows >= flushRows || bytes >= flushBytes) this.#flushInBackground()
    else this.#timer ??= setTimeout(() => this.#flushInBackground(), this.#flushMs).unref()
  }

  flush(): Promise<void> {
    return this.#backing.gate.run(async () => {
      await this.write()
      await this.#backing.writer.sync()
    })
  }

  /** Writes what waits, without an fsync. */
  write(): Promise<void> {
    this.#due ??= this.#blocks.exclusive(() => {
      this.#due = undefined
      clearTimeout(this.#timer)
      this.#timer = undefined
      return this.#appender.drain()
    })
    return this.#due
  }

  /** Writes what waits and leaves the disk alone from then on. The gate must be closed. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#queue.depth > 0) await this.write()
    await this.#blocks.exclusive(async () => {})
  }

  async prepare(): Promise<void> {
    while (this.#backing.gate.isOpen && (await this.#backing.gate.run(() => this.#upkeep.next())));
  }

  get(id: string): Promise<T | undefined> {
    return this.#views.read({}, (reader) => reader.row(id))
  }

  body(id: string): Promise<string | undefined> {
    return this.#views.read({}, (reader) => reader.body(id))
  }

  list(query: LogQuery = {}): Promise<Page<T>> {
    return this.#views.read(query, (reader) => reader.list(query))
  }

  scan(query: LogQuery = {}): AsyncIterable<T> {
    return this.#views.scan(query)
  }

  totals(from: string, to: string): Promise<Array<[cell: string, totals: Record<string, number>]>> {
    return this.#backing.gate.run(async () => {
      await this.write()
      return this.#cells.read(from, to)
    })
  }

  forgetTotals(from: string, to: string): Promise<number> {
    return this.#change(() =>
      this.#blocks.exclusive(async () => {
        const gone = await this.#cells.deletions(from, to)
        if (gone.length > 0) await this.#blocks.commit(gone, this.#blocks.state, false)
        this.#cells.reset()
        return gone.length
      }),
    )
  }

  prune(beforeMs: number): Promise<number> {
    return this.#change(() => this.#retention.prune(beforeMs))
  }

  pruneBodies(beforeMs: number): Promise<number> {
    return this.#change(() => this.#retention.pruneBodies(beforeMs))
  }

  erase(match: (row: T) => boolean): Promise<number> {
    return this.#change(() => this.#retention.erase(match))
  }

  status(): LogStatus {
    const { depth, bytes, dropped } = this.#queue
    return { depth, bytes, dropped }
  }

  #queueUp(row: T, body: (() => string | undefined) | undefined): void {
    try {
      this.#queue.push(queuedRow(this.#blocks.options, row, this.#textOf(body)))
    } catch {
      this.#queue.refuse()
    }
  }

  #textOf(body: (() => string | undefined) | undefined): string | undefined {
    try {
      return body?.()
    } catch {
      const message = 'The body of a row could not be made. The row is kept without it.'
      this.#backing.report({ code: 'ROW_INVALID', part: this.#blocks.path, message })
      return undefined
    }
  }

  #change(operation: () => Promise<number>): Promise<number> {
    return this.#backing.gate.run(async () => {
      await this.write()
      return operation()
    })
  }

  #flushInBackground(): void {
    if (this.#due) return
    this.write().catch(() => this.#reportFailure())
  }

  #reportFailure(): void {
    const message = 'Rows of the log could not be written and are lost; status() counts them.'
    this.#backing.report({ code: 'STORE_FAILED', part: this.#blocks.path, message })
  }
}
