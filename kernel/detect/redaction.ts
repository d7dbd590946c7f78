import type { ChoiceDelta } from '../call/canonical.ts'
import { mapMessage } from '../call/texts.ts'
import type { Detector } from '../chain/detector.ts'
import { isGatewayError } from '../errors.ts'
import { Chunk, envelopeOf } from '../stream/chunk.ts'
import type { Filter, Out } from '../stream/filter.ts'
import { HeldLogprobs } from '../stream/logprobs.ts'
import type { TextLocation } from './detect.ts'
import { Window } from './window.ts'

/**
 * Detectors over a stream: one window for each text that grows. Chunks in which nothing was found or held keep their bytes;
 * held text leaves with later text, or before the end of its choice.
 */
export class Redaction implements Filter {
  readonly #detectors: readonly Detector[]
  readonly #choices = new Map<number, ChoiceTexts>()
  #last: Chunk | undefined
  #failed = false

  constructor(detectors: readonly Detector[]) {
    this.#detectors = detectors
  }

  push(chunk: Chunk, out: Out): void {
    this.#last = chunk
    this.#guarded(out, () => {
      const { choices: came } = chunk.data
      const choices = came.flatMap((choice) => this.#choice(choice, out) ?? [])
      if (choices.length === came.length && choices.every((choice, i) => choice === came[i])) out.emit(chunk)
      else if (choices.length > 0 || chunk.data.usage) out.emit(chunk.with({ ...chunk.data, choices }))
    })
  }

  /** Providers end a choice with a finish reason; text that a stream without one still holds leaves here. */
  end(out: Out): void {
    this.#guarded(out, () => {
      for (const [index, texts] of this.#choices) this.#flush(index, texts, out)
    })
    for (const detector of this.#detectors) detector.settle()
  }

  /** The choice with the text that may leave, or nothing when none of it may. */
  #choice(choice: ChoiceDelta, out: Out): ChoiceDelta | undefined {
    const texts = this.#textsOf(choice.index)
    const next = texts.pass(choice)
    if (!choice.finish_reason) return next
    this.#choices.delete(choice.index)
    if (!texts.holds) return next
    const says = next !== undefined && !isBlank(next)
    if (says) this.#emit({ ...next, finish_reason: null }, out)
    this.#flush(choice.index, texts, out)
    const { logprobs: _, ...end } = choice
    // An empty text makes a field of the message all the same, so the end carries what says nothing.
    return choice.text === undefined
      ? { ...end, delta: says ? {} : (next?.delta ?? {}) }
      : { ...end, text: '' }
  }

  #textsOf(index: number): ChoiceTexts {
    let texts = this.#choices.get(index)
    if (!texts) {
      texts = new ChoiceTexts(this.#detectors)
      this.#choices.set(index, texts)
    }
    return texts
  }

  #flush(index: number, texts: ChoiceTexts, out: Out): void {
    for (const part of texts.end()) this.#emit({ index, ...part, finish_reason: null }, out)
  }

  #emit(choice: ChoiceDelta, out: Out): void {
    out.emit(Chunk.of({ ...envelopeOf(this.#last!.data), choices: [choice] }))
  }

  #guarded(out: Out, run: () => void): void {
    if (this.#failed) return
    try {
      run()
    } catch (error) {
      if (!isGatewayError(error)) throw error
      this.#failed = true
      out.fail(error)
    }
  }
}

/** A text that grows: its window, and the way to write a part of it. */
interface Lane {
  readonly window: Window
  readonly logprobs: HeldLogprobs
  wrap(text: string): Partial<ChoiceDelta>
}

/** The texts of one choice. */
class ChoiceTexts {
  readonly #detectors: readonly Detector[]
  readonly #lanes = new Map<string, Lane>()

  constructor(detectors: readonly Detector[]) {
    this.#detectors = detectors
  }

  get holds(): boolean {
    for (const { window } of this.#lanes.values()) if (window.holds) return true
    return false
  }

  /** The choice as it may leave; the same object when nothing changed, undefined when nothing is left of it. */
  pass(choice: ChoiceDelta): ChoiceDelta | undefined {
    let next = choice
    /** The lane that the choice's log probabilities belong to: the first text in it. */
    let spoken: Lane | undefined
    const through = (lane: Lane, text: string): string => {
      const start = lane.window.came
      const passed = lane.window.push(text)
      if (choice.logprobs && !spoken) lane.logprobs.add(start, lane.window.came, choice.logprobs)
      spoken ??= lane
      return passed
    }
    if (choice.text) {
      const lane = this.#lane('choice.text', 'content', (text) => ({ text }))
      const text = through(lane, choice.text)
      if (text !== choice.text) next = { ...next, text }
    }
    if (choice.delta) {
      const delta = mapMessage(choice.delta, (text, { lane, kind, wrap }) =>
        lane === undefined
          ? this.#window(kind).whole(text)
          : through(
              this.#lane(lane, kind, (part) => ({ delta: wrap(part) })),
              text,
            ),
      )
      if (delta !== choice.delta) next = { ...next, delta }
    }
    if (spoken) {
      const logprobs = spoken.logprobs.take(spoken.window) ?? null
      if (logprobs !== (choice.logprobs ?? null)) next = { ...next, logprobs }
    }
    return next === choice || next.finish_reason || !isBlank(next) ? next : undefined
  }

  /** The text that is still held, to be sent on its own. */
  *end(): Generator<Partial<ChoiceDelta>> {
    for (const { window, logprobs, wrap } of this.#lanes.values()) {
      const text = window.end()
      const left = logprobs.take(window)
      if (text !== '' || left) yield { ...wrap(text), ...(left !== undefined && { logprobs: left }) }
    }
  }

  #lane(name: string, kind: TextLocation['kind'], wrap: Lane['wrap']): Lane {
    let lane = this.#lanes.get(name)
    if (!lane) {
      lane = { window: this.#window(kind), logprobs: new HeldLogprobs(), wrap }
      this.#lanes.set(name, lane)
    }
    return lane
  }

  #window(kind: TextLocation['kind']): Window {
    const place: TextLocation = { direction: 'reply', role: 'assistant', kind }
    return new Window(this.#detectors, place, (found) => found.detector.refuse(found))
  }
}

/** Whether a choice says nothing: no text, no role, no name of a call. */
function isBlank({ text, delta, logprobs }: ChoiceDelta): boolean {
  return !text && !logprobs && saysNothing(delta)
}

function saysNothing(node: unknown): boolean {
  if (node === undefined || node === null || node === '') return true
  if (typeof node !== 'object') return false
  if (Array.isArray(node)) return node.every(saysNothing)
  return Object.entries(node).every(
    ([field, value]) => field === 'index' || field === 'type' || saysNothing(value),
  )
}
