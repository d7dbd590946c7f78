import type { ChoiceDelta, Delta, ToolCallDelta } from '#kernel'
import { GrowingJson } from '../json.ts'
import { argumentsIn, freeTextIn } from './free-text.ts'
import type { Piece } from './open-item.ts'
import type { Fields } from './schema.ts'
import { callStateOf, hasState, stateOf } from './state.ts'
import type { Toolbox } from './toolbox.ts'

/** A tool call, as far as it has come. */
interface Call {
  /** Whether it came as free text, or as arguments. */
  readonly comesAs: 'function' | 'custom'
  /** No other call of the answer has it once there is a name. */
  id: string | undefined
  name: string | undefined
  state: Fields
  /** Arguments that came before the name, or that say only as a whole what the client is to have of them. */
  held: GrowingJson
  ended: boolean
}

/** Takes a piece of an answer. */
type Take = (piece: Piece) => void

/** Cuts the deltas of one answer into pieces of items. */
export class Pieces {
  readonly #calls = new Map<number, Call>()
  /** The ids of calls that have a name. */
  readonly #ids = new Set<string>()
  readonly #toolbox: Toolbox
  readonly #idOf: (index: number) => string
  /** Which field tells the thoughts: some providers tell them in several. */
  #thoughtsIn: string | undefined
  #left: Fields[] = []

  /** `idOf` names calls that the provider gave no id, or that of another. */
  constructor(toolbox: Toolbox, idOf: (index: number) => string) {
    this.#toolbox = toolbox
    this.#idOf = idOf
  }

  /** Hands on what a choice adds, in order. */
  cut({ delta = silence, text, logprobs }: Partial<ChoiceDelta>, take: Take): void {
    this.#thoughts(delta, take)
    if (typeof delta.refusal === 'string' && delta.refusal !== '')
      take({ lane: 'message', kind: 'message', of: refusalPart, text: delta.refusal })
    const said = textOf(delta.content) || (text ?? '')
    const odds = logprobsOf(logprobs)
    const annotations = listOf(delta.annotations)
    if (said !== '' || odds.length > 0 || annotations.length > 0)
      take({
        lane: 'message',
        kind: 'message',
        of: textPart,
        text: said,
        logprobs: odds,
        annotations: annotations.map(annotationOf),
      })
    for (const [i, call] of (delta.tool_calls ?? []).entries()) this.#call(call, call.index ?? i, take)
  }

  /**
   * Hands on the pieces that are known only at the end: calls without a name, and state that the client gives back with the
   * answer.
   */
  end(take: Take): void {
    for (const [index, call] of this.#calls) {
      if (call.name === undefined) this.#named(index, call, '', take)
      if (!call.ended && this.#isHeld(call)) take(this.#last(index, call))
    }
    const states = [...this.#calls.values()].filter(({ state }) => Object.keys(state).length > 0)
    const calls = Object.fromEntries(states.map(({ id, state }) => [id!, state]))
    const lane = { lane: 'state', kind: 'reasoning' } as const
    for (const message of this.#left) take({ ...lane, state: { message } })
    if (Object.keys(calls).length > 0) take({ ...lane, state: { calls } })
  }

  #thoughts(delta: Delta, take: Take): void {
    const lane = { lane: 'reasoning', kind: 'reasoning' } as const
    if (hasState(delta)) {
      const { reasoning_details: details, ...left } = stateOf(delta)
      if (Object.keys(left).length > 0) this.#left.push(left)
      for (const detail of listOf(details) as Fields[]) {
        take({ ...lane, state: { message: { reasoning_details: [detail] } } })
        const text = detail.text ?? detail.summary
        if (this.#tellsThoughts('reasoning_details', text)) {
          const key = `summary ${String(detail.index)}`
          take({ ...lane, of: { kind: 'summary', key }, text })
        }
      }
    }
    for (const field of thoughtFields) {
      const text = delta[field]
      if (this.#tellsThoughts(field, text)) take({ ...lane, of: { kind: 'summary' }, text })
    }
  }

  #tellsThoughts(field: string, text: unknown): text is string {
    if (typeof text !== 'string' || text === '') return false
    this.#thoughtsIn ??= field
    return this.#thoughtsIn === field
  }

  #call(delta: ToolCallDelta, index: number, take: Take): void {
    const custom = delta.custom as { name?: string; input?: string } | undefined
    const call = this.#calls.get(index) ?? {
      comesAs: custom || (delta as Fields).type === 'custom' ? 'custom' : 'function',
      id: undefined,
      name: undefined,
      state: {},
      held: new GrowingJson(),
      ended: false,
    }
    this.#calls.set(index, call)
    if (call.name === undefined) call.id ??= delta.id || undefined
    call.state = { ...call.state, ...callStateOf(delta) }
    const input = delta.function?.arguments ?? custom?.input ?? ''
    if (call.name !== undefined) {
      if (input !== '') this.#goOn(index, call, input, take)
      return
    }
    call.held.add(input)
    const name = delta.function?.name || custom?.name
    if (name) this.#named(index, call, name, take)
  }

