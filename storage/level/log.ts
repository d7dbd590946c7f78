import type { Log, LogOptions, LogQuery, LogStatus, Page, TotalsPage } from '../index.ts'
import type { ErasingOptions } from '../log.ts'
import type { Backing } from './backing.ts'
import { BlockRewriter } from './block-rewriter.ts'
import { Cells } from './cells.ts'
import { LogAppender } from './log-appender.ts'
import { LogBlocks, type LogFormat } from './log-blocks.ts'
import { LogIntake } from './log-intake.ts'
import { LogViews } from './log-views.ts'
import type { QueuedRow } from './queued-row.ts'
import { type Match, Retention } from './retention.ts'
import { Upkeep } from './upkeep.ts'

/** A log in LevelDB: a queue in memory, chunks of rows and blocks of index on disk. */
export class LevelLog<T> implements Log<T> {
  readonly #backing: Backing
  readonly #blocks: LogBlocks<T>
  readonly #cells: Cells
  readonly #intake: LogIntake<T>
  readonly #appender: LogAppender<T>
  readonly #upkeep: Upkeep<T>
  readonly #views: LogViews<T>
  readonly #retention: Retention<T>
  #due: Promise<void> | undefined

  constructor(backing: Backing, path: string, options: LogOptions<T>, format: LogFormat) {
    this.#intake = new LogIntake(options, {
      ...backing,
      path,
      flush: () => backing.gate.run(() => this.write()),
    })
    this.#backing = backing
    this.#blocks = new LogBlocks(backing, path, options, format)
    this.#cells = new Cells(backing, this.#blocks.keys)
    this.#appender = new LogAppender(this.#blocks, this.#cells, this.#intake.queue)
    const rewriter = new BlockRewriter(this.#blocks, this.#appender)
    this.#upkeep = new Upkeep(this.#blocks, this.#appender, rewriter)
    this.#views = new LogViews(backing, this.#blocks, this.#appender, this.#upkeep)
    this.#retention = new Retention(this.#blocks, rewriter)
  }

  /** Takes over the options of a handle that was made later; what waits is written with the former ones. */
  reshape(options: LogOptions<T>): void {
    this.#intake.reshape(options)
    const reshape = async (): Promise<void> => {
      await this.#appender.drain().finally(() => {
        const { fields, numbers } = this.#blocks
        this.#blocks.options = options
        this.#intake.adopt(options)
        const isSame = `${fields};${numbers}` === `${this.#blocks.fields};${this.#blocks.numbers}`
        if (!isSame) this.#appender.forget()
      })
    }
    // What the disk refuses is tried again when the time of its rows is over.
    this.#backing.gate.run(() => this.#blocks.exclusive(reshape)).catch(() => {})
  }

  append(row: T, body?: () => string | undefined): void {
    this.#intake.append(row, body)
  }

  /**
   * Takes in rows that are text already, whatever their size, and writes them, without an fsync. Rejects when none is taken
   * in, as nothing can be written; what is refused later waits here.
   */
  take(rows: readonly QueuedRow[]): Promise<void> {
    const { gate, writer } = this.#backing
    return gate.run(() => {
      if (writer.failure) throw writer.failure
      for (const row of rows) this.#intake.queue.push(row)
      return this.#writeIfWritable()
    })
  }

  flush(): Promise<void> {
    return this.#backing.gate.run(async () => {
      await this.write()
      await this.#backing.writer.sync()
    })
  }

  /** Writes what waits, without an fsync. */
  write(): Promise<void> {
    this.#due ??= this.#blocks.exclusive(async () => {
      this.#due = undefined
      this.#intake.rest()
      try {
        await this.#appender.drain()
        this.#intake.resume()
      } catch (error) {
        this.#intake.postpone()
        throw error
      }
    })
    return this.#due
  }

  /** Writes what waits and leaves the disk alone from then on. The gate must be closed. */
  async close(): Promise<void> {
    this.#intake.rest()
    if (this.#intake.queue.depth > 0) await this.write()
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

  placeOf(id: string): Promise<string | undefined> {
    return this.#views.read({}, (reader) => reader.place(id))
  }

  list(query: LogQuery = {}): Promise<Page<T>> {
    return this.#views.read(query, (reader) => reader.list(query))
  }

  scan(query: LogQuery = {}): AsyncIterable<T> {
    return this.#views.scan(query)
  }

  totals(from: string, to: string): Promise<TotalsPage> {
    return this.#backing.gate.run(async () => {
      await this.#writeIfWritable()
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

  erase(match: (row: T) => boolean, options?: ErasingOptions): Promise<number> {
    return this.#change(() => this.#retention.erase((rows) => rows.map(match), options))
  }

  /** As `erase`; `match` says of several rows at once which of them. */
  eraseBy(match: Match<T>, options?: ErasingOptions): Promise<number> {
    return this.#change(() => this.#retention.erase(match, options))
  }

  status(): LogStatus {
    return this.#intake.status()
  }

  /** As `write`; while the disk refuses writes, what waits goes on waiting. */
  async #writeIfWritable(): Promise<void> {
    try {
      await this.write()
    } catch (error) {
      if (!this.#backing.writer.failure) throw error
    }
  }

  #change(operation: () => Promise<number>): Promise<number> {
    return this.#backing.gate.run(async () => {
      await this.write()
      return operation()
    })
  }
}
