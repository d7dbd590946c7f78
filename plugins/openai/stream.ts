import {
  type Call,
  Chunk,
  type CompletionChunk,
  type StreamDecoder,
  type Target,
  UpstreamError,
} from '#kernel'
import { ChunkReader, carriesData, EventSplitter, eventData, hasContent, isDone, isSound } from '#kit'
import { brief } from '#provider'
import { statusOf } from './answer.ts'
import { CallReader, mapped } from './calls.ts'
import { withKnownEnd } from './ends.ts'
import { upstreamError, type WireError, wordsOf } from './errors.ts'
import type { Quirks } from './quirks.ts'
import { listsContent, withThoughtsApart } from './thoughts.ts'
import { canonicalUsage } from './usage.ts'

/** Usage, the end of a choice, or an error, from the bytes of an unparsed event; null if it has none. */
const telling = /"(?:usage|finish_reason)"[ :]*[^ :n]|"error"/
/** The same, or a part of a tool call; looked for where there are tools to call. */
const tellingCalls = /"(?:(?:usage|finish_reason)"[ :]*[^ :n]|error"|tool_calls"[ :]*\[)/

type Usage = CompletionChunk['usage']

/** Usage in a place of the provider's own, or with the choice that it ends. */
function usageElsewhere(data: CompletionChunk, { usage_at: at }: Quirks): Usage {
  const holder = at === undefined ? data.choices[0] : data[at]
  return (holder as { readonly usage?: Usage } | null | undefined)?.usage
}

/**
 * Cuts a stream into chunks that keep their bytes. Parses only those that tell something the gateway needs to know:
 * usage, the end of a choice, an error. Neighbours that are written alike, but for the text that they add, are one chunk.
 */
export class EventDecoder implements StreamDecoder {
  readonly #target: Target
  readonly #quirks: Quirks
  readonly #thoughtsInContent: boolean
  readonly #notable: RegExp
  readonly #call: Call
  readonly #splitter = new EventSplitter()
  readonly #reader = new ChunkReader()
  readonly #calls = new CallReader()
  /** Up to the first content every event is parsed: until then another provider can still give the answer. */
  #begun = false
  /** The choices that have begun, and whether they have ended. Where there may be several, every event is parsed. */
  readonly #choices = new Map<number, boolean>()
  readonly #maySplit: boolean
  #isOver = false

  constructor(target: Target, quirks: Quirks, call: Call) {
    this.#target = target
    this.#quirks = quirks
    this.#notable = (call.request.tools ?? []).length > 0 ? tellingCalls : telling
    this.#thoughtsInContent = quirks.thoughts_in_content
    this.#call = call
    const { n, prompt } = call.request
    this.#maySplit = (typeof n === 'number' && n > 1) || Array.isArray(prompt)
  }

  /** With `[DONE]`. */
  get isOver(): boolean {
    return this.#isOver
  }

  *push(bytes: Buffer): Generator<Chunk> {
    this.#splitter.add(bytes)
    while (!this.#isOver) {
      const run = this.#reader.run(this.#splitter)
      if (run) yield run
      const event = this.#splitter.next()
      if (!event) return
      const chunk = this.#chunk(event)
      if (chunk) yield chunk
    }
  }

  *end(): Generator<Chunk> {
    if (this.#isOver) return
    const rest = this.#splitter.end()
    const chunk = rest && this.#chunk(rest)
    if (chunk) yield chunk
    if (!this.#isOver && !this.#isComplete())
      throw this.#broken('ended its stream in the middle of the answer')
  }

  /** Not all providers send `[DONE]`. */
  #isComplete(): boolean {
    return this.#choices.size > 0 && [...this.#choices.values()].every((hasEnded) => hasEnded)
  }

  #chunk(event: Buffer): Chunk | undefined {
    if (!carriesData(event)) return undefined
    if (isDone(event)) {
      if (this.#choices.size === 0) throw this.#broken('ended its stream without an answer')
      this.#isOver = true
      return undefined
    }
    const isListed = this.#thoughtsInContent && listsContent(event)
    if (this.#begun && !this.#maySplit && !isListed) {
      const text = event.toString('latin1')
      if (!this.#notable.test(text) || (!telling.test(text) && !this.#calls.concerns(text)))
        return this.#reader.unread(event)
    }
    const parsed = this.#parse(event)
    const data = this.#understood(isListed ? withThoughtsApart(parsed) : parsed)
    if (!this.#begun && hasContent(data)) {
      this.#begun = true
      if (data === parsed && !this.#maySplit) this.#reader.expect(event, data)
    }
    for (const { index, delta, text, finish_reason } of data.choices) {
      if (delta || typeof text === 'string' || finish_reason)
        this.#choices.set(index, !!finish_reason || this.#choices.get(index) === true)
    }
    return data === parsed ? Chunk.fromBytes(event, data) : Chunk.of(data)
  }

  /** An event in the form that all clients understand; the same object where it has that form. */
  #understood(parsed: CompletionChunk): CompletionChunk {
    const choices = mapped(parsed.choices, (choice) => withKnownEnd(choice, this.#quirks))
    const data = this.#calls.read(choices === parsed.choices ? parsed : { ...parsed, choices })
    const reported = data.usage ?? usageElsewhere(data, this.#quirks)
    if (!reported) return data
    const usage = canonicalUsage(reported, this.#quirks)
    return usage === data.usage ? data : { ...data, usage }
  }

  #parse(event: Buffer): CompletionChunk {
    const data = this.#json(event)
    if (data.error) throw this.#reported(data.error)
    if (!Array.isArray(data.choices)) return { ...data, choices: [] }
    if (!isSound(data)) throw this.#broken('sent an invalid event')
    return data
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
    const { code } = typeof error === 'string' ? {} : error
    const status = statusOf(code)
    if (status !== undefined) {
      return upstreamError({ status, headers: {} }, Buffer.from(JSON.stringify({ error })), this.#target)
    }
    const { message = 'no message', native = 'error' } = wordsOf(error)
    return this.#error(`reported an error: ${brief(message, 500)}`, native)
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
