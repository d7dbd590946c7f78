import type { ChoiceDelta, CompletionChunk, Delta, Target, WireUsage } from '#kernel'
import { parseForeign } from '#kit'
import { argumentsText, claudeReasoning as format } from '#provider'
import { annotationOf } from './citations.ts'
import { brokenProtocol, eventError } from './errors.ts'
import { finishOf, type Stop } from './finish.ts'
import { grow, type NativeEvent, type OpenBlock } from './open-block.ts'
import type { Plan } from './plan.ts'
import { detailOf } from './reasoning.ts'
import { mergeUsage, type NativeUsage, wireUsage } from './usage.ts'

/** The state of one streamed message: what its events come to as chunks. */
export class Translation {
  ended = false
  readonly #plan: Plan
  readonly #target: Target
  readonly #open = new Map<number, OpenBlock>()
  #head: Omit<CompletionChunk, 'choices'> = { object: 'chat.completion.chunk' }
  #begun = false
  #finished = false
  #calls = 0
  #usage: NativeUsage = {}
  /** Text beside the tool that stands for a schema; undefined once that tool is called. */
  #beside: string | undefined = ''

  constructor(plan: Plan, target: Target) {
    this.#plan = plan
    this.#target = target
  }

  /** The tokens counted so far; undefined before the first count. */
  get counted(): WireUsage | undefined {
    return this.#begun ? wireUsage(this.#usage) : undefined
  }

