import { isBlank, saysNothing } from '../../kit/canonical/blank.ts'
import type { Chunk } from '../../kit/canonical/chunk.ts'
import type { ChoiceDelta } from '../../kit/canonical/forms.ts'
import type { TextLocation } from '../../kit/canonical/text-location.ts'
import { mapChoice } from '../../kit/canonical/texts.ts'
import { HeldLogprobs } from '../../kit/streams/held-logprobs.ts'
import type { Detector } from '../chain/detector.ts'
import { Window } from './window.ts'

/** A text that grows: its window, and the way to write a part of it. */
interface Lane {
  readonly window: Window
  readonly logprobs: HeldLogprobs
  wrap(text: string): Partial<ChoiceDelta>
  /** Characters of its choice when it last grew. */
  at: number
}

/** What a lane says up to a character. */
interface Part {
  readonly lane: Lane
  readonly text: string
  readonly end: number
}

/** What a chunk says of one choice, on its way. */
interface Step {
  readonly chunk: Chunk
  /** With the texts that come whole searched; nothing for a chunk without choices. */
  readonly choice: ChoiceDelta | undefined
  /** Its texts that grow. */
  readonly parts: readonly Part[]
  /** Texts that were held when it came, and that it does not simply go on with. */
  readonly owed: readonly Part[]
}

/** What leaves: a choice as it came with a chunk, a chunk without choices, or held text on its own. */
type Leaving = { readonly chunk?: Chunk; readonly choice?: ChoiceDelta | undefined }

/** The texts of one choice, and what waits for them. */
export class ChoiceTexts {
  readonly #index: number
  readonly #detectors: readonly Detector[]
  readonly #lanes = new Map<string, Lane>()
  readonly #steps: Step[] = []
  /** The texts that grew last: of all others, what is held leaves with the steps before. */
  #latest: ReadonlySet<Lane> = new Set()
  /** Characters of all texts so far. */
  #said = 0
  #closed = false

  constructor(index: number, detectors: readonly Detector[]) {
    this.#index = index
    this.#detectors = detectors
  }

  add(chunk: Chunk, choice?: ChoiceDelta): void {
    const held = heldOf(this.#latest)
    const parts: Part[] = []
    const searched =
      choice &&
      mapChoice(choice, (text, { kind, lane: name, wrap }) => {
        this.#said += text.length
        if (name === undefined) return this.#window(kind, name).whole(text)
        const lane = this.#lane(name, kind, wrap)
        const start = lane.window.came
        lane.window.add(text)
        const end = lane.window.came
        if (choice.logprobs && parts.length === 0) lane.logprobs.add(start, end, choice.logprobs)
        parts.push({ lane, text, end })
        return text
      })
    for (const { lane } of parts) lane.at = this.#said
    if (parts.length > 0) this.#latest = new Set(parts.map(({ lane }) => lane))
    const owed = held.filter(({ lane }) => !isAlike(parts) || parts.every((part) => part.lane !== lane))
    this.#steps.push({ chunk, choice: searched, parts, owed })
    if (choice?.finish_reason) this.close()
  }

  /** No more comes of any text. */
  close(): void {
    this.#closed = true
    for (const { window } of this.#lanes.values()) window.close()
  }

  /** What may leave now, in its order. */
  *leave(): Generator<Leaving> {
    for (let step = this.#steps[0]; step && this.#isDue(step); step = this.#steps[0]) {
      yield* this.#rest(step.owed)
      this.#steps.shift()
      const { chunk } = step
      const choice = step.choice && written(step.choice, step.parts)
      if (choice || !step.choice) yield { chunk, choice }
    }
    if (this.#closed) yield* this.#rest(heldOf(this.#lanes.values()))
  }

  /**
   * Whether a step can leave: what it owes is ready to leave before it, and it leaves whole unless it has one text only. A text
   * is not waited for once its choice has said as much else as a finding in it may be long: it is over as a rule.
   */
  #isDue(step: Step): boolean {
    const late = [...step.owed, ...step.parts].filter(({ lane, end }) => lane.window.ready < end)
    if (late.length === 0 || (late.every((part) => !step.owed.includes(part)) && isOneText(step))) return true
    if (late.some(({ lane }) => this.#said - lane.at < lane.window.reach)) return false
    for (const { lane } of late) lane.window.letGo()
    return true
  }

  /** Held text on its own. */
  *#rest(parts: readonly Part[]): Generator<Leaving> {
    for (const { lane, end } of parts) {
      const text = lane.window.take(end)
      const logprobs = lane.logprobs.take(lane.window)
      if (text === '' && !logprobs) continue
      const choice = { index: this.#index, ...lane.wrap(text), finish_reason: null }
      yield { choice: logprobs === undefined ? choice : { ...choice, logprobs } }
    }
  }

  #lane(name: string, kind: TextLocation['kind'], wrap: Lane['wrap']): Lane {
    const known = this.#lanes.get(name)
    if (known) return known
    const lane = { window: this.#window(kind, name), logprobs: new HeldLogprobs(), wrap, at: 0 }
    this.#lanes.set(name, lane)
    return lane
  }

  #window(kind: TextLocation['kind'], lane: string | undefined): Window {
    const place = { direction: 'reply', role: 'assistant', kind } as const
    return new Window(this.#detectors, this.#detectors[0]!.placeOf(lane, place))
  }
}

const heldOf = (lanes: Iterable<Lane>): Part[] =>
  [...lanes].flatMap((lane) => (lane.window.holds ? { lane, text: '', end: lane.window.came } : []))

/** A choice with what may leave of its texts; the same object when that is all of them, undefined when nothing is left of it. */
function written(choice: ChoiceDelta, parts: readonly Part[]): ChoiceDelta | undefined {
  const left = parts.values()
  let next = mapChoice(choice, (text, { lane }) => {
    if (lane === undefined) return text
    const { lane: own, end } = left.next().value!
    return own.window.take(end)
  })
  // Without a text beside them nobody can tell whether what they spell was replaced.
  const spoken = parts[0]?.lane
  const logprobs = spoken?.logprobs.take(spoken.window) ?? null
  if (logprobs !== (choice.logprobs ?? null)) next = { ...next, logprobs }
  return next === choice || next.finish_reason || !isBlank(next) ? next : undefined
}

/** Whether parts are one text. Of reasoning providers send copies; other texts are alike by chance only, as parallel calls are. */
const isAlike = (parts: readonly Part[]): boolean =>
  new Set(parts.map(({ lane, text }) => (lane.window.place.kind === 'reasoning' ? text : lane))).size < 2

/** Whether a choice says one text only, in one field or in several, and nothing but whose it is: then a part of it can leave. */
function isOneText({ choice, parts }: Step): boolean {
  if (!choice || !isAlike(parts)) return false
  const rest = mapChoice(choice, (text, { lane }) => (lane === undefined ? text : ''))
  return !rest.text && saysNothing(rest.delta, /^(?:index|role|id|name|type|format)$/)
}
