import type { Delta, ToolCallDelta } from '#kernel'
import { type ReasoningDetail, thinkingBlock } from './reasoning.ts'
import type { Block } from './schema.ts'
import type { Piece } from './writer.ts'

/** What a tool call is, as far as it has been told. */
interface Call {
  id: string | undefined
  name: string | undefined
  extra: object | undefined
  /** Arguments that came before the name. */
  held: string
}

/** Cuts the deltas of one answer into pieces of blocks. */
export class Pieces {
  readonly #calls = new Map<number, Call>()
  /** Whether reasoning comes with what is needed to go on with it; its bare text is then the same once more. */
  #detailed = false

  /** Takes note of a delta that needs no writing. */
  skip(delta: Delta): void {
    for (const _ of this.of(delta));
  }

  /** What a delta adds, in order. */
  *of(delta: Delta): Generator<Piece> {
    const details = listOf<ReasoningDetail>(delta.reasoning_details)
    if (details.length > 0) this.#detailed = true
    for (const detail of details) yield* detailPieces(detail)
    const thoughts = delta.reasoning_content ?? delta.reasoning
    if (!this.#detailed && typeof thoughts === 'string' && thoughts !== '')
      yield thought('thinking', thoughts)
    for (const text of [delta.content, delta.refusal])
      if (typeof text === 'string' && text !== '')
        yield piece('text', { type: 'text', text: '' }, { type: 'text_delta', text })
    for (const [i, { index, ...block }] of listOf<Block & { index?: number }>(delta.vendor_blocks).entries())
      yield piece(`vendor:${index ?? `-${i}`}`, block as Block)
    for (const call of delta.tool_calls ?? []) yield* this.#call(call)
  }

  /** Calls whose names never came. */
  *end(): Generator<Piece> {
    for (const [index, call] of this.#calls) if (call.name === undefined) yield* this.#named(index, call, '')
  }

  *#call({ index, id, function: fn, extra }: ToolCallDelta): Generator<Piece> {
    const known = this.#calls.get(index)
    const call = known ?? { id: undefined, name: undefined, extra: undefined, held: '' }
    this.#calls.set(index, call)
    call.id ??= id
    call.extra ??= (extra as { anthropic?: object } | undefined)?.anthropic
    const json = fn?.arguments ?? ''
    if (call.name !== undefined) {
      if (json !== '') yield toolPiece(index, call, json)
      return
    }
    call.held += json
    if (fn?.name) yield* this.#named(index, call, fn.name)
  }

  *#named(index: number, call: Call, name: string): Generator<Piece> {
    call.name = name
    yield toolPiece(index, call, '')
    if (call.held !== '') yield toolPiece(index, call, call.held)
  }
}

function toolPiece(index: number, { id, name, extra }: Call, json: string): Piece {
  const block = { type: 'tool_use', id: id ?? `call_${index}`, name, input: {}, ...extra }
  return piece(
    `tool:${index}`,
    block,
    json === '' ? undefined : { type: 'input_json_delta', partial_json: json },
  )
}

function* detailPieces(detail: ReasoningDetail): Generator<Piece> {
  const block = thinkingBlock(detail)
  if (!block) return
  const lane = `thinking:${detail.index ?? 0}`
  if (block.type === 'redacted_thinking') {
    yield piece(lane, block)
    return
  }
  const text = detail.text ?? detail.summary
  if (text) yield thought(lane, text)
  if (detail.signature)
    yield piece(lane, emptyThought, { type: 'signature_delta', signature: detail.signature })
}

const emptyThought: Block = { type: 'thinking', thinking: '', signature: '' }

const thought = (lane: string, thinking: string): Piece =>
  piece(lane, emptyThought, { type: 'thinking_delta', thinking })

const piece = (lane: string, block: Block, delta?: Piece['delta']): Piece => ({ lane, block, delta })

const listOf = <T>(value: unknown): readonly T[] => (Array.isArray(value) ? (value as T[]) : [])
