import {
  type Call,
  type ChoiceDelta,
  Chunk,
  type CompletionChunk,
  type Delta,
  type StreamDecoder,
  type Target,
} from '#kernel'
import { carriesData, EventSplitter, eventData, isDone } from '#kit'
import { brief, jsonObject, protocolError, StreamedCalls } from '#provider'
import { finishOf, isCut } from './finish.ts'
import { logprobsOf } from './logprobs.ts'
import { canonicalUsage } from './usage.ts'
import type { ChatEvent, WireToolCall } from './wire.ts'

const saidIn = ({ message }: ChatEvent): string =>
  typeof message === 'string' && message !== '' ? brief(message, 500) : 'no message'

/** Reads a streamed answer: events that open, fill and close parts of one message, and one that ends it. */
export class EventDecoder implements StreamDecoder {
  readonly #call: Call
  readonly #target: Target
  readonly #created = Math.floor(Date.now() / 1000)
  readonly #splitter = new EventSplitter()
  readonly #calls = new StreamedCalls()
  /** The places of calls among the calls; the events number them in their own way. */
  readonly #places = new Map<number, number>()
  #count = 0
  #id: string | undefined
  #begun = false
  #ended = false

  constructor(call: Call, target: Target) {
    this.#call = call
    this.#target = target
  }

  /** With `message-end`. */
  get isOver(): boolean {
    return this.#ended
  }

  *push(bytes: Buffer): Generator<Chunk> {
    for (const event of this.#splitter.push(bytes)) {
      if (this.#ended) return
      yield* this.#chunks(event)
    }
  }

  *end(): Generator<Chunk> {
    if (this.isOver) return
    const rest = this.#splitter.end()
    if (rest) yield* this.#chunks(rest)
    if (!this.#ended) throw this.#broken('ended its stream in the middle of the answer')
  }

  #chunks(bytes: Buffer): Chunk[] {
    if (!carriesData(bytes) || isDone(bytes)) return []
    const event = jsonObject(eventData(bytes), this.#target, 'sent an event that is') as ChatEvent
    const { delta, type, index = 0 } = event
    switch (type) {
      case 'message-start':
        this.#id = event.id
        return [this.#chunk({})]
      case 'content-start':
      case 'content-delta': {
        const { text, thinking } = delta?.message?.content ?? {}
        const said: Delta = text ? { content: text } : thinking ? { reasoning_content: thinking } : {}
        const logprobs = event.logprobs ? { logprobs: logprobsOf([event.logprobs]) } : {}
        return text || thinking || event.logprobs ? [this.#chunk(said, logprobs)] : []
      }
      case 'tool-plan-delta':
        return delta?.message?.tool_plan ? [this.#chunk({ reasoning_content: delta.message.tool_plan })] : []
      case 'tool-call-start':
        return this.#toolCall(true, delta?.message?.tool_calls ?? {}, index)
      case 'tool-call-delta':
        return this.#toolCall(false, delta?.message?.tool_calls ?? {}, index)
      case 'citation-start':
        return delta?.message?.citations ? [this.#chunk({ citations: [delta.message.citations].flat() })] : []
      case 'message-end':
        return this.#end(event)
      case undefined:
        throw this.#broken(`reported an error: ${saidIn(event)}`)
      default:
        return []
    }
  }

  #toolCall(begins: boolean, { id, function: fn }: WireToolCall, index: number): Chunk[] {
    const known = begins ? undefined : this.#places.get(index)
    const place = known ?? this.#count
    const opening = { id: id || `call_${place}`, type: 'function' as const }
    if (known === undefined) {
      this.#places.set(index, place)
      this.#count += 1
    }
    const call = this.#calls.take({
      index: place,
      ...(known === undefined && opening),
      function: { ...(known === undefined && { name: fn?.name ?? '' }), arguments: fn?.arguments },
    })
    return known === undefined || call.function?.arguments ? [this.#chunk({ tool_calls: [call] })] : []
  }

  #end({ delta }: ChatEvent): Chunk[] {
    const native = delta?.finish_reason ?? 'ERROR'
    const finish_reason = finishOf(native, delta?.error, this.#target)
    this.#ended = true
    const silent = isCut(native) ? [] : this.#calls.end()
    const chunks = silent.map((call) => this.#chunk({ tool_calls: [call] }))
    chunks.push(this.#chunk({}, { finish_reason, native_finish_reason: native }))
    if (!delta?.usage) return chunks
    return [...chunks, Chunk.of({ ...this.#head(), choices: [], usage: canonicalUsage(delta.usage) })]
  }

  #chunk(delta: Delta, more: Partial<ChoiceDelta> = {}): Chunk {
    const opening = this.#begun ? {} : { role: 'assistant' as const }
    this.#begun = true
    const choice = { index: 0, delta: { ...opening, ...delta }, finish_reason: null, ...more }
    return Chunk.of({ ...this.#head(), choices: [choice] })
  }

  #head(): Omit<CompletionChunk, 'choices'> {
    return {
      id: `chatcmpl-${this.#id ?? this.#call.id}`,
      object: 'chat.completion.chunk',
      created: this.#created,
      model: this.#target.model,
    }
  }

  #broken(what: string, cause?: unknown): Error {
    return protocolError(this.#target, what, { retryable: !this.#call.cancel.aborted, cause })
  }
}
