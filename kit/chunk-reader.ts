import type { CompletionChunk } from '../kernel/call/canonical.ts'
import { parseChunk } from '../kernel/stream/parse.ts'
import { EventTemplate } from './event-template.ts'

/** Templates in a row that fit nothing: the events of such a stream have too little in common. */
const mostMisses = 4

/**
 * Reads the events of one stream. Those that are written as the one before, but for the text they add, cost a third of
 * what parsing does; whatever else they are, they mean what `JSON.parse` says.
 */
export class ChunkReader {
  #template: EventTemplate | undefined
  #misses = 0

  /** The chunk in an event. Throws a coded error when it is not the JSON of a chunk. */
  read(event: Buffer): CompletionChunk {
    const text = event.toString()
    const fit = this.#template?.fit(text, 0)
    if (fit?.end !== text.length) return this.#parsed(text)
    this.#misses = 0
    return this.#template!.chunk(fit.text, fit.padding)
  }

  /** The chunks of whole events, in order; neighbours that add to the same text come as one that adds all of it. */
  *joined(events: Buffer): Generator<CompletionChunk> {
    const all = events.toString()
    let text: string | undefined
    for (let at = 0; at < all.length; ) {
      const fit = this.#template?.fit(all, at)
      if (fit) {
        text = (text ?? '') + fit.text
        at = fit.end
        this.#misses = 0
        continue
      }
      if (text !== undefined) yield this.#template!.chunk(text, '')
      text = undefined
      const end = eventEnd(all, at)
      yield this.#parsed(all.slice(at, end))
      at = end
    }
    if (text !== undefined) yield this.#template!.chunk(text, '')
  }

  #parsed(event: string): CompletionChunk {
    const data = parseChunk(event)
    if (this.#misses < mostMisses) {
      const template = EventTemplate.of(event, data)
      if (template) this.#misses += 1
      this.#template = template ?? this.#template
    }
    return data
  }
}

/** Where the event ends that begins here: after its blank line, or at the end. */
function eventEnd(text: string, at: number): number {
  const blank = /\n\r?\n/g
  blank.lastIndex = at
  return blank.test(text) ? blank.lastIndex : text.length
}