  #named(index: number, call: Call, name: string, take: Take): void {
    call.name = name
    if (call.id === undefined || this.#ids.has(call.id)) call.id = this.#idOf(index)
    this.#ids.add(call.id)
    const { text: held } = call.held
    call.held = new GrowingJson()
    if (this.#isHeld(call)) take(this.#piece(index, call, ''))
    this.#goOn(index, call, held, take)
  }

  #goOn(index: number, call: Call, input: string, take: Take): void {
    if (!this.#isHeld(call)) take(this.#piece(index, call, input))
    else if (!call.ended) {
      call.held.add(input)
      if (call.held.isComplete) take(this.#last(index, call))
    }
  }

  /** Whether a call is held until it is complete: a function that stands for a tool of another kind is sent only then. */
  #isHeld({ comesAs, name }: Call): boolean {
    const kind = this.#toolbox.get(name!)?.kind ?? 'function'
    return comesAs === 'function' && kind !== 'function'
  }

  #last(index: number, call: Call): Piece {
    call.ended = true
    const isSearch = this.#toolbox.get(call.name!)?.kind === 'search'
    return isSearch
      ? { ...this.#piece(index, call, ''), last: { arguments: argumentsIn(call.held.text) ?? {} } }
      : { ...this.#piece(index, call, freeTextIn(call.held.text)), last: {} }
  }

  #piece(index: number, { comesAs, id, name = '' }: Call, text: string): Piece {
    const { kind, name: own, namespace } = this.#toolbox.get(name) ?? { kind: comesAs, name }
    const about = { call_id: id, name: own, ...(namespace !== undefined && { namespace }) }
    const lane = `call ${index}`
    if (kind === 'search') return { lane, kind: 'tool_search_call', about: { call_id: id } }
    if (kind === 'custom' || comesAs === 'custom')
      return { lane, kind: 'custom_tool_call', about, of: { kind: 'input' }, text }
    return { lane, kind: 'function_call', about, of: { kind: 'arguments' }, text }
  }
}

const silence: Delta = {}
const textPart = { kind: 'text' } as const
const refusalPart = { kind: 'refusal' } as const
const thoughtFields = ['reasoning_content', 'reasoning'] as const

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Content in parts is what its texts are together. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  return listOf(content)
    .map((part) => (part as { text?: unknown }).text)
    .filter((text) => typeof text === 'string')
    .join('')
}

/** A citation as this wire has it: flat. */
function annotationOf(annotation: unknown): unknown {
  const { type, url_citation: citation } = (annotation ?? {}) as Fields
  return type === 'url_citation' && typeof citation === 'object' ? { type, ...citation } : annotation
}

interface Logprob {
  readonly token: string
  readonly logprob: number
  readonly bytes?: unknown
  readonly top_logprobs?: readonly Logprob[]
}

function logprobsOf(logprobs: unknown): Logprob[] {
  const { content } = (logprobs ?? {}) as { content?: readonly Logprob[] | null }
  return (content ?? []).map((one) => ({
    ...one,
    bytes: one.bytes ?? [],
    top_logprobs: one.top_logprobs ?? [],
  }))
}
