import type { Chunk, Completion, Filter, Out } from '#kernel'
import { SharedRoom } from '#kit'
import { KeptStream } from './kept-stream.ts'

/** Estimated size of a chunk that has no bytes. */
const unknownBytes = 256
/** Longest list of chunk timings. */
const mostTimings = 10_000

/** The measures of a stream; times in milliseconds. */
export interface StreamFacts {
  readonly chunks: number
  readonly bytes: number
  readonly ttft_ms: number | null
  readonly tokens_per_second: number | null
  readonly longest_gap_ms: number
  /** The client left before the end. */
  readonly client_left: boolean
  /** The stream was larger than is kept: the rebuilt answer ends early, or is missing. */
  readonly truncated: boolean
  /** When each chunk came, counted from the call's start. */
  readonly chunk_ms?: readonly number[]
}

interface Options {
  readonly maxBytes: number
  readonly storeTimings: boolean
  /** When the call began, on the monotonic clock. */
  readonly started: number
  /** The room that this stream shares with others while it is kept. */
  readonly room: SnapshotRoom
}

/** The room of streams that are kept; of many long ones together, the one that was long first is kept no more. */
export type SnapshotRoom = SharedRoom<Snapshot>

/** The room for streams of which each may have so many bytes; short ones always have theirs. */
export const snapshotRoom = (maxBytes: number): SnapshotRoom =>
  new SharedRoom({ most: 16 * maxBytes, free: 256 * 1024, evict: (snapshot) => snapshot.giveUp() })

/** Watches a stream: chunks pass as they are. The answer is put together when it is first read. */
export class Snapshot implements Filter {
  readonly #options: Options
  #kept: KeptStream | undefined = new KeptStream()
  readonly #timings: number[] | undefined
  #chunks = 0
  #bytes = 0
  #first: number | undefined
  #last = 0
  #longestGap = 0
  #truncated = false

  constructor(options: Options) {
    this.#options = options
    this.#timings = options.storeTimings ? [] : undefined
  }

  push(chunk: Chunk, out: Out): void {
    const now = performance.now()
    if (this.#first === undefined) this.#first = now
    else if (now - this.#last > this.#longestGap) this.#longestGap = now - this.#last
    this.#last = now
    this.#chunks += chunk.events
    this.#bytes += chunk.raw?.length ?? unknownBytes
    if (this.#bytes > this.#options.maxBytes) this.#truncated = true
    else this.#keep(chunk)
    if (this.#timings) this.#time(chunk.events, rounded(now - this.#options.started))
    out.emit(chunk)
  }

  /** Gives its part of the room to others, and keeps nothing of the stream any more. */
  giveUp(): void {
    this.#kept = undefined
    this.#truncated = true
  }

  /** It has been recorded. */
  leave(): void {
    this.#options.room.leave(this)
  }

  #keep(chunk: Chunk): void {
    if (!this.#kept) return
    this.#kept.add(chunk)
    this.#options.room.hold(this, this.#bytes)
  }

  #time(events: number, ms: number): void {
    const timings = this.#timings!
    for (let n = 0; n < events && timings.length < mostTimings; n += 1) timings.push(ms)
  }

  /** The answer as far as it was kept; undefined when nothing came, or nothing was kept. */
  completion(): Completion | undefined {
    return this.#kept?.completion()
  }

  /** How the stream went. */
  facts(outputTokens: number, clientLeft: boolean): StreamFacts {
    const seconds = this.#first === undefined ? 0 : (this.#last - this.#first) / 1000
    return {
      chunks: this.#chunks,
      bytes: this.#bytes,
      ttft_ms: this.#first === undefined ? null : rounded(this.#first - this.#options.started),
      tokens_per_second: seconds > 0 && outputTokens > 0 ? rounded(outputTokens / seconds) : null,
      longest_gap_ms: rounded(this.#longestGap),
      client_left: clientLeft,
      truncated: this.#truncated,
      ...(this.#timings && { chunk_ms: this.#timings }),
    }
  }
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000
