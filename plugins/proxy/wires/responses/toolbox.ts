import { fittingName } from '#provider'

/** A tool as its client knows it. */
export interface Origin {
  readonly kind: 'function' | 'custom' | 'search'
  readonly name: string
  readonly namespace?: string
}

/** The tools of a request, by the names of the functions that stand for them. */
export type Toolbox = ReadonlyMap<string, Origin>

/** The function that stands for a search among tools that the client has not named yet. */
export const searchName = 'tool_search'

const known = /^[\w-]{1,64}$/

/** The name of the function that stands for a tool, the same at every turn: only this wire has namespaces. */
export const functionName = (name: string, namespace?: string | null): string =>
  namespace ? customName(name, namespace) : name

/** Likewise of a tool of free text. It is never changed on the way: OpenAI's models know the tool itself by it. */
export function customName(name: string, namespace?: string | null): string {
  const whole = namespace ? `${namespace}__${name}` : name
  return known.test(whole) ? whole : fittingName(whole, 50)
}
