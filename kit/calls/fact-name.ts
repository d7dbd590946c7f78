const longest = 200

/** What a fact of a trace names: its text, or its id with its version or variant. Undefined for a fact that names nothing. */
export function factName(fact: unknown): string | undefined {
  if (typeof fact === 'string') return fact.slice(0, longest)
  if (typeof fact !== 'object' || fact === null) return undefined
  const { id, slug, name, version, variant } = fact as Record<string, unknown>
  const parts = [id ?? slug ?? name, version ?? variant].filter((part) => part !== undefined && part !== null)
  return parts.length === 0 ? undefined : parts.map(String).join('/').slice(0, longest)
}
