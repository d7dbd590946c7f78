/** Two objects whose numbers are added, however deep they are; of other values the later one is taken. */
export function addNumbers<T>(a: T, b: T): T {
  if (typeof a === 'number' && typeof b === 'number') return (a + b) as T
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return b ?? a
  const sum = { ...a } as Record<string, unknown>
  for (const [name, value] of Object.entries(b))
    sum[name] = name in sum ? addNumbers(sum[name], value) : value
  return sum as T
}
