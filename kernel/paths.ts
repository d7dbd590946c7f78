/** What stands in the places of a path's parameters. */
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

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
