import { Chunk } from '../canonical/chunk.ts'
import type { CompletionChunk } from '../canonical/forms.ts'
import { parseChunk } from '../canonical/parse.ts'
import { EventTemplate } from './event-template.ts'
import type { EventSplitter } from './sse.ts'

/**
 * Reads the events of one stream. Those that are written as the one before, but for the text they add, cost a third of
 * what parsing does; whatever else they are, they mean what `JSON.parse` says.
 */
export class ChunkReader {
  #template: EventTemplate | undefined
  /** Tries to find a template since one fitted, and the events until the next: ever more, where these have little in common. */
  #tries = 0
  #untilNext = 0

  /** The chunk in an event. Throws a coded error when it is not the JSON of a chunk. */
  read(event: Buffer): CompletionChunk {
    const text = event.toString('latin1')
    return this.#endOf(text, 0) === text.length ? this.#template!.read(event) : this.#parsed(event)
  }

  /** The chunks of whole events, in order; neighbours that add to the same text come as one that adds all of it. */
  *joined(events: Buffer): Generator<CompletionChunk> {
    const all = events.toString('latin1')
    for (let at = 0, end = 0; at < all.length; at = end) {
      for (let next = this.#endOf(all, at); next !== -1; next = this.#endOf(all, end)) end = next
      if (end > at) yield this.#template!.read(events.subarray(at, end))
      else {
        end = eventEnd(all, at)
        yield this.#parsed(events.subarray(at, end))
      }
    }
  }

  /** The events that come next and are written alike, as one chunk that is parsed later; undefined when the next one is not. */
  run(events: EventSplitter): Chunk | undefined {
    const run = this.#template && events.run(this.#template)
    if (!run) return undefined
    this.#tries = this.#untilNext = 0
    return Chunk.unread(run.bytes, this.#template!, run.events)
  }

  /** An event as a chunk that is parsed later. */
  unread(event: Buffer): Chunk {
    const template = this.#isTime() ? EventTemplate.of(event.toString()) : undefined
    if (!template) return Chunk.fromBytes(event)
    this.#template = template
    return Chunk.unread(event, template)
  }

  /** Expects events like this one, which means this chunk. */
  expect(event: Buffer, data: CompletionChunk): void {
    this.#template = EventTemplate.of(event.toString(), data) ?? this.#template
  }

  #endOf(events: string, at: number): number {
    const end = this.#template?.endOf(events, at) ?? -1
    if (end !== -1) this.#tries = this.#untilNext = 0
    return end
  }

  #parsed(event: Buffer): CompletionChunk {
    const text = event.toString()
    const data = parseChunk(text)
    if (this.#isTime()) this.#template = EventTemplate.of(text, data) ?? this.#template
    return data
  }

  /** Whether to try to find a template: after each try that was in vain, only when twice as many events have come. */
  #isTime(): boolean {
    this.#untilNext -= 1
    if (this.#untilNext >= 0) return false
    this.#untilNext = 2 ** this.#tries - 1
    this.#tries += 1
    return true
  }
}

/** Where the event ends that begins here: after its blank line, or at the end. */
function eventEnd(text: string, at: number): number {
  const blank = /\n\r?\n/g
  blank.lastIndex = at
  return blank.test(text) ? blank.lastIndex : text.length
}
