/** The values in a text that was meant to be JSON. */
export interface CutJson {
  /** Whether a value is missing somewhere, or only begun at the end: a repair would have to make one up. */
  readonly hasGap: boolean
  /** Whether brackets are open at the end. */
  readonly isOpen: boolean
  /** How many brackets are open at once, where most are. */
  readonly depth: number
  /** Whether it ends in the midst of a value that is a text. */
  readonly endsInText: boolean
  /** The text up to its last complete value, with the brackets closed that are open there. */
  readonly complete: string
}

type Expected = 'key' | 'colon' | 'value' | 'comma'

interface Frame {
  readonly closer: '}' | ']'
  expected: Expected
}

const token =
  /"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?$)|'[^'\\]*(?:\\.[^'\\]*)*(?:'|\\?$)|[{}[\],:]|[^\s{}[\],:"']+/gs
const literal = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|True|False|None)$/

/**
 * Reads a text from its first bracket on, as badly written as models write it: without quotes, with commas too many or too
 * few. Numbers at the very end count as complete for `hasGap` only: more digits might have come.
 */
export function cutJson(text: string): CutJson {
  const frames: Frame[] = []
  let hasGap = false
  let endsInText = false
  let depth = 0
  // A bracket that is open there stays open: whenever a bracket is closed, there is a later end to keep.
  let kept = { end: 0, open: 0 }
  const keep = (end: number): void => {
    kept = { end, open: frames.length }
  }
  for (const { 0: said, index } of text.matchAll(token)) {
    const end = index + said.length
    const frame = frames.at(-1)
    if (said === '{' || said === '[') {
      frames.push(said === '{' ? { closer: '}', expected: 'key' } : { closer: ']', expected: 'value' })
      depth = Math.max(depth, frames.length)
      keep(end)
    } else if (!frame) continue
    else if (said === '}' || said === ']') {
      if (lacksValue(frame)) hasGap = true
      frames.pop()
      const outer = frames.at(-1)
      if (outer) outer.expected = 'comma'
      keep(end)
    } else if (said === ':') frame.expected = 'value'
    else if (said === ',') {
      if (lacksValue(frame) || (frame.closer === ']' && frame.expected === 'value')) hasGap = true
      frame.expected = frame.closer === '}' ? 'key' : 'value'
    } else {
      const isLast = end === text.length
      const isCut = isLast && (/^["']/.test(said) ? isUnended(said) : !literal.test(said))
      if (isCut) hasGap = true
      if (isKey(frame)) frame.expected = 'colon'
      else if (isCut) endsInText = /^["']/.test(said)
      else {
        frame.expected = 'comma'
        if (!isLast || !/^[-\d]/.test(said)) keep(end)
      }
    }
  }
  const last = frames.at(-1)
  if (last && lacksValue(last)) hasGap = true
  const closers = frames.slice(0, kept.open).map(({ closer }) => closer)
  const complete = text.slice(0, kept.end) + closers.reverse().join('')
  return { hasGap, isOpen: last !== undefined, depth, endsInText, complete }
}

/** Whether a key stands there without its value. */
const lacksValue = ({ closer, expected }: Frame): boolean =>
  closer === '}' && (expected === 'colon' || expected === 'value')

/** A comma before a key may be missing; after a key without a colon comes its value. */
const isKey = ({ closer, expected }: Frame): boolean =>
  closer === '}' && (expected === 'key' || expected === 'comma')

const isUnended = (quoted: string): boolean =>
  quoted.length < 2 || quoted.at(-1) !== quoted[0] || /(?<!\\)\\(?:\\\\)*.$/s.test(quoted)
