import type { ChoiceDelta, CompletionChunk, Delta, Target } from '#kernel'
import { markedSignature, protocolError } from '#provider'
import { finishOf } from './finish.ts'
import type { Plan } from './plan.ts'
import { formatOf } from './reasoning.ts'
import { wireUsage } from './usage.ts'
import type { EventPayload } from './wire.ts'

/** A tool call that has begun and not ended. */
interface OpenCall {
  /** Which of the answer's calls it is. */
  readonly call: number
  written: boolean
}

/** The state of one streamed message: what its events come to as chunks. Throws for an event that cannot come here. */
export class Translation {
  ended = false
  /** Whether no more events come: the usage of an answer comes after its end. */
  isOver = false
  readonly #plan: Plan
  readonly #target: Target
  readonly #head: Omit<CompletionChunk, 'choices'>
  readonly #calls = new Map<number, OpenCall>()
  #begun = false
  #count = 0
  /** Text beside the tool that stands for a schema; undefined once that tool is called. */
  #beside: string | undefined = ''

  constructor(plan: Plan, target: Target, id: string) {
    this.#plan = plan
    this.#target = target
    this.#head = {
      id,
      object: 'chat.completion.chunk',
      created: Math.floor(Date.now() / 1000),
      model: target.model,
    }
  }

  /** The chunks of one event; none for an event with an unknown name. */
  translate(name: string, event: EventPayload): CompletionChunk[] {
    switch (name) {
      case 'messageStart':
        this.#demand(!this.#begun, 'began a second message in one answer')
        this.#begun = true
        return [this.#chunk({ role: 'assistant', content: '' })]
      case 'contentBlockStart':
        this.#demand(this.#begun && !this.ended, 'began a block out of order')
        return this.#start(event)
      case 'contentBlockDelta':
        this.#demand(this.#begun && !this.ended, 'went on with a message that was not there')
        return this.#delta(event)
      case 'contentBlockStop':
        return this.#stop(event)
      case 'messageStop':
        this.#demand(this.#begun && !this.ended, 'ended a message that was not there')
        this.ended = true
        return [
          // Words instead of the tool's call are the answer of a model that declines.
          ...(this.#beside ? [this.#chunk({ content: this.#beside })] : []),
          this.#chunk({}, finishOf(event, this.#plan.schemaAsTool, this.#target)),
        ]
      case 'metadata':
        this.isOver = this.ended
        return event.usage ? [{ ...this.#head, choices: [], usage: wireUsage(event.usage) }] : []
      default:
        return []
    }
  }

  #start({ contentBlockIndex: index = 0, start }: EventPayload): CompletionChunk[] {
    if (!start?.toolUse) return []
    this.#demand(!this.#calls.has(index), 'began the same block twice')
    const call = this.#count
    this.#calls.set(index, { call, written: false })
    this.#count += 1
    if (this.#plan.schemaAsTool) return []
    const { toolUseId, name } = start.toolUse
    const fn = { name: name, arguments: '' }
    return [this.#chunk({ tool_calls: [{ index: call, id: toolUseId, type: 'function', function: fn }] })]
  }

  #delta({ contentBlockIndex: index = 0, delta = {} }: EventPayload): CompletionChunk[] {
    const { text, toolUse, reasoningContent, citation } = delta
    if (text) return this.#text(text)
    if (toolUse) {
      const open = this.#calls.get(index)
      this.#demand(open !== undefined, 'went on with a tool call that it had not begun')
      return this.#json(open!, toolUse.input ?? '')
    }
    if (reasoningContent) return this.#reasoning(index, reasoningContent)
    return citation ? [this.#chunk({ annotations: [citation] })] : []
  }

  #text(text: string): CompletionChunk[] {
    if (!this.#plan.schemaAsTool) return [this.#chunk({ content: text })]
    if (this.#beside !== undefined) this.#beside += text
    return []
  }

  #json(open: OpenCall, json: string): CompletionChunk[] {
    if (json === '') return []
    open.written = true
    if (!this.#plan.schemaAsTool)
      return [this.#chunk({ tool_calls: [{ index: open.call, function: { arguments: json } }] })]
    this.#beside = undefined
    return [this.#chunk({ content: json })]
  }

  #reasoning(
    index: number,
    { text, signature, redactedContent }: NonNullable<NonNullable<EventPayload['delta']>['reasoningContent']>,
  ): CompletionChunk[] {
    const format = formatOf(this.#plan.facts.maker)
    const about = { format, index }
    if (redactedContent !== undefined) {
      const detail = { type: 'reasoning.encrypted', ...about, data: redactedContent }
      return [this.#chunk({ reasoning_details: [detail] })]
    }
    if (!text && !signature) return []
    const detail = {
      type: 'reasoning.text',
      ...about,
      ...(text ? { text } : { signature: markedSignature(format, signature!) }),
    }
    return [this.#chunk({ reasoning_details: [detail], ...(text && { reasoning_content: text }) })]
  }

  /** A call without arguments has no delta at all. */
  #stop({ contentBlockIndex: index = 0 }: EventPayload): CompletionChunk[] {
    const open = this.#calls.get(index)
    this.#calls.delete(index)
    return open && !open.written ? this.#json(open, '{}') : []
  }

  #chunk(delta: Delta, finish: Partial<ChoiceDelta> = { finish_reason: null }): CompletionChunk {
    return { ...this.#head, choices: [{ index: 0, delta, ...finish }] }
  }

  #demand(holds: boolean, what: string): void {
    if (!holds) throw protocolError(this.#target, what, { retryable: true })
  }
}
