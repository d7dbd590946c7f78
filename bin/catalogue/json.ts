const width = 100

/** JSON for people: what fits in a line of 100 characters stays in one, anything longer has a line for each part. */
export function readableJson(value: unknown, indent = ''): string {
  const line = oneLine(value)
  if (typeof value !== 'object' || value === null || indent.length + line.length <= width) return line
  const deeper = `${indent}  `
  const parts = Array.isArray(value)
    ? value.map((item) => readableJson(item, deeper))
    : Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${readableJson(inner, deeper)}`)
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${parts.map((part) => deeper + part).join(',\n')}\n${indent}${close}`
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = Object.entries(value).map(([key, inner]) => `${JSON.stringify(key)}: ${oneLine(inner)}`)
  return parts.length > 0 ? `{ ${parts.join(', ')} }` : '{}'
}
