import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { EventCount, type EventForm } from './event-count.ts'
import type { RequestTemplate } from './request.ts'
import { ResponseReader } from './response.ts'

export interface LoadOptions {
  readonly port: number
  readonly request: RequestTemplate
  readonly connections: number
  /** Count and check these events of each response. */
  readonly events?: EventForm
  /** Connections are opened one after another over this time; all at once by default. */
  readonly spreadMs?: number
  readonly warmupMs: number
  readonly durationMs: number
  /** Called when the measured window begins and when it ends. */
  readonly onWindow: (edge: 'begin' | 'end') => void
}

export interface LoadResult {
  /** Calls that ended in the window. */
  readonly calls: number
  /** Calls that ended at any time, before and after the window too. */
  readonly ended: number
  readonly seconds: number
  /** Milliseconds from sending to the last byte, in no order. */
  readonly latencies: Float64Array
  /** Milliseconds from sending to the first event with content; streams only. */
  readonly firstEvents: Float64Array
  /** Events with content that came in the window. */
  readonly events: number
  /** Streams that did not have exactly their events, in order, each once. */
  readonly broken: number
  /** Answers by their status, other than 200; `closed` are connections that broke. */
  readonly failures: Readonly<Record<string, number>>
}

/** How long calls that are still open at the end may take before their connections are dropped. */
const DRAIN_MS = 10_000

/** Keeps so many connections busy, each with one call after another, and measures a window of that. */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const run = new Run(options)
  const gapMs = (options.spreadMs ?? 0) / options.connections
  for (let index = 0; index < options.connections; index += 1) setTimeout(() => run.open(), index * gapMs)
  await sleep(options.spreadMs ?? 0)
  await sleep(options.warmupMs)
  run.begin()
  await sleep(options.durationMs)
  run.end()
  await run.drained(DRAIN_MS)
  return run.result()
}

class Run {
  readonly #options: LoadOptions
  readonly #latencies: number[] = []
  readonly #firstEvents: number[] = []
  readonly #failures: Record<string, number> = {}
  readonly #sockets = new Set<Socket>()
  #measuring = false
  #stopped = false
  #beganAt = 0
  #endedAt = 0
  #calls = 0
  #ended = 0
  #events = 0
  #broken = 0
  #idle: (() => void) | undefined

  constructor(options: LoadOptions) {
    this.#options = options
  }

  begin(): void {
    this.#options.onWindow('begin')
    this.#beganAt = performance.now()
    this.#measuring = true
  }

  end(): void {
    this.#options.onWindow('end')
    this.#endedAt = performance.now()
    this.#measuring = false
    this.#stopped = true
  }

  async drained(ms: number): Promise<void> {
    if (this.#sockets.size === 0) return
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve
    })
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy()
    }, ms)
    await idle
    clearTimeout(timer)
  }

  result(): LoadResult {
    return {
      calls: this.#calls,
      ended: this.#ended,
      seconds: (this.#endedAt - this.#beganAt) / 1000,
      latencies: Float64Array.from(this.#latencies),
      firstEvents: Float64Array.from(this.#firstEvents),
      events: this.#events,
      broken: this.#broken,
      failures: this.#failures,
    }
  }

  open(): void {
    const { port, events } = this.#options
    const request = this.#options.request.copy()
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    let sentAt = 0
    let count = events && new EventCount(events)
    let failed = false
    const send = () => {
      count = events && new EventCount(events)
      sentAt = performance.now()
      // Microseconds of the clock: no two sendings have the same, and none is repeated within a quarter of an hour.
      socket.write(request.write(Math.floor(sentAt * 1000) % 1e9))
    }
    const reader = new ResponseReader({
      body: (bytes) => {
        if (!count) return
        const before = count.events
        count.push(bytes)
        if (!this.#measuring || count.events === before) return
        this.#events += count.events - before
        if (before === 0) this.#firstEvents.push(performance.now() - sentAt)
      },
      end: (status, keepAlive) => {
        if (status !== 200) this.#fail(String(status))
        else if (count && !count.complete) this.#broken += 1
        this.#ended += 1
        if (this.#measuring) {
          this.#calls += 1
          this.#latencies.push(performance.now() - sentAt)
        }
        if (this.#stopped || !keepAlive) socket.destroy()
        else send()
      },
    })
    this.#sockets.add(socket)
    socket.on('connect', send)
    socket.on('data', (data: Buffer) => {
      try {
        reader.push(data)
      } catch (error) {
        socket.destroy(error as Error)
      }
    })
    socket.on('error', () => {
      failed = true
    })
    socket.on('close', () => {
      if (failed || !this.#stopped) this.#fail('closed')
      this.#sockets.delete(socket)
      if (!this.#stopped) setTimeout(() => this.#stopped || this.open(), 1)
      else if (this.#sockets.size === 0) this.#idle?.()
    })
  }

  #fail(kind: string): void {
    this.#failures[kind] = (this.#failures[kind] ?? 0) + 1
  }
}
