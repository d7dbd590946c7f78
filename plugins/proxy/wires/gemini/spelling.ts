/** Fields whose contents are the client's own: what they call theirs is no field of the wire. */
const foreign = new Set([
  'args',
  'default',
  'example',
  'labels',
  'parametersJsonSchema',
  'response',
  'responseJsonSchema',
])

/** Fields that are lists, of which Google also takes an only element for the list. */
const lists = new Set(['contents', 'parts', 'tools', 'functionDeclarations', 'safetySettings', 'requests'])

/** A body in one spelling: Google takes `snake_case` for `camelCase`, and its own examples mix them. */
export function spelled(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(spelled)
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(Object.entries(node).map(([name, value]) => fieldOf(camelCase(name), value)))
}

function fieldOf(name: string, value: unknown): [string, unknown] {
  if (foreign.has(name)) return [name, value]
  if (name === 'properties' && typeof value === 'object' && value !== null)
    return [name, Object.fromEntries(Object.entries(value).map(([own, schema]) => [own, spelled(schema)]))]
  const isOnly = lists.has(name) && typeof value === 'object' && value !== null && !Array.isArray(value)
  return [name, spelled(isOnly ? [value] : value)]
}

const camelCase = (name: string): string =>
  name.replaceAll(/(?<=.)_([a-z])/g, (_, letter: string) => letter.toUpperCase())

export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
