/** The encoded index values of a row, by index. */
export type IndexEntries = Readonly<Record<string, readonly string[]>>

/** A row as it lies on disk: a line that says its version and index entries, then the row as JSON. */
export interface StoredRow {
  readonly version: number
  readonly entries: IndexEntries
  readonly json: string
}

export function encodeRow(version: number, entries: IndexEntries, row: unknown): string {
  return `${JSON.stringify([version, entries])}\n${JSON.stringify(row)}`
}

/** Undefined when the first line is not what `encodeRow` writes. The JSON of the row is not looked at. */
export function decodeRow(text: string): StoredRow | undefined {
  const end = text.indexOf('\n')
  try {
    const head: unknown = JSON.parse(text.slice(0, end))
    if (end < 0 || !Array.isArray(head)) return undefined
    const [version, entries]: unknown[] = head
    if (typeof version !== 'number' || !isEntries(entries)) return undefined
    return { version, entries, json: text.slice(end + 1) }
  } catch {
    return undefined
  }
}

/** The JSON of a row of this version, without parsing its first line; undefined when it is of another version. */
export function jsonOfVersion(text: string, version: number): string | undefined {
  return text.startsWith(`[${version},{`) ? text.slice(text.indexOf('\n') + 1) : undefined
}

function isEntries(value: unknown): value is IndexEntries {
  return typeof value === 'object' && value !== null && Object.values(value).every(Array.isArray)
}
