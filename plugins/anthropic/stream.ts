import { Chunk, type StreamDecoder, type Target } from '#kernel'
import { carriesData, EventSplitter, eventData, joinChunks } from '#kit'
import { jsonObject } from '#provider'
import { brokenProtocol } from './errors.ts'
import { Translation } from './events.ts'
import type { NativeEvent } from './open-block.ts'
import type { Plan } from './plan.ts'

/**
 * Turns a streamed message into chunks, one for each event and with its bytes where the client speaks the protocol
 * itself. The answer is complete with `message_stop` and with nothing else.
 */
export class MessageDecoder implements StreamDecoder {
  readonly #target: Target
  readonly #native: boolean
  readonly #splitter = new EventSplitter()
  readonly #translation: Translation

  constructor(target: Target, plan: Plan) {
    this.#target = target
    this.#native = plan.native
    this.#translation = new Translation(plan, target)
  }

  get isOver(): boolean {
    return this.#translation.ended
  }

  *push(bytes: Buffer): Generator<Chunk> {
    for (const event of this.#splitter.push(bytes)) {
      if (this.isOver) return
      yield* this.#chunks(event)
    }
  }

  *end(): Generator<Chunk> {
    if (this.isOver) return
    const rest = this.#splitter.end()
    if (rest) yield* this.#chunks(rest)
    if (!this.#translation.ended)
      throw brokenProtocol('ended its stream in the middle of the answer', this.#target)
  }

  #chunks(event: Buffer): Chunk[] {
    if (!carriesData(event)) return []
    const native = jsonObject(eventData(event), this.#target, 'sent an event that is') as NativeEvent
    if (!isSound(native)) throw brokenProtocol('sent an invalid event', this.#target)
    const chunks = this.#translation.translate(native)
    const begins = native.type === 'message_start'
    // One that begins again: a client of the protocol would take it for another message.
    if (begins && chunks.length === 0) return []
    const counted = begins ? this.#translation.counted : undefined
    if (!this.#native) return chunks.map((chunk) => Chunk.of(chunk, counted))
    const data = chunks.length > 0 ? joinChunks(chunks) : this.#translation.empty
    return [Chunk.fromBytes(event, data, counted)]
  }
}

/** Whether what an event has is what can be looked into. */
function isSound({ message, content_block: block, delta }: NativeEvent): boolean {
  const parts: readonly unknown[] = [message, block, delta]
  const isObject = (part: unknown): boolean => typeof part === 'object' && part !== null
  const content: unknown = message?.content ?? []
  return (
    parts.every((part) => part === undefined || isObject(part)) &&
    Array.isArray(content) &&
    content.every(isObject)
  )
}
