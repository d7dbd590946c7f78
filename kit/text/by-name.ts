import { compileGlobs } from './globs.ts'

/** Whether a name stands for many: `*` for any characters, `?` for one. */
export const isGlob = (name: string): boolean => /[*?]/.test(name)

/** Looks names up: an exact name comes before a glob, an earlier glob before a later one, and case does not count. */
export function byName<T>(values: Readonly<Record<string, T>>): (name: string) => T | undefined {
  const exact = new Map<string, T>()
  const globs: { readonly matches: (name: string) => boolean; readonly value: T }[] = []
  for (const [name, value] of Object.entries(values)) {
    if (isGlob(name)) globs.push({ matches: compileGlobs([name]), value })
    else exact.set(name.toLowerCase(), value)
  }
  return (name) => exact.get(name.toLowerCase()) ?? globs.find(({ matches }) => matches(name))?.value
}
