/** A JSON value with each string in it passed through `change`; names of fields stay. */
export function mapStrings<T>(value: T, change: (text: string) => string): T {
  const mapped = (node: unknown): unknown => {
    if (typeof node === 'string') return change(node)
    if (Array.isArray(node)) return node.map(mapped)
    if (typeof node !== 'object' || node === null) return node
    return Object.fromEntries(Object.entries(node).map(([name, inner]) => [name, mapped(inner)]))
  }
  return mapped(value) as T
}
