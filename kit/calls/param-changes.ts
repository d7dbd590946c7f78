/** Changes of a call's parameters that are told of, characters of each, and of the header that lists them. */
const most = { changes: 100, characters: 100, header: 2000 }

/**
 * Adds a change to those of a call, cut and once however often it is said. A request can have any number of fields, so
 * only the first changes are kept, and one more, which tells that there were more.
 */
export function addChange(changes: string[], change: string): void {
  const told = change.slice(0, most.characters)
  if (changes.length <= most.changes && !changes.includes(told)) changes.push(told)
}

/** The changes as a header lists them. Longer lists say no more to a person, and clients refuse long headers. */
export function listOfChanges(changes: readonly string[]): string {
  const list = changes.join(', ')
  if (changes.length <= most.changes && list.length <= most.header) return list
  return `${list.slice(0, list.lastIndexOf(', ', most.header))}, more`
}
