import type { TextLocation } from '../../kit/canonical/text-location.ts'
import { contentBlocked, type GatewayError } from '../../kit/errors.ts'
import type { Call } from '../call/call.ts'
import type { Detection, Span } from '../detect/detect.ts'
import { type Entry, handleFailure, recordRun } from './entry.ts'
import { checkedIndex, checkedSpans } from './returned.ts'

/** A finding and the module that found it. */
export interface Found extends Span {
  readonly detector: Detector
}

/** A detection at work on one call, under its module's failure policy. A detector that failed finds nothing more. */
export class Detector {
  readonly detection: Detection
  readonly #entry: Entry
  readonly #call: Call
  #broken = false
  /** What it took, and the longest that it kept other work from having a turn. */
  #ms = 0
  #longestMs = 0

  constructor(entry: Entry, detection: Detection, call: Call) {
    this.#entry = entry
    this.detection = detection
    this.#call = call
  }

  get context(): number {
    return this.detection.context ?? this.detection.reach
  }

  /** Where a text of an answer stands: its content, and nothing that comes beside it, is JSON where the call asks for that. */
  placeOf(lane: string | undefined, place: TextLocation): TextLocation {
    return /^content(?:\.|$)/.test(lane ?? '') && saysJson(this.#call) ? { ...place, isJson: true } : place
  }

  /** What the detection does before it scans a long text, step by step. Throws only coded errors. */
  *study(text: string, place: TextLocation): Generator<undefined> {
    const steps = this.#guarded(() => this.detection.study?.(text, place, this.#call)[Symbol.iterator]())
    while (steps && this.#guarded(() => steps.next())?.done === false) yield undefined
  }

  /** Findings that start at `from` or later. Throws only coded errors. */
  scan(text: string, place: TextLocation, from: number): readonly Span[] {
    const found = () => checkedSpans(this.detection.scan(text, place, this.#call, from), text.length, from)
    return this.#guarded(found) ?? []
  }

  /** The index up to which text may leave; at most `reach` characters are held back. */
  settled(text: string, from: number): number {
    const { detection } = this
    const held = Math.max(text.length - detection.reach, from)
    if (this.#broken) return text.length
    if (!detection.open) return held
    return Math.max(
      this.#guarded(() => checkedIndex(detection.open!(text, this.#call, from))) ?? text.length,
      held,
    )
  }

  /** The text with what its module puts around it. */
  framed(text: string, place: TextLocation): string {
    const { frame } = this.detection
    return frame ? (this.#guarded(() => String(frame(text, place, this.#call))) ?? text) : text
  }

  /** Tells the trace and the module of a finding. `offset`: where the text that was scanned begins. */
  report(span: Span, place: TextLocation, offset: number): void {
    const verdict = span.action === 'replace' ? (this.detection.verdict ?? 'redacted') : verdicts[span.action]
    count(this.#call, this.#entry.id, verdict, span.label, place.direction)
    this.#guarded(() => {
      // Findings in text that only the client sees are recorded already.
      if (this.detection !== this.#entry.hooks.reveal) this.#tell(span, place, offset)
      this.detection.found?.(span, place, this.#call)
    })
  }

  /** The refusal that a blocking finding leads to. */
  refusal({ label }: Span): GatewayError {
    return contentBlocked(this.detection.refusal ?? `The content was refused: it contains ${label}.`, {
      details: { found: label },
    })
  }

  /** Throws the refusal as the module's own. */
  refuse(span: Span): never {
    const refusal = this.refusal(span)
    handleFailure(this.#entry, 'detect', refusal, this.#call)
    throw refusal
  }

  /** Adds the time it took to the module's and the call's account; once, at the end. */
  settle(): void {
    recordRun(this.#entry, 'detect', this.#ms, this.#call, this.#longestMs)
  }

  #tell(
    { start, end, label, action, ...more }: Span,
    { direction, role, kind, origin }: TextLocation,
    at: number,
  ): void {
    const { id, finds = 'custom' } = this.#entry
    this.#call.trace.finding(id, {
      type: more.type ?? finds,
      severity: more.severity ?? severities[action],
      action: actions[action],
      direction,
      label: String(label),
      ...(more.ruleId !== undefined && { ruleId: more.ruleId }),
      ...(more.confidence !== undefined && { confidence: more.confidence }),
      spans: [{ role, kind, ...(origin !== undefined && { origin }), start: at + start, end: at + end }],
    })
  }

  #guarded<T>(run: () => T): T | undefined {
    if (this.#broken) return undefined
    const started = performance.now()
    try {
      return run()
    } catch (error) {
      this.#broken = true
      handleFailure(this.#entry, 'detect', error, this.#call)
      return undefined
    } finally {
      const ms = performance.now() - started
      this.#ms += ms
      this.#longestMs = Math.max(this.#longestMs, ms)
    }
  }
}

/** Whether the content of an answer is to be JSON: its request asks for that, as it came or was sent on, or a schema beside it does. */
const saysJson = ({ request, context, trace }: Call): boolean =>
  context.headers['x-schema'] !== undefined ||
  [request, trace.request].some((asked) => /^json/.test(String(asked?.response_format?.type)))

/** Whether a detection has anything to look for in a call; one that fails to say so has not. */
export function looks(entry: Entry, { applies }: Detection, call: Call): boolean {
  if (!applies) return true
  try {
    return applies(call) !== false
  } catch (error) {
    handleFailure(entry, 'detect', error, call)
    return false
  }
}

const verdicts = { block: 'blocked', note: 'flagged', log: 'logged' } as const

/** The names that a trace has for the actions of detections. */
const actions = { block: 'block', replace: 'redact', note: 'warn', log: 'log' } as const

/** How severe a finding is that does not say: what is done about it tells. */
const severities = { block: 'high', replace: 'medium', note: 'low', log: 'low' } as const

const counted = Symbol('findings')

/** One note for each kind of finding, with how many there were: a call may have thousands. */
function count(call: Call, module: string, verdict: string, label: string, direction: string): void {
  const details = call.trace.slot(
    counted,
    () => new Map<string, { label: string; direction: string; count: number }>(),
  )
  const key = `${module} ${verdict} ${direction} ${label}`
  const detail = details.get(key)
  if (detail) {
    detail.count += 1
    return
  }
  const first = { label, direction, count: 1 }
  details.set(key, first)
  call.trace.note(module, verdict, first)
}
