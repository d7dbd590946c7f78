import type {
  ChoiceDelta,
  Chunk,
  CompletionChunk,
  GatewayError,
  ModelRequest,
  StreamEncoder,
  WireUsage,
} from '#kernel'
import { newId } from '#kernel'
import { estimateTokens, eventData, requestTexts } from '#kit'
import { errorOf } from './errors.ts'
import { Pieces } from './pieces.ts'
import type { Block } from './schema.ts'
import { stopOf } from './stop.ts'
import { nativeUsage } from './usage.ts'
import { BlockWriter, event } from './writer.ts'

const deltaEvent = Buffer.from('event: content_block_delta\n')

/** An event of the provider's own stream. */
interface PassedEvent {
  readonly type?: string
  readonly index?: number
  readonly content_block?: Block
}

/**
 * Writes a stream of the wire: the start of the message, its blocks one after another, why it ended, its end. Events
 * of a provider that speaks the wire pass as they came for as long as nobody changes one; from then on everything is
 * written anew, going on where they were.
 */
export class MessagesEncoder implements StreamEncoder {
  readonly #request: ModelRequest
  readonly #writer = new BlockWriter()
  readonly #pieces = new Pieces()
  #passing: boolean
  #state: 'new' | 'begun' | 'told' | 'ended' = 'new'
  #finish: Partial<ChoiceDelta> = {}
  #usage: WireUsage | undefined
  /** The end of a block that is about to pass. */
  #blockEnd: Buffer | undefined
  /** Tool calls among the blocks that passed. */
  #calls = 0

  constructor(passing: boolean, request: ModelRequest) {
    this.#passing = passing
    this.#request = request
  }

  chunks(batch: readonly Chunk[]): Buffer | string {
    const parts: Buffer[] = []
    for (const chunk of batch) {
      if (this.#passing && chunk.raw) parts.push(...this.#passed(chunk.raw, chunk.data))
      else {
        this.#passing = false
        const text = this.#written(chunk.data)
        if (text !== '') parts.push(Buffer.from(text))
      }
    }
    return parts.length === 1 ? parts[0]! : parts.length === 0 ? '' : Buffer.concat(parts)
  }

  end(): string {
    let text = ''
    if (this.#state === 'new') text += this.#start({ choices: [] })
    if (this.#state === 'begun') text += this.#told()
    if (this.#state === 'ended') return text
    this.#state = 'ended'
    return text + event({ type: 'message_stop' })
  }

  fail(error: GatewayError, requestId: string): string {
    return event({ ...errorOf(error, requestId) })
  }

  #written(data: CompletionChunk): string {
    let text = this.#state === 'new' ? this.#start(data) : ''
    if (data.usage) this.#usage = data.usage
    if (this.#state !== 'begun') return text
    for (const { index, delta, text: said, ...choice } of data.choices) {
      if (index !== 0) continue
      const spoken = delta ?? (said ? { content: said } : {})
      for (const piece of this.#pieces.of(spoken)) text += this.#writer.write(piece)
      if (choice.finish_reason) this.#finish = choice
    }
    return text
  }

  #start({ id, model, usage }: CompletionChunk): string {
    this.#state = 'begun'
    const known = usage ? nativeUsage(usage) : { ...nativeUsage(undefined), input_tokens: this.#estimate() }
    return event({
      type: 'message_start',
      message: {
        id: id || newId('msg_'),
        type: 'message',
        role: 'assistant',
        model: model || this.#request.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: known,
      },
    })
  }

  /** What the provider counts it tells at the end only. */
  #estimate(): number {
    return requestTexts(this.#request).reduce((sum, { text }) => sum + estimateTokens(text), 0)
  }

  #told(): string {
    this.#state = 'told'
    let text = ''
    for (const piece of this.#pieces.end()) text += this.#writer.write(piece)
    return (
      text +
      this.#writer.end() +
      event({
        type: 'message_delta',
        delta: stopOf(this.#finish),
        usage: nativeUsage(this.#usage),
      })
    )
  }

  /**
   * An event that passes. Keeps up with it, so that others can be written after it. The end of a block waits for what
   * follows: a module may still let go of text that belongs into it.
   */
  #passed(raw: Buffer, data: CompletionChunk): Buffer[] {
    const before = this.#blockEnd ? [this.#blockEnd] : []
    if (this.#blockEnd) this.#writer.leave()
    this.#blockEnd = undefined
    if (data.usage) this.#usage = data.usage
    const delta = data.choices[0]?.delta ?? {}
    this.#pieces.skip(delta)
    if (raw.subarray(0, deltaEvent.length).equals(deltaEvent)) {
      for (const call of delta.tool_calls ?? []) this.#writer.follow(call.function?.arguments ?? '')
      return [...before, raw]
    }
    const { type, index = 0, content_block: block } = JSON.parse(eventData(raw)) as PassedEvent
    if (type === 'content_block_stop') {
      this.#blockEnd = raw
      return before
    }
    if (type === 'message_start') this.#state = 'begun'
    else if (type === 'content_block_start') this.#adopt(index, block)
    else if (type === 'message_delta') this.#state = 'told'
    else if (type === 'message_stop') this.#state = 'ended'
    return [...before, raw]
  }

  #adopt(index: number, block: Block | undefined): void {
    const isTool = block?.type === 'tool_use'
    const kind = block?.type === 'text' ? 'text' : isTool ? `tool:${this.#calls}` : `thinking:${index}`
    if (isTool) this.#calls += 1
    this.#writer.adopt(index, kind, isTool)
  }
}
