import type { ChoiceDelta, Chunk, CompletionChunk, Delta, GatewayError, StreamEncoder } from '#kernel'
import { encodeEvent, eventData } from '#kit'
import { mergedDetails, type ReasoningDetail } from '#provider'
import { headOf } from './answer.ts'
import { candidateOf, citationsOf } from './candidate.ts'
import { errorOf } from './errors.ts'
import { OpenCalls } from './open-calls.ts'
import { type AnswerPart, imageParts, listOf, signatureOf, thoughtPart, vendorPart } from './parts.ts'
import { nativeUsage } from './usage.ts'

/** The state of one candidate until it ends. */
interface State {
  readonly calls: OpenCalls
  /** Thoughts that the client does not want to see: the answer carries them, sealed, when they are complete. */
  hidden: ReasoningDetail[]
  /** Whether thoughts come with what is needed to go on with them; their bare text is then the same once more. */
  detailed: boolean
  /** Whether it says why it says nothing else. */
  refused: boolean
}

/** How a stream is asked for: as events, or as one list in JSON. */
export type Form = 'sse' | 'json'

/**
 * Writes a stream of the wire: each event is an answer of its own. Events of a provider that speaks the wire pass as they
 * came. The end of a candidate waits for what was used, so that one event says both.
 */
export class GeminiEncoder implements StreamEncoder {
  readonly contentType: string
  readonly #passing: boolean
  readonly #shows: boolean
  readonly #form: Form
  readonly #states = new Map<number, State>()
  #head: object = {}
  #ends: object[] = []
  #begun = false

  constructor({ passing, shows, form }: { passing: boolean; shows: boolean; form: Form }) {
    this.#passing = passing
    this.#shows = shows
    this.#form = form
    this.contentType = form === 'json' ? 'application/json' : 'text/event-stream; charset=utf-8'
  }

  chunks(batch: readonly Chunk[]): Buffer | string {
    const [only] = batch
    if (batch.length === 1 && only!.raw && this.#passing && this.#form === 'sse') return only!.raw
    let text = ''
    for (const chunk of batch)
      text += chunk.raw && this.#passing ? this.#passed(chunk.raw) : this.#written(chunk.data)
    return text
  }

  end(): string {
    const last = this.#ended(undefined)
    return this.#form === 'sse' ? last : `${last}${this.#begun ? '' : '['}]`
  }

  fail(error: GatewayError, requestId: string): string {
    const text = this.#ended(undefined) + this.#event(errorOf(error, requestId))
    return this.#form === 'sse' ? text : `${text}]`
  }

  #passed(raw: Buffer): string {
    return this.#form === 'sse' ? raw.toString() : this.#item(eventData(raw))
  }

  #written(data: CompletionChunk): string {
    this.#head = { ...this.#head, ...headOf(data) }
    const candidates = data.choices.flatMap((choice) => this.#candidate(choice))
    const said = candidates.length > 0 ? this.#event({ candidates, ...this.#head }) : ''
    return data.usage ? said + this.#ended(nativeUsage(data.usage)) : said
  }

  /** What a choice adds; its end is kept. */
  #candidate(choice: ChoiceDelta): object[] {
    const { index, delta = choice.text ? { content: choice.text } : {}, finish_reason: reason } = choice
    const state = this.#stateOf(index)
    const parts = this.#partsOf(delta, state)
    const cited = citationsOf(delta.annotations)
    if (!reason) {
      const says = parts.length > 0 || Object.keys(cited).length > 0
      return says ? [{ ...candidateOf({ ...choice, index }, parts), ...cited }] : []
    }
    const left = state.calls.end()
    this.#states.delete(index)
    const all = [...hiddenIn(state), ...parts, ...left.parts]
    this.#ends.push({
      ...candidateOf(choice, all, { problem: left.problem, isRefusal: state.refused }),
      ...cited,
    })
    return []
  }

  #partsOf(delta: Delta, state: State): AnswerPart[] {
    const thoughts = this.#thoughtsOf(delta, state)
    const parts: AnswerPart[] = []
    if (this.#shows) parts.push(...thoughts.flatMap((detail) => thoughtPart(detail, true)))
    else state.hidden.push(...thoughts)
    for (const block of listOf<{ index?: number }>(delta.vendor_blocks)) parts.push(vendorPart(block))
    for (const text of [delta.content, delta.refusal])
      if (typeof text === 'string' && text !== '') parts.push({ text })
    parts.push(...imageParts(delta))
    const signature = signatureOf(delta)
    if (signature !== undefined) parts.push({ text: '', thoughtSignature: signature })
    state.refused ||= Boolean(delta.refusal)
    const calls = delta.tool_calls ?? []
    if (parts.length === 0 && calls.length === 0) return []
    // A part after a call means that the call is complete; the same holds for thoughts.
    const before = [...state.calls.take(), ...hiddenIn(state)]
    for (const [i, call] of calls.entries()) state.calls.add({ ...call, index: call.index ?? i })
    return [...before, ...parts]
  }

  /** What a delta tells of thoughts: bare text is the same once more where there are details. */
  #thoughtsOf(delta: Delta, state: State): readonly ReasoningDetail[] {
    const details = listOf<ReasoningDetail>(delta.reasoning_details)
    state.detailed ||= details.length > 0
    const text = delta.reasoning_content ?? delta.reasoning
    if (state.detailed || typeof text !== 'string' || text === '') return details
    return [{ type: 'reasoning.text', index: 0, text }]
  }

  #stateOf(index: number): State {
    let state = this.#states.get(index)
    if (!state) {
      state = { calls: new OpenCalls(), hidden: [], detailed: false, refused: false }
      this.#states.set(index, state)
    }
    return state
  }

  /** The event that says how candidates ended, and what was used. */
  #ended(usage: object | undefined): string {
    const candidates = this.#ends
    if (candidates.length === 0) return ''
    this.#ends = []
    return this.#event({ candidates, ...(usage && { usageMetadata: usage }), ...this.#head })
  }

  #event(data: object): string {
    return this.#form === 'sse' ? encodeEvent(data) : this.#item(JSON.stringify(data))
  }

  #item(json: string): string {
    const before = this.#begun ? ',\r\n' : '['
    this.#begun = true
    return before + json
  }
}

/** The thoughts that have been kept, sealed. */
function hiddenIn(state: State): AnswerPart[] {
  const { hidden } = state
  state.hidden = []
  return mergedDetails(hidden).flatMap((detail) => thoughtPart(detail, false))
}
