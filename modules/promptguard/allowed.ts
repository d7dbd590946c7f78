import type { Finder } from '#kit'

/** The text with blanks in place of what a finder finds, so that everything else stays where it is. */
export function blankedOut(text: string, find: Finder): string {
  let left = ''
  let at = 0
  for (let found = find(text, 0); found; found = find(text, found.end)) {
    left += text.slice(at, found.start) + ' '.repeat(found.end - found.start)
    at = found.end
  }
  return left + text.slice(at)
}
