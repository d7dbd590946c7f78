type Side = 'request' | 'response'

/** Both sides of a call as they are stored, apart from the row. */
export interface Bodies {
  readonly request?: unknown
  readonly response?: unknown
  /** Sides that were too large, and are there as the beginning of their JSON only. */
  readonly truncated?: readonly Side[]
  /** There were some, and they cannot be opened any more. */
  readonly erased?: true
  /** They are under another encryption key, and not erased for good. */
  readonly unreadable?: true
}

/** The replacement for a side that is larger than may be stored. */
interface Beginning {
  readonly truncated: true
  readonly bytes: number
  readonly text: string
}

/** The stored form of both sides, each JSON of up to so many bytes; undefined when there is nothing to store. */
export function bodiesText(
  sides: Readonly<Partial<Record<Side, string | undefined>>>,
  maxBytes: number,
): string | undefined {
  let text = ''
  const truncated: Side[] = []
  for (const side of ['request', 'response'] as const) {
    let json = sides[side]
    if (json === undefined) continue
    if (isLonger(json, maxBytes)) {
      truncated.push(side)
      json = JSON.stringify(beginningOf(json, maxBytes))
    }
    text += `${text === '' ? '{' : ','}"${side}":${json}`
  }
  if (text === '') return undefined
  return truncated.length === 0 ? `${text}}` : `${text},"truncated":${JSON.stringify(truncated)}}`
}

/** The stored content; undefined when it is gone or cannot be read. */
export function parseBodies(text: string | undefined): Bodies | undefined {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as Bodies
  } catch {
    return undefined
  }
}

const longestCharacter = 3

const isLonger = (text: string, bytes: number): boolean =>
  text.length * longestCharacter > bytes && Buffer.byteLength(text) > bytes

function beginningOf(json: string, maxBytes: number): Beginning {
  const whole = Buffer.from(json)
  const text = whole
    .subarray(0, maxBytes)
    .toString('utf8')
    .replace(/\ufffd+$/, '')
  return { truncated: true, bytes: whole.length, text }
}
