import { Chunk, type StreamDecoder, type Target } from '#kernel'
import { carriesData, EventShape, EventSplitter, eventData, joinChunks, readable } from '#kit'
import { jsonObject } from '#provider'
import { brokenProtocol } from './errors.ts'
import { Translation } from './events.ts'
import type { NativeEvent } from './open-block.ts'
import type { Plan } from './plan.ts'

/** The deltas of which there are many in a message, with the field of their text. */
const growing = new Map([
  ['text_delta', 'text'],
  ['thinking_delta', 'thinking'],
  ['input_json_delta', 'partial_json'],
])

/** An event that may come again and again with another text in the field. */
interface Repeated {
  readonly native: NativeEvent
  readonly field: string
  readonly shape: EventShape
}

/**
 * Turns a streamed message into chunks, one for each event and with its bytes where the client speaks the protocol
 * itself. Neighbours that add to the same text are one. The answer is complete with `message_stop` and with nothing else.
 */
export class MessageDecoder implements StreamDecoder {
  readonly #target: Target
  readonly #native: boolean
  readonly #splitter = new EventSplitter()
  readonly #translation: Translation
  #repeated: Repeated | undefined

  constructor(target: Target, plan: Plan) {
    this.#target = target
    this.#native = plan.native
    this.#translation = new Translation(plan, target)
  }

  get isOver(): boolean {
    return this.#translation.ended
  }

  *push(bytes: Buffer): Generator<Chunk> {
    this.#splitter.add(bytes)
    while (!this.isOver) {
      yield* this.#again()
      const event = this.#splitter.next()
      if (!event) return
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

  /** The events that come next and say the same as the one before, but for their texts: read as one that adds all of these. */
  #again(): Iterable<Chunk> {
    const run = this.#repeated && this.#splitter.run(this.#repeated.shape)
    if (!run) return []
    const { bytes, events } = run
    const { native, field, shape } = this.#repeated!
    const texts = readable(() => shape.textsOf(bytes))
    // One that is no JSON is refused in its turn.
    if (!texts) return this.#inTurn(shape.split(bytes))
    return this.#made({ ...native, delta: { ...native.delta, [field]: texts[0] } }, bytes, events)
  }

  *#inTurn(events: readonly Buffer[]): Generator<Chunk> {
    for (const event of events) yield* this.#chunks(event)
  }

  #chunks(event: Buffer): Chunk[] {
    if (!carriesData(event)) return []
    const native = jsonObject(eventData(event), this.#target, 'sent an event that is') as NativeEvent
    if (!isSound(native)) throw brokenProtocol('sent an invalid event', this.#target)
    const chunks = this.#made(native, event, 1)
    this.#repeated = repeatedBy(native, event) ?? this.#repeated
    return chunks
  }

  #made(native: NativeEvent, bytes: Buffer, events: number): Chunk[] {
    const chunks = this.#translation.translate(native)
    const begins = native.type === 'message_start'
    // One that begins again: a client of the protocol would take it for another message.
    if (begins && chunks.length === 0) return []
    const counted = begins ? this.#translation.counted : undefined
    if (!this.#native) return chunks.map((chunk) => Chunk.of(chunk, counted, events))
    const data = chunks.length > 0 ? joinChunks(chunks) : this.#translation.empty
    return [Chunk.fromBytes(bytes, data, counted, events)]
  }
}

/** A delta that others may follow which differ in their texts alone. */
function repeatedBy(native: NativeEvent, event: Buffer): Repeated | undefined {
  const field = native.type === 'content_block_delta' ? growing.get(native.delta?.type ?? '') : undefined
  const shape = field === undefined ? undefined : EventShape.of(event.toString(), [field])
  if (field === undefined || !shape) return undefined
  const probe = readable(() => JSON.parse(eventData(Buffer.from(shape.with(['text'])))) as NativeEvent)
  return (probe?.delta as Record<string, unknown> | undefined)?.[field] === 'text'
    ? { native, field, shape }
    : undefined
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
