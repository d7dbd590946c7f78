import { type JournalEntry, notFound, type Page, type PageOptions, type Registry } from '#kernel'

/** Entries, the newest first. Throws `QUERY_INVALID` for what is no place among them. */
export async function entriesOf(
  journal: Registry['journal'],
  { after, limit = 50, offset = 0 }: PageOptions,
): Promise<Page<JournalEntry>> {
  const total = await journal.last()
  const end = Math.max(0, (after === undefined ? total : placeOf(after, total)) - offset)
  const start = Math.max(0, end - limit)
  const items = (await Array.fromAsync(journal.scan(start + 1, end + 1))).reverse()
  return { items, total, ...(start > 0 && { next: String(start) }) }
}

/** The entry of a generation. Throws a not found. */
export async function entryAt(journal: Registry['journal'], generation: number): Promise<JournalEntry> {
  const found = await journal.get(generation)
  if (found) return found
  const last = await journal.last()
  throw notFound(`There is no generation ${generation}; the last is ${last}.`, { param: 'generation' })
}

/** How many entries come after the place that a page said. */
function placeOf(after: string, total: number): number {
  const place = /^\d{1,15}$/.test(after) ? Number(after) : Number.NaN
  if (place <= total) return place
  throw Object.assign(new Error('This is no place in the history.'), { code: 'QUERY_INVALID' })
}
