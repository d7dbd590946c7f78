import type { LogOptions, LogStatus, StoreProblem } from '../index.ts'
import { checkIndexNames } from '../names.ts'
import type { Gate } from './gate.ts'
import { LogQueue } from './log-queue.ts'
import { queuedRow } from './queued-row.ts'

/**
 * Rows that are written before their time is over: what waits longer outlives its youth, and costs the collector. Of calls at full speed
 * half as much grows old as with four times as many rows; with half as many rows the writes cost more than that saves.
 */
const flushRows = 128
const flushBytes = 1024 * 1024
const defaultFlushMs = 250
/** After rows were refused, until they are tried again, in milliseconds. */
const retryMs = 1000
const defaultQueueBytes = 64 * 1024 * 1024

type Report = (problem: StoreProblem) => void

interface IntakeParts {
  readonly path: string
  readonly gate: Gate
  readonly report: Report
  /** Writes what waits. */
  readonly flush: () => Promise<unknown>
}

/** Takes in the rows of a log, and has them written when there are enough or their time is over. */
export class LogIntake<T> {
  readonly queue: LogQueue
  readonly #parts: IntakeParts
  #options: LogOptions<T>
  #flushMs: number
  #timer: NodeJS.Timeout | undefined
  #isPostponed = false

  constructor(options: LogOptions<T>, parts: IntakeParts) {
    checkNames(options)
    this.#parts = parts
    this.#options = options
    this.queue = new LogQueue(options.maxQueueBytes ?? defaultQueueBytes)
    this.#flushMs = options.flushMs ?? defaultFlushMs
  }

  /** Takes over the bounds of these options; rows go by the former ones until `adopt`. */
  reshape(options: LogOptions<T>): void {
    checkNames(options)
    this.#flushMs = options.flushMs ?? defaultFlushMs
    this.queue.maxBytes = options.maxQueueBytes ?? defaultQueueBytes
  }

  /** From now on the facts of rows are what these options make of them. */
  adopt(options: LogOptions<T>): void {
    this.#options = options
  }

  append(row: T, body: (() => string | undefined) | undefined): void {
    if (!this.#parts.gate.isOpen || this.queue.isFull) {
      this.queue.drop(1)
      return
    }
    this.#queueUp(row, body)
    const { rows, bytes } = this.queue.waiting
    if (!this.#isPostponed && (rows >= flushRows || bytes >= flushBytes)) this.#flush()
    else this.#flushIn(this.#flushMs)
  }

  /** The queue is being written: new rows start a new wait. */
  rest(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  /** The write was refused: it is tried again in a second, however many rows come until then. Reports that once. */
  postpone(): void {
    if (!this.#parts.gate.isOpen) return
    this.#flushIn(retryMs)
    if (this.#isPostponed) return
    this.#isPostponed = true
    const message =
      'Rows of the log cannot be written. They wait in memory, and status() counts those that do not fit.'
    this.#parts.report({ code: 'STORE_FAILED', part: this.#parts.path, message })
  }

  /** Whether what waited last was refused. */
  get isPostponed(): boolean {
    return this.#isPostponed
  }

  /** The queue is written: nothing is postponed any more. */
  resume(): void {
    this.#isPostponed = false
  }

  status(): LogStatus {
    const { depth, bytes, dropped } = this.queue
    return { depth, bytes, dropped }
  }

  #queueUp(row: T, body: (() => string | undefined) | undefined): void {
    try {
      this.queue.push(queuedRow(this.#options, row, this.#textOf(body)))
    } catch {
      this.queue.refuse()
    }
  }

  #textOf(body: (() => string | undefined) | undefined): string | undefined {
    try {
      return body?.()
    } catch {
      const message = 'The body of a row could not be made. The row is kept without it.'
      this.#parts.report({ code: 'ROW_INVALID', part: this.#parts.path, message })
      return undefined
    }
  }

  #flushIn(ms: number): void {
    this.#timer ??= setTimeout(() => this.#flush(), ms).unref()
  }

  #flush(): void {
    this.rest()
    this.#parts.flush().catch(() => this.postpone())
  }
}

function checkNames({ fields, numbers }: LogOptions<never>): void {
  checkIndexNames(Object.keys({ ...fields, ...numbers }))
}

/** Says how many rows were no rows of their log since it was said last. */
export function reportRefused(queue: LogQueue, path: string, report: Report): void {
  const rows = queue.takeRefused()
  if (rows === 0) return
  const message = `${rows} rows were dropped: they are not JSON, or have no id or time.`
  report({ code: 'ROW_INVALID', part: path, message })
}
