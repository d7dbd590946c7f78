/** How far JSON from outside may go. */
export interface JsonBounds {
  /** Levels of objects and lists inside one another. */
  readonly depth: number
  /** Values, in whatever level; one that is empty, such as `[]`, may count twice. */
  readonly nodes: number
}

/**
 * The bound that a JSON text exceeds, undefined when none, without parsing it. For bytes that are no JSON the result means
 * nothing. Short texts cannot exceed a bound and are not looked at; half a kilobyte takes 0.4 µs.
 */
export function findExcess(json: Uint8Array, { depth, nodes }: JsonBounds): keyof JsonBounds | undefined {
  const { length } = json
  // Each level takes two bytes, each value one.
  if (length < 2 * depth && length < nodes) return undefined
  let level = 0
  let count = 1
  for (let at = 0; at < length; at++) {
    const byte = json[at]!
    if (byte === quote) at = endOfText(json, at + 1)
    else if (byte === comma) count += 1
    else if ((byte | 0x20) === brace) {
      level += 1
      count += 1
      if (level > depth) return 'depth'
    } else if ((byte | 0x20) === closingBrace) level -= 1
    if (count > nodes) return 'nodes'
  }
  return undefined
}

const quote = 0x22
const comma = 0x2c
const backslash = 0x5c
/** Brackets differ from braces in one bit only, `0x20`. */
const brace = 0x7b
const closingBrace = 0x7d

/** Bytes of a text that are looked at one by one, before its end is searched for; most keys and values are shorter. */
const near = 48

/** Where the text ends whose first byte this is: the place of its quote, or the length when it has none. */
function endOfText(json: Uint8Array, start: number): number {
  let at = start
  for (;;) {
    for (const until = Math.min(json.length, at + near); at < until; at++) {
      const byte = json[at]
      if (byte === quote) return at
      if (byte === backslash) at += 1
    }
    const found = at < json.length ? json.indexOf(quote, at) : -1
    if (found === -1) return json.length
    let before = found - 1
    while (before >= at && json[before] === backslash) before -= 1
    if ((found - before) % 2 === 1) return found
    at = found + 1
  }
}
