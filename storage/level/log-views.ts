import { StoreError } from '../errors.ts'
import type { LogQuery } from '../index.ts'
import type { Backing } from './backing.ts'
import type { LogAppender } from './log-appender.ts'
import type { LogBlocks, LogView } from './log-blocks.ts'
import { conditionsOf } from './log-query.ts'
import { LogReader } from './log-reader.ts'
import { readingOn } from './reading-on.ts'
import type { Needs, Upkeep } from './upkeep.ts'

/** Has queries read a log as it is at one moment, with what waits written and all that they ask for indexed. */
export class LogViews<T> {
  readonly #backing: Backing
  readonly #blocks: LogBlocks<T>
  readonly #appender: LogAppender<T>
  readonly #upkeep: Upkeep<T>

  constructor(backing: Backing, blocks: LogBlocks<T>, appender: LogAppender<T>, upkeep: Upkeep<T>) {
    this.#backing = backing
    this.#blocks = blocks
    this.#appender = appender
    this.#upkeep = upkeep
  }

  read<R>(query: LogQuery, operation: (reader: LogReader<T>) => Promise<R>): Promise<R> {
    return this.#backing.gate.run(async () => {
      const view = await this.#take(query)
      try {
        return await operation(new LogReader(this.#blocks, view))
      } finally {
        await view.snapshot.close()
      }
    })
  }

  async *scan(query: LogQuery): AsyncIterable<T> {
    const view = await this.#backing.gate.run(() => this.#take(query))
    try {
      yield* readingOn(this.#backing.gate, new LogReader(this.#blocks, view).scan(query))
    } finally {
      await view.snapshot.close()
    }
  }

  async #take(query: LogQuery): Promise<LogView> {
    for (;;) {
      const found = await this.#blocks.exclusive(async () => {
        await this.#appender.drainIfWritable()
        const needs = this.#needsOf(query)
        return this.#upkeep.has(needs) ? { view: this.#blocks.view() } : { needs }
      })
      if (found.view) return found.view
      await this.#upkeep.next(found.needs)
    }
  }

  #needsOf(query: LogQuery): Needs {
    const { offset = 0, limit = 0 } = query
    if (!(offset >= 0) || !(limit >= 0))
      throw new StoreError('QUERY_INVALID', 'limit and offset may not be negative.')
    const { fields, minima } = conditionsOf(query, this.#blocks)
    return { fields: fields.map(({ field }) => field), numbers: minima.map(([name]) => name) }
  }
}
