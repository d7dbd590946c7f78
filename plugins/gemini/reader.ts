import type { Call, ChoiceDelta, CompletionChunk, Delta, FinishReason, Target, WireUsage } from '#kernel'
import { protocolError } from '#provider'
import { deltaOf, extraOf } from './delta.ts'
import { errorOf } from './errors.ts'
import { failureOf, finishOf } from './finish.ts'
import { fitOf } from './fit.ts'
import { logprobsOf } from './logprobs.ts'
import { optionsOf } from './options.ts'
import { signatureDetail } from './reasoning.ts'
import { isSound } from './sound.ts'
import { wireUsageOf } from './usage.ts'
import type { Candidate, GenerateContentResponse, Part, UsageMetadata } from './wire.ts'

interface State {
  calls: number
  begun: boolean
  finished: boolean
  /** Of the last text part that had one. */
  signature: string | undefined
  /** Blocks that have begun: runs of thoughts or of text, and calls. */
  blocks: number
  kind: 'thought' | 'text' | 'call' | undefined
}

/** Reads one answer, whole or event by event: the canonical chunks it makes are the same. */
export class AnswerReader {
  readonly #target: Target
  readonly #callId: string
  readonly #model: string
  readonly #showsGrounding: boolean
  /** Whether the answer may be gone on with: then its signatures must be able to come back. */
  readonly #loops: boolean
  readonly #created = Math.floor(Date.now() / 1000)
  readonly #states = new Map<number, State>()
  #id: string | undefined
  #version: string | undefined
  /** Each event's count replaces the one before. */
  #usage: UsageMetadata | undefined

  constructor(call: Call, target: Target) {
    this.#target = target
    this.#callId = call.id
    this.#loops = (call.request.tools ?? []).length > 0
    this.#showsGrounding = fitOf(call).grounding === 'show'
    this.#model = target.model
  }

  /** Whether every candidate that began has ended. */
  get complete(): boolean {
    const states = [...this.#states.values()]
    return states.length > 0 && states.every(({ finished }) => finished)
  }

  /** The chunks of an event, one for each part, and then what it reports as an error, thrown. */
  *read(response: GenerateContentResponse): Generator<CompletionChunk> {
    if (response.error) throw this.#reported(response.error)
    if (!isSound(response)) throw protocolError(this.#target, 'sent an invalid answer', { retryable: true })
    this.#id ??= response.responseId || undefined
    this.#version ??= response.modelVersion || undefined
    if (response.usageMetadata) this.#usage = response.usageMetadata
    for (const candidate of response.candidates ?? [])
      for (const choice of this.#candidate(candidate)) yield this.#chunk(choice)
    const blocked = response.promptFeedback?.blockReason
    if (blocked && this.#states.size === 0) yield this.#chunk(this.#blocked(blocked))
  }

  /** What has been counted so far; undefined while nothing was said of it. */
  get counted(): WireUsage | undefined {
    return this.#usage && wireUsageOf(this.#usage)
  }

  /** The last chunk, that says what was used; undefined when nothing was said of it. */
  usage(): CompletionChunk | undefined {
    return this.#usage && { ...this.#head(), choices: [], usage: wireUsageOf(this.#usage) }
  }

  #chunk(choice: ChoiceDelta): CompletionChunk {
    return { ...this.#head(), choices: [choice] }
  }

  #head(): Omit<CompletionChunk, 'choices'> {
    return {
      id: `chatcmpl-${this.#id ?? this.#callId}`,
      object: 'chat.completion.chunk',
      created: this.#created,
      model: this.#version ?? this.#model,
    }
  }

  *#candidate(candidate: Candidate): Generator<ChoiceDelta> {
    const { index = 0, content, finishReason: native } = candidate
    const state = this.#state(index)
    const deltas: Delta[] = []
    for (const part of content?.parts ?? []) {
      if (part.thoughtSignature !== undefined && !part.functionCall) state.signature = part.thoughtSignature
      const delta = deltaOf(part, state.calls, this.#origin(index, blockOf(part, state)))
      if (!delta) continue
      if (delta.tool_calls) state.calls += 1
      deltas.push(delta)
    }
    const odds = candidate.logprobsResult && { logprobs: logprobsOf(candidate.logprobsResult) }
    const spoken = odds && spokenOf(deltas)
    for (const delta of deltas) yield { ...this.#choice(state, index, delta), ...(delta === spoken && odds) }
    if (odds && !spoken) yield { ...this.#choice(state, index, {}), ...odds }
    if (native && native !== 'FINISH_REASON_UNSPECIFIED') {
      const failure = failureOf(native)
      if (failure) throw this.#failed(native, failure.retryable)
      const extra = state.signature === undefined ? {} : this.#signed(state.signature, state.blocks)
      state.finished = true
      yield {
        ...this.#choice(state, index, extra, finishOf(native, state.calls > 0)),
        native_finish_reason: native,
        ...(candidate.groundingMetadata !== undefined &&
          this.#showsGrounding && { grounding_metadata: candidate.groundingMetadata }),
      }
    }
  }

  #state(index: number): State {
    let state = this.#states.get(index)
    if (!state) {
      state = {
        calls: 0,
        begun: false,
        finished: false,
        signature: undefined,
        blocks: 0,
        kind: undefined,
      }
      this.#states.set(index, state)
    }
    return state
  }

  /** The first one has the role. */
  #choice(
    state: State,
    index: number,
    delta: NonNullable<ChoiceDelta['delta']>,
    finish: FinishReason | null = null,
  ): ChoiceDelta {
    const opening = state.begun ? {} : { role: 'assistant' as const }
    state.begun = true
    return { index, delta: { ...opening, ...delta }, finish_reason: finish }
  }

  /** A refused prompt has no candidates; the answer says only that, and why. */
  #blocked(native: string): ChoiceDelta {
    const state = this.#state(0)
    state.finished = true
    return { ...this.#choice(state, 0, { content: '' }, 'content_filter'), native_finish_reason: native }
  }

  #origin(candidate: number, block: number) {
    const signaturesInIds = optionsOf(this.#target.provider).signatures_in_ids
    return { answer: this.#id ?? this.#callId, candidate, signaturesInIds, block, details: this.#loops }
  }

  #signed(signature: string, block: number): Delta {
    const details = this.#loops && { reasoning_details: [signatureDetail(block, signature)] }
    return { ...extraOf(signature), ...details }
  }

  #failed(native: string, retryable: boolean): Error {
    const what = `ended the answer with ${native}`
    return protocolError(this.#target, what, { retryable, native, type: native.toLowerCase() })
  }

  #reported(error: unknown): Error {
    const status = typeof error === 'object' ? (error as { code?: unknown }).code : undefined
    const code = typeof status === 'number' && status >= 400 && status < 600 ? status : 502
    return errorOf(typeof error === 'object' && error !== null ? error : {}, code, this.#target)
  }
}

/** What the log probabilities of an event spell out, where it has one text: they leave with it, or not at all. */
function spokenOf(deltas: readonly Delta[]): Delta | undefined {
  const texts = deltas.filter(({ content, reasoning_content }) => content || reasoning_content)
  return texts.length === 1 ? texts[0] : undefined
}

/** The block that a part is in: a part of another kind begins the next, and so does every call. */
function blockOf(part: Part, state: State): number {
  const kind = part.functionCall ? 'call' : part.thought ? 'thought' : 'text'
  if (kind !== state.kind || kind === 'call') state.blocks += 1
  state.kind = kind
  return state.blocks - 1
}
