import { Detector } from '../kernel/chain/detector.ts'
import type { Detection, Span } from '../kernel/detect/detect.ts'
import { merged, type OnBlock, Window } from '../kernel/detect/window.ts'
import type { TextLocation } from '../kit/canonical/text-location.ts'
import type { Finder } from '../kit/detection/find-all.ts'
import { findAll } from '../kit/detection/find-all.ts'
import { callWith, entryOf } from './chain.ts'

/** Detections at work on a call, each as a module of its own. */
export const detectorsOf = (detections: readonly Detection[], call = callWith()): Detector[] =>
  detections.map(
    (detection, i) => new Detector(entryOf(`d${i}`, { detect: { reply: detection } }), detection, call),
  )

export const content: TextLocation = { direction: 'reply', role: 'assistant', kind: 'content' }
export const toolArguments: TextLocation = { ...content, kind: 'arguments' }

/** A detection of what these patterns match, which must be bounded and local; each match becomes its replacement. */
export function detectionOf(
  patterns: readonly { readonly pattern: RegExp; readonly replacement: string }[],
  options: Omit<Detection, 'scan'> & { readonly action?: Span['action'] },
): Detection {
  const { action = 'replace', ...rest } = options
  const finders = patterns.map(({ pattern, replacement }): Finder<Span> => {
    const sought = new RegExp(pattern, 'g')
    return (text, from) => {
      sought.lastIndex = from
      const match = sought.exec(text)
      return match
        ? {
            start: match.index,
            end: match.index + match[0].length,
            label: pattern.source,
            action,
            replacement,
          }
        : undefined
    }
  })
  return { ...rest, scan: (text, _place, _call, from) => findAll(finders, text, from) }
}

/** What detectors make of a whole text, said without a window: the reference for everything that is streamed. */
export function redactedWhole(
  text: string,
  detections: readonly Detection[],
  place = content,
  call = callWith(),
): string {
  const all = detectorsOf(detections, call).flatMap((detector) =>
    detector.detection.scan(text, place, call, 0).map((span) => ({ ...span, detector })),
  )
  let redacted = ''
  let at = 0
  for (const { start, end, action, replacement = '' } of merged(all, 0)) {
    redacted += text.slice(at, start) + (action === 'replace' ? replacement : text.slice(start, end))
    at = end
  }
  return redacted + text.slice(at)
}

const throwing: OnBlock = ({ label }) => {
  throw new Error(`blocked: ${label}`)
}

/** What may leave a window now that this part has come. */
export function push(window: Window, part: string): string {
  window.add(part)
  return window.take()
}

/** What leaves a window as parts go in: one piece for each part, and one at the end. */
export function piecesThrough(
  parts: readonly string[],
  detections: readonly Detection[],
  place = content,
  call = callWith(),
  onBlock = throwing,
): string[] {
  const window = new Window(detectorsOf(detections, call), place, onBlock)
  return [...parts.map((part) => push(window, part)), window.end()]
}

/** The text cut at these places. */
export function cut(text: string, places: readonly number[]): string[] {
  const bounds = [0, ...[...places].sort((a, b) => a - b), text.length]
  return bounds.slice(1).map((end, i) => text.slice(bounds[i], end))
}
