/**
 * A value as text in which the fields of every object are in one order, without some; the order of lists is theirs. Equal values
 * have equal texts.
 */
export function orderedJson(value: unknown, without?: ReadonlySet<string>): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map((item) => orderedJson(item)).join()}]`
  let text = '{'
  for (const name of Object.keys(value).sort()) {
    const field = (value as Readonly<Record<string, unknown>>)[name]
    if (field === undefined || without?.has(name)) continue
    text += `${JSON.stringify(name)}:${orderedJson(field)},`
  }
  return `${text}}`
}
