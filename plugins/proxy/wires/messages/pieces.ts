import type { Delta, ToolCallDelta } from '#kernel'
import { type ReasoningDetail, thinkingBlock } from './reasoning.ts'
import type { Block } from './schema.ts'
import type { Piece } from './writer.ts'

/** A tool call, as far as it has come. */
interface Call {
  id: string | undefined
  name: string | undefined
  extra: object | undefined
  /** Arguments that came before the name. */
  held: string
}

/** Takes a piece of an answer. */
type Take = (piece: Piece) => void

/** Cuts the deltas of one answer into pieces of blocks. */
export class Pieces {
  readonly #calls = new Map<number, Call>()
  /** Whether reasoning comes with what is needed to go on with it; its bare text is then the same once more. */
  #detailed = false

  #refused = false

  /** Whether any of it was the words of a refusal. */
  get refusal(): boolean {
    return this.#refused
  }

  /** Whether any tool was called. */
  get calls(): boolean {
    return this.#calls.size > 0
  }

  /** Takes note of a delta that needs no writing. */
  skip(delta: Delta): void {
    this.cut(delta, () => {})
  }

  /** Hands on what a delta adds, in order. */
  cut(delta: Delta, take: Take): void {
    for (const detail of listOf<ReasoningDetail>(delta.reasoning_details)) {
      this.#detailed = true
      cutDetail(detail, take)
    }
    const thoughts = delta.reasoning_content ?? delta.reasoning
    if (!this.#detailed && isText(thoughts)) take(thought('thinking', thoughts))
    if (isText(delta.content)) take(said(delta.content))
    if (isText(delta.refusal)) {
      this.#refused = true
      take(said(delta.refusal))
    }
    for (const [i, { index, ...block }] of listOf<Block & { index?: number }>(delta.vendor_blocks).entries())
      take(piece(`vendor:${index ?? `-${i}`}`, block as Block))
    for (const [i, call] of (delta.tool_calls ?? []).entries()) this.#call(call, call.index ?? i, take)
  }

  /** Hands on calls whose names never came. */
  end(take: Take): void {
    for (const [index, call] of this.#calls) if (call.name === undefined) this.#named(index, call, '', take)
  }

  #call({ id, function: fn, extra }: ToolCallDelta, index: number, take: Take): void {
    const known = this.#calls.get(index)
    const call = known ?? { id: undefined, name: undefined, extra: undefined, held: '' }
    this.#calls.set(index, call)
    call.id ??= id
    call.extra ??= (extra as { anthropic?: object } | undefined)?.anthropic
    const json = fn?.arguments ?? ''
    if (call.name !== undefined) {
      if (json !== '') take(toolPiece(index, call, json))
      return
    }
    call.held += json
    if (fn?.name) this.#named(index, call, fn.name, take)
  }

  #named(index: number, call: Call, name: string, take: Take): void {
    call.name = name
    take(toolPiece(index, call, ''))
    if (call.held !== '') take(toolPiece(index, call, call.held))
  }
}

function toolPiece(index: number, { id, name, extra }: Call, json: string): Piece {
  const block = { type: 'tool_use', id: id ?? `call_${index}`, name, input: {}, ...extra }
  return piece(`tool:${index}`, block, json === '' ? undefined : 'input_json_delta', json)
}

function cutDetail(detail: ReasoningDetail, take: Take): void {
  const block = thinkingBlock(detail)
  if (!block) return
  const lane = `thinking:${detail.index ?? 0}`
  if (block.type === 'redacted_thinking') {
    take(piece(lane, block))
    return
  }
  const text = detail.text ?? detail.summary
  if (text) take(thought(lane, text))
  if (detail.signature) take(piece(lane, emptyThought, 'signature_delta', detail.signature))
}

const emptyText: Block = { type: 'text', text: '' }
const emptyThought: Block = { type: 'thinking', thinking: '', signature: '' }

const said = (text: string): Piece => piece('text', emptyText, 'text_delta', text)

const thought = (lane: string, text: string): Piece => piece(lane, emptyThought, 'thinking_delta', text)

const piece = (lane: string, block: Block, kind?: Piece['kind'], text = ''): Piece => ({
  lane,
  block,
  kind,
  text,
})

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const listOf = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as T[]) : [])
