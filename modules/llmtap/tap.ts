import { z } from 'zod'
import type { Collection, Log, TraceReader, TraceSummary } from '#kernel'
import { type Sink, SinkFailure } from './sink.ts'
import { type Batch, Waiting } from './waiting.ts'

/** Characters of lines that are written at a time. */
const mostAtOnce = 1_000_000
/** Pauses after a failure: this, and each time twice as long, in milliseconds. */
const pauseMs = { first: 1000, longest: 60_000 }

/** How far a sink is, with what it has done so far. */
export const placeRow = z.strictObject({
  /** The place in the order of traces behind the last batch that is done; absent before the first one. */
  after: z.string().exactOptional(),
  from: z.int(),
  /** The last trace that is done of the next batch. */
  last: z.string().exactOptional(),
  mark: z.strictObject({ inode: z.number(), bytes: z.number() }).exactOptional(),
  written: z.int(),
  dropped: z.int(),
})

type Place = z.infer<typeof placeRow>

interface TapParts {
  readonly name: string
  readonly sink: Sink
  readonly places: Collection<Place>
  readonly traces: () => TraceReader
  readonly log: Log
  /** Whether a trace is of a call that is to be written down. */
  readonly takes: (trace: TraceSummary) => boolean
  readonly line: (trace: TraceSummary) => Promise<string>
  /** Traces that are read, and written, at a time. */
  readonly batch: number
  /** Records that may wait in memory while the sink fails; without a bound the others wait among the traces. */
  readonly most: number
  readonly now?: () => number
}

/**
 * Follows traces in the order in which they were written, and writes their records into one sink. The place is kept on disk
 * with each write, so a restart goes on where it was. While the sink fails, what comes waits, and the oldest is dropped.
 */
export class Tap {
  readonly #parts: TapParts
  readonly #now: () => number
  readonly #made: number
  #place: Place | undefined
  readonly #waiting = new Waiting()
  #failures = 0
  #retryAt = 0
  #error: string | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #isRunning = false

  constructor(parts: TapParts) {
    this.#parts = parts
    this.#now = parts.now ?? Date.now
    this.#made = this.#now()
  }

  /** How it is doing, for people. */
  get status() {
    return {
      written: this.#place?.written ?? 0,
      dropped: this.#place?.dropped ?? 0,
      waiting: this.#waiting.count,
      last_error: this.#error ?? null,
    }
  }

  /** Writes what there is; does nothing while it is at that already. */
  async run(): Promise<void> {
    if (this.#isRunning) return
    this.#isRunning = true
    try {
      await this.inTurn(() => this.#catchUp())
    } finally {
      this.#isRunning = false
    }
  }

  /** Does something while nothing is written. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** Deletes a user's lines where they are in reach. */
  eraseOf(userId: string): Promise<number> {
    const { sink } = this.#parts
    return this.inTurn(async () => {
      if (!sink.eraseOf) return 0
      await this.#begin()
      const { mark: _, ...place } = this.#place!
      await this.#keep(place)
      return sink.eraseOf(userId)
    })
  }

  async countOf(userId: string): Promise<number> {
    return (await this.#parts.sink.countOf?.(userId)) ?? 0
  }

  async #catchUp(): Promise<void> {
    await this.#begin()
    for (;;) {
      if (this.#now() < this.#retryAt) return this.#hold()
      const next = this.#waiting.first ?? (await this.#read())
      if (!next) return
      try {
        await this.#deliver(next)
      } catch (error) {
        this.#fail(error)
      }
    }
  }

  async #begin(): Promise<void> {
    if (this.#place) return
    const { places, name, sink } = this.#parts
    await places.create(name, { from: this.#made, written: 0, dropped: 0 })
    const place = (await places.get(name))!
    await sink.open?.(place.mark)
    await this.#keep({ ...place, ...(sink.mark && { mark: sink.mark }) })
  }

  /** Reads the next batch behind those that wait; undefined when there is none yet. */
  async #read(): Promise<Batch | undefined> {
    const { traces: reader, batch, takes } = this.#parts
    const isNext = this.#waiting.first === undefined
    const { after: done, from, last } = this.#place!
    const after = this.#waiting.end ?? done
    const found = await reader().follow({ from, ...(after !== undefined && { after }) }, batch)
    if (found.traces.length === 0 || found.after === undefined) return undefined
    const written = isNext ? found.traces.findIndex(({ id }) => id === last) + 1 : 0
    const read = { traces: found.traces.slice(written).filter(takes), after: found.after }
    this.#waiting.add(read)
    return read
  }

  /** While the sink fails: takes in what there is, and drops the oldest that is too much. Without a bound all stays where it is. */
  async #hold(): Promise<void> {
    if (this.#parts.most === Number.POSITIVE_INFINITY) return
    while (await this.#read()) {
      const over = this.#waiting.dropOver(this.#parts.most)
      if (!over) continue
      const { last: _, ...place } = this.#place!
      await this.#keep({ ...place, after: over.behind, dropped: place.dropped + over.dropped })
    }
  }

  async #deliver(batch: Batch): Promise<void> {
    const { sink, line } = this.#parts
    let rest = batch.traces
    while (rest.length > 0) {
      const lines: string[] = []
      for (let length = 0; lines.length < rest.length && length < mostAtOnce; ) {
        lines.push(await line(rest[lines.length]!))
        length += lines.at(-1)!.length
      }
      const isTaken = await this.#write(lines)
      const last = rest[lines.length - 1]!.id
      rest = rest.slice(lines.length)
      this.#waiting.leave(rest)
      const place = this.#place!
      await this.#keep({
        ...place,
        last,
        ...(sink.mark && { mark: sink.mark }),
        written: place.written + (isTaken ? lines.length : 0),
        dropped: place.dropped + (isTaken ? 0 : lines.length),
      })
    }
    const { last: _, ...place } = this.#place!
    await this.#keep({ ...place, after: batch.after })
    this.#waiting.shift()
  }

  /** False when the sink will never take them. */
  async #write(lines: readonly string[]): Promise<boolean> {
    try {
      await this.#parts.sink.write(lines)
      this.#failures = 0
      this.#error = undefined
      return true
    } catch (error) {
      if (!(error instanceof SinkFailure)) throw error
      this.#error = error.message
      this.#parts.log.warn(
        { sink: this.#parts.name, records: lines.length },
        'a sink refuses records for good',
      )
      return false
    }
  }

  #fail(error: unknown): void {
    const { message } = error as Error
    if (this.#failures === 0)
      this.#parts.log.warn({ err: error, sink: this.#parts.name }, 'a sink of the call log fails')
    this.#error = message.slice(0, 300)
    this.#retryAt = this.#now() + Math.min(pauseMs.first * 2 ** this.#failures, pauseMs.longest)
    this.#failures += 1
  }

  async #keep(place: Place): Promise<void> {
    await this.#parts.places.put(this.#parts.name, place)
    this.#place = place
  }
}
