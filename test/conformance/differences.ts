/**
 * Where `seen` departs from `wanted`, a line for each place. Objects may have more fields than wanted, arrays must be as
 * long; a field that is wanted as undefined must be absent.
 */
export function differences(wanted: unknown, seen: unknown, at = ''): string[] {
  if (Array.isArray(wanted) && Array.isArray(seen)) {
    if (wanted.length !== seen.length)
      return [`${at}: wanted ${wanted.length} items, saw ${seen.length}: ${shown(seen)}`]
    return wanted.flatMap((item, n) => differences(item, seen[n], `${at}[${n}]`))
  }
  if (isRecord(wanted) && isRecord(seen)) {
    return Object.entries(wanted).flatMap(([name, value]) =>
      differences(value, seen[name], at ? `${at}.${name}` : name),
    )
  }
  return Object.is(wanted, seen) ? [] : [`${at}: wanted ${shown(wanted)}, saw ${shown(seen)}`]
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shown = (value: unknown): string => JSON.stringify(value) ?? 'nothing'
