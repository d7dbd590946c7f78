import type { Call } from './call.ts'

/** Where a text stands. */
export interface Place {
  readonly direction: 'request' | 'reply'
  readonly role: string
  /** `arguments` is JSON text of a tool call: what is put in is escaped for it. */
  readonly kind: 'content' | 'reasoning' | 'refusal' | 'arguments'
}

/** A finding: which characters, what it is, and what becomes of it. */
export interface Span {
  readonly start: number
  readonly end: number
  /** What was found, such as `email` or `aws_key`: goes into traces and events, the text itself never does. */
  readonly label: string
  /** `replace` puts `replacement` there, `block` refuses the call, `note` only tells. */
  readonly action: 'replace' | 'block' | 'note'
  readonly replacement?: string
}

/**
 * A detector over text. The kernel applies it to every text of a request or an answer, and to streams through one
 * bounded window that neighbouring detectors share.
 *
 * The law: for every way of cutting a text, the streamed result equals the whole one. It holds when `open` is right.
 */
export interface Detection {
  /** Findings in order of their start. What it finds may depend on at most `reach` characters before and after. */
  scan(text: string, place: Place, call: Call): readonly Span[]
  /** Longest finding, in characters: so much is held back at the most. */
  readonly reach: number
  /**
   * The first index from which text to come could still change what `scan` finds. Text before it may leave. Without
   * it, the last `reach` characters are held back.
   */
  open?(text: string, call: Call): number
  /** Each finding that was acted on, once. */
  found?(span: Span, place: Place, call: Call): void
  /** What a block tells the caller. */
  readonly refusal?: string
}

/** A detection and the module it belongs to. */
export interface Detector {
  readonly module: string
  readonly detection: Detection
}

export interface Found extends Span {
  readonly detector: Detector
}

/** The findings of several detectors: in order, none overlapping; the earlier start wins, then the first detector. */
export function scanAll(
  detectors: readonly Detector[],
  text: string,
  place: Place,
  call: Call,
  from: number,
): Found[] {
  const found: Found[] = []
  for (const detector of detectors) {
    for (const span of detector.detection.scan(text, place, call)) {
      if (span.start >= from && span.end > span.start) found.push({ ...span, detector })
    }
  }
  if (found.length < 2) return found
  found.sort((a, b) => a.start - b.start)
  let end = from
  return found.filter((span) => {
    if (span.start < end) return false
    end = span.end
    return true
  })
}

/** What stands in for a finding, fit for its place. */
export function standIn(span: Span, text: string, place: Place): string {
  if (span.action !== 'replace') return text.slice(span.start, span.end)
  const replacement = span.replacement ?? ''
  return place.kind === 'arguments' ? JSON.stringify(replacement).slice(1, -1) : replacement
}

/** Tells module, trail and statistics of a finding. */
export function report(span: Found, place: Place, call: Call): void {
  call.trail.note(span.detector.module, verdicts[span.action], {
    label: span.label,
    direction: place.direction,
  })
  span.detector.detection.found?.(span, place, call)
}

const verdicts = { replace: 'redacted', block: 'blocked', note: 'flagged' } as const
