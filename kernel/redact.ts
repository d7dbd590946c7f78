import type { Call } from './call.ts'
import type { ChoiceDelta, Completion, Delta, ToolCallDelta } from './canonical.ts'
import type { Detector, Place } from './detect.ts'
import { contentBlocked, type GatewayError } from './errors.ts'
import { Chunk, envelopeOf } from './stream/chunk.ts'
import type { Filter, Out } from './stream/filter.ts'
import { Blocked, Window } from './stream/window.ts'
import { mapReplyTexts, mapRequestTexts } from './texts.ts'

/** The call with its request's texts redacted; throws when a finding blocks, leaving the redacted form to record. */
export function redactRequest(call: Call, detector: Detector): Call {
  let blocked: Blocked | undefined
  const request = mapRequestTexts(call.request, (text, place) => {
    try {
      return new Window([detector], place, call).push(text, true)
    } catch (error) {
      if (!(error instanceof Blocked)) throw error
      blocked ??= error
      return `${error.released}[blocked: ${error.span.label}]`
    }
  })
  if (blocked) {
    call.trail.request = request
    throw refusal(blocked)
  }
  return request === call.request ? call : call.with({ request })
}

/** A whole answer, redacted; the same object when nothing was found. Throws when a finding blocks. */
export function redactReply(body: Completion, detectors: readonly Detector[], call: Call): Completion {
  try {
    return mapReplyTexts(body, (text, place) => new Window(detectors, place, call).push(text, true))
  } catch (error) {
    throw error instanceof Blocked ? refusal(error) : error
  }
}

/** The same over a stream: one window for each text that grows, chunks without a finding keep their bytes. */
export function redactStream(detectors: readonly Detector[], call: Call): Filter {
  return new Redaction(detectors, call)
}

function refusal({ span }: Blocked): GatewayError {
  const { detection, module } = span.detector
  return contentBlocked(detection.refusal ?? `The content was refused: it contains ${span.label}.`, {
    module,
    details: { found: span.label },
  })
}

const deltaFields = [
  ['reasoning_content', 'reasoning'],
  ['reasoning', 'reasoning'],
  ['content', 'content'],
  ['refusal', 'refusal'],
] as const

class Redaction implements Filter {
  readonly #detectors: readonly Detector[]
  readonly #call: Call
  /** By choice, then by field or tool index, in order of appearance. */
  readonly #windows = new Map<number, Map<string, Window>>()
  #last: Chunk | undefined

  constructor(detectors: readonly Detector[], call: Call) {
    this.#detectors = detectors
    this.#call = call
  }

  push(chunk: Chunk, out: Out): void {
    this.#last = chunk
    try {
      const choices: ChoiceDelta[] = []
      let changed = false
      for (const choice of chunk.data.choices) {
        const next = this.#choice(choice, out)
        if (next !== choice) changed = true
        if (next) choices.push(next)
      }
      if (!changed) out.emit(chunk)
      else if (choices.length > 0 || chunk.data.usage) out.emit(Chunk.of({ ...chunk.data, choices }))
    } catch (error) {
      if (!(error instanceof Blocked)) throw error
      out.fail(refusal(error))
    }
  }

  /** Providers end a choice with a finish reason; what a stream without one still holds leaves here. */
  end(out: Out): void {
    try {
      for (const index of this.#windows.keys()) this.#flush(index, out)
    } catch (error) {
      if (!(error instanceof Blocked)) throw error
      out.fail(refusal(error))
    }
  }

  /** The choice with the text that may leave, or nothing when none of it may. */
  #choice(choice: ChoiceDelta, out: Out): ChoiceDelta | undefined {
    let next = choice
    let emptied = false
    if (typeof choice.text === 'string' && choice.text !== '') {
      const text = this.#pass(choice.index, 'text', 'content', choice.text)
      if (text !== choice.text) next = { ...next, text }
      emptied = text === ''
    }
    if (choice.delta) {
      const delta = this.#delta(choice.index, choice.delta)
      if (delta !== choice.delta) next = { ...next, delta }
      emptied ||= delta !== choice.delta && Object.keys(delta).length === 0
    }
    if (choice.finish_reason) return this.#finish(next, out)
    return emptied && !choice.logprobs ? undefined : next
  }

  /** What is held leaves before the end of its choice, and after the text that came with the end. */
  #finish(choice: ChoiceDelta, out: Out): ChoiceDelta {
    const windows = this.#windows.get(choice.index)
    if (![...(windows?.values() ?? [])].some((window) => window.holds)) return choice
    const envelope = envelopeOf(this.#last!.data)
    out.emit(Chunk.of({ ...envelope, choices: [{ ...choice, finish_reason: null }] }))
    this.#flush(choice.index, out)
    const { index, finish_reason = null } = choice
    return choice.text === undefined
      ? { index, delta: {}, finish_reason }
      : { index, text: '', finish_reason }
  }

  #delta(index: number, delta: Delta): Delta {
    let next: Record<string, unknown> = delta
    for (const [field, kind] of deltaFields) {
      const text = delta[field]
      if (typeof text !== 'string' || text === '') continue
      const passed = this.#pass(index, field, kind, text)
      if (passed === text) continue
      next = { ...next, [field]: passed }
      if (passed === '') delete next[field]
    }
    const calls = delta.tool_calls?.map((call) => this.#toolCall(index, call))
    if (calls?.some((call, i) => call !== delta.tool_calls![i])) {
      const left = calls.filter((call) => call !== undefined)
      next = { ...next, tool_calls: left }
      if (left.length === 0) delete next.tool_calls
    }
    return next as Delta
  }

  #toolCall(index: number, call: ToolCallDelta): ToolCallDelta | undefined {
    const text = call.function?.arguments
    if (!text) return call
    const passed = this.#pass(index, `tool ${call.index}`, 'arguments', text)
    if (passed === text) return call
    if (passed === '' && call.id === undefined && !call.function?.name) return undefined
    return { ...call, function: { ...call.function, arguments: passed } }
  }

  #pass(index: number, name: string, kind: Place['kind'], text: string): string {
    let windows = this.#windows.get(index)
    if (!windows) this.#windows.set(index, (windows = new Map()))
    let window = windows.get(name)
    if (!window) {
      window = new Window(this.#detectors, { direction: 'reply', role: 'assistant', kind }, this.#call)
      windows.set(name, window)
    }
    return window.push(text)
  }

  #flush(index: number, out: Out): void {
    const windows = this.#windows.get(index)
    if (!windows || !this.#last) return
    this.#windows.delete(index)
    for (const [name, window] of windows) {
      const text = window.push('', true)
      if (text !== '')
        out.emit(Chunk.of({ ...envelopeOf(this.#last.data), choices: [heldChoice(index, name, text)] }))
    }
  }
}

function heldChoice(index: number, name: string, text: string): ChoiceDelta {
  if (name === 'text') return { index, text, finish_reason: null }
  if (!name.startsWith('tool ')) return { index, delta: { [name]: text }, finish_reason: null }
  const call: ToolCallDelta = { index: Number(name.slice(5)), function: { arguments: text } }
  return { index, delta: { tool_calls: [call] }, finish_reason: null }
}
