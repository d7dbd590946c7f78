/** Shorter ones are words. */
const shortest = 16
const run = new RegExp(`[A-Za-z\\d+/_-]{${shortest},}`, 'g')
const lastRun = new RegExp(`[A-Za-z\\d+/_-]{${shortest},}={0,2}$`)

/** What a part of a text may be the base64 of. */
export interface Decoded {
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Every part of a text, from a place on, that may be base64; decoded from each of its first four characters, as its beginning may be gone. */
export function* decodedFrom(text: string, from: number): Generator<Decoded> {
  const found = text.slice(from).matchAll(run)
  for (const { index, 0: written } of found)
    for (let skipped = 0; skipped < 4; skipped += 1) {
      const start = from + index + skipped
      const decoded = Buffer.from(written.slice(skipped), 'base64').toString('utf8')
      yield { text: decoded, start, end: from + index + written.length }
    }
}

/** Where the part begins that a text ends in and that may be base64, at most so many characters before its end. */
export function base64OpenFrom(text: string, most: number): number {
  const match = lastRun.exec(text.slice(Math.max(0, text.length - most)))
  return match ? text.length - match[0].length : text.length
}
