import { hash } from 'node:crypto'

const length = 12

/**
 * A word that no model says by chance, the same for the same origin: letters first and digits at the end, so that it survives translation
 * and is one word to people.
 */
export function markOf(origin: string): string {
  const digest = Buffer.from(hash('sha256', origin, 'hex'), 'hex')
  return Array.from(digest.subarray(0, length), (byte, at) =>
    at < length - 4 ? String.fromCharCode(97 + (byte % 26)) : String(byte % 10),
  ).join('')
}

/** A text with the mark, and its halves, in their places. */
export const marked = (text: string, mark: string): string =>
  text
    .replaceAll('{{mark}}', mark)
    .replaceAll('{{half1}}', mark.slice(0, length / 2))
    .replaceAll('{{half2}}', mark.slice(length / 2))
