/** The values of a path's parameters. */
export type Params = Readonly<Record<string, string>>

const none: Params = Object.freeze({})

/** A parameter: `{name}` is one segment of a path, `{+name}` one or more. */
const parameter = /\{(\+?)([A-Za-z_]\w*)\}/g

/** Finds the parameters in paths of this form; undefined for any other path. */
export function pathMatcher(form: string): (path: string) => Params | undefined {
  const names: string[] = []
  let pattern = ''
  let at = 0
  for (const { 0: whole, 1: many, 2: name, index } of form.matchAll(parameter)) {
    pattern += escaped(form.slice(at, index)) + (many === '' ? '([^/]+)' : '(.+)')
    names.push(name!)
    at = index + whole.length
  }
  const whole = new RegExp(`^${pattern}${escaped(form.slice(at))}$`)
  return (path) => {
    const found = whole.exec(path)
    if (!found) return undefined
    if (names.length === 0) return none
    return Object.fromEntries(names.map((name, i) => [name, decoded(found[i + 1]!)]))
  }
}

/** Whether a path has places for parameters. */
export const hasParameters = (form: string): boolean => form.includes('{')

/** A path as Koa's router writes it. */
export const routerPath = (form: string): string =>
  form
    .replaceAll(':', '\\:')
    .replaceAll(parameter, (_, many: string, name: string) => (many === '' ? `:${name}` : `*${name}`))

/** A path without the names of its parameters: paths of one form are the same. */
export const formOf = (path: string): string => path.replaceAll(/\{[^}]*\}/g, '{}')

/**
 * Sorts things by their paths so that of those which fit a request the first is the most exact: segment by segment a literal
 * comes before a parameter, a parameter with literal parts before a bare one, and one of several segments last.
 */
export function mostExactFirst<T extends { readonly path: string }>(things: readonly T[]): T[] {
  const rated = things.map((thing) => ({ thing, exactness: exactnessOf(thing.path) }))
  return rated.sort((a, b) => compare(a.exactness, b.exactness)).map(({ thing }) => thing)
}

function compare(left: readonly number[], right: readonly number[]): number {
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = right[i]! - left[i]!
    if (difference !== 0) return difference
  }
  return right.length - left.length
}

/** More literal characters than any segment has. */
const literal = 2 ** 20

/** For each segment, how much of it stands fast: all, or so many characters; less than nothing where it may be several. */
const exactnessOf = (path: string): number[] =>
  path.split('/').map((segment) => {
    if (!hasParameters(segment)) return literal
    const characters = segment.replaceAll(parameter, '').length
    return segment.includes('{+') ? characters - literal : characters
  })

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