  /** A chunk that says nothing. */
  get empty(): CompletionChunk {
    return { ...this.#head, choices: [] }
  }

  /** The chunks of one event; throws for one that reports an error, or that cannot come here. */
  translate(event: NativeEvent): CompletionChunk[] {
    switch (event.type) {
      case 'error':
        throw eventError(event.error ?? {}, this.#target)
      case 'message_start':
        return this.#start(event)
      case 'content_block_start':
        return this.#blockStart(event)
      case 'content_block_delta':
        return this.#blockDelta(event)
      case 'content_block_stop':
        return this.#blockStop(event)
      case 'message_delta':
        return this.#messageDelta(event)
      case 'message_stop':
        this.#demand(this.#begun, 'ended a message that it had not begun')
        this.ended = true
        return []
      default:
        return []
    }
  }

  /**
   * A message may begin with what is there of it already, up to its end: code that calls tools goes on so. Some relays
   * begin the same message twice.
   */
  #start({ message = {} }: NativeEvent): CompletionChunk[] {
    const { id, model, content, usage } = message
    if (this.#begun && id !== undefined && id === this.#head.id) return []
    this.#demand(!this.#begun, 'began a second message in one answer')
    this.#begun = true
    this.#usage = mergeUsage({}, usage)
    this.#head = {
      ...(id !== undefined && { id }),
      object: 'chat.completion.chunk',
      created: Math.floor(Date.now() / 1000),
      ...(model !== undefined && { model }),
    }
    const there = (content ?? []).flatMap((block, index) => [
      ...this.#blockStart({ index, content_block: block }),
      ...this.#blockStop({ index }),
    ])
    const begun = [this.#chunk({ role: 'assistant', content: '' }), ...there]
    return message.stop_reason ? [...begun, ...this.#end(message)] : begun
  }

  #blockStart({ index = -1, content_block: block }: NativeEvent): CompletionChunk[] {
    this.#demand(this.#begun && block !== undefined && !this.#open.has(index), 'began a block out of order')
    const isCall = block!.type === 'tool_use' && !this.#plan.schemaAsTool
    const open: OpenBlock = { block: block!, call: isCall ? this.#calls : undefined, json: '', more: {} }
    this.#open.set(index, open)
    const detail = detailOf(block!, index)
    if (detail) {
      if (this.#plan.fit.thinking === 'hide') return []
      const says = detail.text || detail.signature || detail.data
      const spoken = detail.text ? { reasoning_content: detail.text } : {}
      return says ? [this.#chunk({ reasoning_details: [detail], ...spoken })] : []
    }
    if (block!.type === 'text')
      return [...this.#texts(String(block!.text ?? '')), ...this.#citations(block!.citations)]
    if (!isCall) return []
    this.#calls += 1
    return [this.#chunk({ tool_calls: [this.#callStart(open)] })]
  }

  #callStart({ block, call }: OpenBlock) {
    const { type: _, id, name, input: __, ...own } = block
    return {
      index: call!,
      id: String(id),
      type: 'function' as const,
      function: { name: String(name), arguments: '' },
      ...(Object.keys(own).length > 0 && { extra: { anthropic: own } }),
    }
  }

  #blockDelta({ index = -1, delta = {} }: NativeEvent): CompletionChunk[] {
    const open = this.#open.get(index)
    this.#demand(open !== undefined, 'went on with a block that it had not begun')
    switch (delta.type) {
      case 'text_delta':
        return this.#texts(delta.text ?? '')
      case 'thinking_delta':
        return this.#thinking(index, delta.thinking ?? '')
      case 'signature_delta':
        return this.#plan.fit.thinking === 'hide'
          ? []
          : [this.#detail(index, { signature: delta.signature ?? '' })]
      case 'citations_delta':
        return this.#citations([delta.citation])
      case 'input_json_delta':
        return this.#json(open!, delta.partial_json ?? '')
      default:
        grow(open!.more, delta as Record<string, unknown>)
        return []
    }
  }

  #texts(text: string): CompletionChunk[] {
    if (!this.#plan.schemaAsTool) return text === '' ? [] : [this.#chunk({ content: text })]
    if (this.#beside !== undefined) this.#beside += text
    return []
  }

  #citations(citations: unknown): CompletionChunk[] {
    if (!Array.isArray(citations) || citations.length === 0 || this.#plan.fit.citations === 'hide') return []
    return [this.#chunk({ annotations: citations.map(annotationOf) })]
  }

  #thinking(index: number, text: string): CompletionChunk[] {
    if (text === '' || this.#plan.fit.thinking === 'hide') return []
    return [this.#detail(index, { text }, { reasoning_content: text })]
  }

  #detail(index: number, fields: object, beside: Delta = {}): CompletionChunk {
    return this.#chunk({
      reasoning_details: [{ type: 'reasoning.text', format, index, ...fields }],
      ...beside,
    })
  }

  #json(open: OpenBlock, json: string): CompletionChunk[] {
    open.json += json
    if (json === '') return []
    if (open.call !== undefined)
      return [this.#chunk({ tool_calls: [{ index: open.call, function: { arguments: json } }] })]
    if (!this.#plan.schemaAsTool || open.block.type !== 'tool_use') return []
    this.#beside = undefined
    return [this.#chunk({ content: json })]
  }

  #blockStop({ index = -1 }: NativeEvent): CompletionChunk[] {
    const open = this.#open.get(index)
    this.#demand(open !== undefined, 'ended a block that it had not begun')
    this.#open.delete(index)
    const { block, call, json, more } = open!
    if (block.type === 'tool_use') return json === '' ? this.#json(open!, argumentsText(block.input)) : []
    if (call !== undefined || block.type === 'text' || detailOf(block, index)) return []
    const input = json === '' ? {} : { input: this.#parsed(json) }
    return [this.#chunk({ vendor_blocks: [{ index, ...block, ...more, ...input }] })]
  }

  #parsed(json: string): unknown {
    try {
      return parseForeign(json)
    } catch (error) {
      throw brokenProtocol('sent the input of a tool that is not JSON', this.#target, error)
    }
  }

  #messageDelta({ delta = {}, usage }: NativeEvent): CompletionChunk[] {
    this.#demand(this.#begun, 'ended a message that it had not begun')
    this.#usage = mergeUsage(this.#usage, usage)
    return this.#end(delta)
  }

  /** Why the message ended, if it did and nothing has said so before, and what has been counted. */
  #end(stop: Stop): CompletionChunk[] {
    const finish = finishOf(stop, this.#plan.schemaAsTool)
    const isNews = finish.finish_reason !== null && !this.#finished
    this.#finished ||= isNews
    // Words instead of the tool's call are the answer of a model that declines.
    const beside = isNews && this.#beside ? [this.#chunk({ content: this.#beside })] : []
    return [
      ...beside,
      ...(isNews ? [this.#chunk({}, finish)] : []),
      { ...this.empty, usage: wireUsage(this.#usage) },
    ]
  }

  #chunk(delta: Delta, finish: Partial<ChoiceDelta> = { finish_reason: null }): CompletionChunk {
    return { ...this.#head, choices: [{ index: 0, delta, ...finish }] }
  }

  #demand(holds: boolean, what: string): void {
    if (!holds) throw brokenProtocol(what, this.#target)
  }
}
