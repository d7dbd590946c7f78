const longest = 256
const longRun = new RegExp(`\\S{${longest + 1}}`, 'u')
const pieces = new RegExp(`\\s*\\S{1,${longest}}|\\s+$`, 'gu')

/**
 * Counts with an encoder whose time for a run without a space grows with the square of its length: long ones are counted
 * in pieces, each of which may add a token.
 */
export function countBounded(text: string, count: (part: string) => number): number {
  if (!longRun.test(text)) return count(text)
  let sum = 0
  for (const [part] of text.matchAll(pieces)) sum += count(part)
  return sum
}

/** Tokens of a prompt: of its texts, and one for each control token between them. */
export function countParts(prompt: string, control: RegExp, count: (text: string) => number): number {
  return prompt.split(control).reduce((sum, text, i) => sum + count(text) + (i > 0 ? 1 : 0), 0)
}
