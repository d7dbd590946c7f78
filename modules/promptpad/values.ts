import type { Context } from '#kernel'

type Values = Readonly<Record<string, unknown>>

/**
 * The values for a template as the guards let them pass. They are the client's words, wherever the template puts them: in a message
 * of the system alone, guards would take them for the operator's. Names of fields are looked at too, as a tag may show a whole object.
 */
export async function guarded(
  values: Values,
  inspect: (texts: Parameters<Context<unknown>['inspect']>[1]) => Promise<readonly string[]>,
): Promise<Values> {
  const texts: string[] = []
  mapped(values, (text) => {
    texts.push(text)
    return text
  })
  const seen = await inspect(texts.map((text) => ({ role: 'user', text })))
  let at = 0
  return mapped(values, () => seen[at++] ?? '') as Values
}

/** A copy of a value with other texts, which are visited in the same order each time. */
function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((item) => mapped(item, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [change(name), mapped(inner, change)]),
  )
}
