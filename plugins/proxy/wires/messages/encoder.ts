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
import { ByteRun, estimateTokens, eventData, requestTexts } from '#kit'
import { errorOf } from './errors.ts'
import { Pieces } from './pieces.ts'
import type { Block } from './schema.ts'
import { stopOf } from './stop.ts'
import { nativeUsage } from './usage.ts'
import { BlockWriter, event, type Piece } from './writer.ts'

const deltaEvent = Buffer.from('event: content_block_delta\n')

/** An event of the provider's own stream. */
interface PassedEvent {
  readonly type?: string
  readonly index?: number
  readonly content_block?: Block
  readonly message?: { readonly content?: readonly Block[] | null }
}

/**
 * Writes a stream of the wire: the start of the message, its blocks one after another, why it ended, its end. Events
 * of a provider that speaks the wire pass as they came until a module changes one; from then on everything is
 * written anew, going on where they were.
 */
export class MessagesEncoder implements StreamEncoder {
  readonly #request: ModelRequest
  readonly #writer = new BlockWriter()
  readonly #pieces = new Pieces()
  readonly #take = (piece: Piece): void => {
    this.#text += this.#writer.write(piece)
  }
  /** What has been written of the batch so far. */
  #text = ''
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
    const passed: ByteRun[] = []
    let at = 0
    for (; this.#passing && at < batch.length; at += 1) {
      const { raw, data } = batch[at]!
      if (!raw) break
      for (const event of this.#passed(raw, data))
        if (!passed.at(-1)?.extend(event)) passed.push(new ByteRun(event))
    }
    if (at < batch.length) this.#passing = false
    this.#text = ''
    for (; at < batch.length; at += 1) this.#write(batch[at]!.data)
    if (passed.length === 0) return this.#text
    if (passed.length === 1 && this.#text === '') return passed[0]!.bytes
    return Buffer.concat([...passed.map(({ bytes }) => bytes), Buffer.from(this.#text)])
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

  #write(data: CompletionChunk): void {
    if (this.#state === 'new') this.#text += this.#start(data)
    if (data.usage) this.#usage = data.usage
    if (this.#state !== 'begun') return
    for (const choice of data.choices) {
      if (choice.index !== 0) continue
      const spoken = choice.delta ?? (choice.text ? { content: choice.text } : undefined)
      if (spoken) this.#pieces.cut(spoken, this.#take)
      if (choice.finish_reason) this.#finish = choice
    }
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

  /** Estimates the tokens of the prompt, as the provider gives its count at the end only. */
  #estimate(): number {
    const texts = requestTexts(this.#request).map(({ text }) => text)
    return estimateTokens(texts)
  }

  #told(): string {
    this.#state = 'told'
    this.#text = ''
    this.#pieces.end(this.#take)
    return (
      this.#text +
      this.#writer.end() +
      event({
        type: 'message_delta',
        delta: stopOf(this.#finish, this.#pieces),
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
    const deltas = data.choices.map(({ delta = {} }) => delta)
    for (const delta of deltas) this.#pieces.skip(delta)
    if (raw.length > deltaEvent.length && deltaEvent.compare(raw, 0, deltaEvent.length) === 0) {
      for (const { tool_calls } of deltas)
        for (const call of tool_calls ?? []) this.#writer.follow(call.function?.arguments ?? '')
      return [...before, raw]
    }
    const { type, index = 0, content_block: block, message } = JSON.parse(eventData(raw)) as PassedEvent
    if (type === 'content_block_stop') {
      this.#blockEnd = raw
      return before
    }
    if (type === 'message_start') this.#begun(message?.content ?? [])
    else if (type === 'content_block_start') this.#adopt(index, block)
    else if (type === 'message_delta') this.#state = 'told'
    else if (type === 'message_stop') this.#state = 'ended'
    return [...before, raw]
  }

  /** A message may begin with blocks, which are whole. */
  #begun(blocks: readonly Block[]): void {
    this.#state = 'begun'
    for (const [index, block] of blocks.entries()) {
      this.#adopt(index, block)
      this.#writer.leave()
    }
  }

  #adopt(index: number, block: Block | undefined): void {
    const isTool = block?.type === 'tool_use'
    const kind = block?.type === 'text' ? 'text' : isTool ? `tool:${this.#calls}` : `thinking:${index}`
    if (isTool) this.#calls += 1
    this.#writer.adopt(index, kind, isTool)
  }
}
