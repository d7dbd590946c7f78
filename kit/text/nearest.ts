import { distance } from 'fastest-levenshtein'

/** Up to three names that differ from this one in less than half of its letters, nearest first. */
export function nearest(name: string, names: readonly string[]): string[] {
  return names
    .filter(({ length }) => Math.abs(length - name.length) * 2 < Math.max(name.length, length))
    .map((other) => ({ other, far: distance(name.toLowerCase(), other.toLowerCase()) }))
    .filter(({ other, far }) => far * 2 < Math.max(name.length, other.length))
    .sort((a, b) => a.far - b.far || (a.other < b.other ? -1 : 1))
    .slice(0, 3)
    .map(({ other }) => other)
}
