import {
  type Call,
  Chunk,
  type CompletionChunk,
  type StreamDecoder,
  type Target,
  UpstreamError,
} from '#kernel'
import { ChunkReader, carriesData, EventSplitter, eventData, hasContent, isDone, isSound } from '#kit'
import { statusOf } from './answer.ts'
import { upstreamError, type WireError } from './errors.ts'
import type { Quirks } from './quirks.ts'
import { listsContent, withThoughtsApart } from './thoughts.ts'

/** Usage, the end of a choice, or an error, told by an event that nobody has parsed; null tells nothing. */
const telling = /"(?:usage|finish_reason)"[ :]*[^ :n]|"error"/

/**
 * Cuts a stream into chunks that keep their bytes. Parses only those that tell something the gateway needs to know:
 * usage, the end of a choice, an error.
 */
export class EventDecoder implements StreamDecoder {
  readonly #target: Target
  readonly #usageAt: string | undefined
  readonly #thoughtsInContent: boolean
  readonly #call: Call
  readonly #splitter = new EventSplitter()
  readonly #reader = new ChunkReader()
  /** Up to the first content every event is parsed: until then the answer can still be had from somebody else. */
  #begun = false
  #ended = false

  constructor(target: Target, quirks: Quirks, call: Call) {
    this.#target = target
    this.#usageAt = quirks.usage_at
    this.#thoughtsInContent = quirks.thoughts_in_content
    this.#call = call
  }

  *push(bytes: Buffer): Generator<Chunk> {
    for (const event of this.#splitter.push(bytes)) {
      const chunk = this.#chunk(event)
      if (chunk) yield chunk
    }
  }

  *end(): Generator<Chunk> {
    const rest = this.#splitter.end()
    const chunk = rest && this.#chunk(rest)
    if (chunk) yield chunk
    if (!this.#ended) throw this.#broken('ended its stream in the middle of the answer')
  }

  #chunk(event: Buffer): Chunk | undefined {
    if (!carriesData(event)) return undefined
    if (isDone(event)) {
      this.#ended = true
      return undefined
    }
    const isListed = this.#thoughtsInContent && listsContent(event)
    if (this.#begun && !isListed && !telling.test(event.toString('latin1')))
      return Chunk.unread(event, this.#reader)
    const parsed = this.#parse(event)
    const data = isListed ? withThoughtsApart(parsed) : parsed
    this.#begun ||= hasContent(data)
    if (data.choices.some(({ finish_reason }) => finish_reason)) this.#ended = true
    return isListed || this.#hasUsageElsewhere(parsed) ? Chunk.of(data) : Chunk.fromBytes(event, data)
  }

  /** Clients look for usage where OpenAI has it. */
  #hasUsageElsewhere(data: CompletionChunk): boolean {
    return this.#usageAt !== undefined && !!data.usage && data[this.#usageAt] !== undefined
  }

  #parse(event: Buffer): CompletionChunk {
    const data = this.#json(event)
    if (data.error) throw this.#reported(data.error)
    if (!Array.isArray(data.choices)) return { ...data, choices: [] }
    if (!isSound(data)) throw this.#broken('sent an event that makes no sense')
    const elsewhere = this.#usageAt === undefined ? undefined : data[this.#usageAt]
    const usage = (elsewhere as { usage?: CompletionChunk['usage'] } | undefined)?.usage
    return usage && !data.usage ? { ...data, usage } : data
  }

  #json(event: Buffer): CompletionChunk & { readonly error?: WireError | string } {
    try {
      const data = JSON.parse(eventData(event)) as CompletionChunk | null
      if (typeof data === 'object' && data !== null) return data
    } catch {
      // Not JSON: the same failure as JSON that is no object.
    }
    throw this.#broken('sent an event that is not a JSON object')
  }

  #reported(error: WireError | string): UpstreamError {
    const { message, code } = typeof error === 'string' ? { message: error } : error
    const status = statusOf(code)
    if (status !== undefined) {
      return upstreamError({ status, headers: {} }, Buffer.from(JSON.stringify({ error })), this.#target)
    }
    const native = code === undefined ? 'error' : String(code)
    return this.#error(`reported an error: ${String(message ?? 'no message').slice(0, 500)}`, native)
  }

  #broken(what: string, cause?: unknown): UpstreamError {
    return this.#error(what, undefined, cause)
  }

  #error(what: string, native: string | undefined, cause?: unknown): UpstreamError {
    const { provider, model } = this.#target
    return new UpstreamError('provider_error', `The provider ${provider.name} ${what}.`, {
      provider: provider.name,
      model,
      fault: 'protocol',
      retryable: !this.#call.cancel.aborted,
      native,
      cause,
    })
  }
}
