import { distance } from 'fastest-levenshtein'

/** Letters of a name that is meant by what it begins with. */
const leastBeginning = 3

/**
 * Up to three names that this one was meant to be, nearest first: they differ from it in no more than a third of their letters, or one of
 * both begins with the other.
 */
export function nearest(name: string, names: readonly string[]): string[] {
  return names
    .map((other) => ({ other, far: mistakes(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, far }) => far * 3 <= Math.max(name.length, other.length) || isBeginning(name, other))
    .sort((a, b) => a.far - b.far || (a.other < b.other ? -1 : 1))
    .slice(0, 3)
    .map(({ other }) => other)
}

/** The nearest name as the end of a message; nothing where none is near. */
export function nearestHint(name: string, names: readonly string[]): string {
  const [near] = nearest(name, names)
  return near === undefined ? '' : `; the nearest is ${near}`
}

/** Letters that were missed, added or mistaken; two that changed places are one mistake. Of names far too long it is the least that it can be. */
function mistakes(one: string, other: string): number {
  const apart = Math.abs(one.length - other.length)
  if (apart * 3 > Math.max(one.length, other.length)) return apart
  const far = distance(one, other)
  return far === 2 && lettersOf(one) === lettersOf(other) ? 1 : far
}

const lettersOf = (text: string): string => [...text].sort().join('')

function isBeginning(one: string, other: string): boolean {
  const [short, long] = [one.toLowerCase(), other.toLowerCase()].sort((a, b) => a.length - b.length)
  return short!.length >= leastBeginning && long!.startsWith(short!)
}
