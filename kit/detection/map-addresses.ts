/** Fields in which parts of a message name the place of a picture or a file, where they do not hold its bytes. */
const fields = /^(?:url|data|file_data)$/i
const address = /^(?<place>https?:\/\/[^?#]*)(?<query>\?[^#]*)?(?<fragment>#.*)?$/is

/**
 * A part of a message with what the addresses in it say passed through `change`: each place, and each pair of a query, decoded, as
 * `name=value`. The same object when nothing changed.
 */
export function mapAddresses<T>(node: T, change: (text: string) => string): T {
  if (typeof node !== 'object' || node === null) return node
  const changed = Object.entries(node).flatMap(([field, value]: [string, unknown]) => {
    const next =
      typeof value === 'string' && fields.test(field)
        ? mapAddress(value, change)
        : mapAddresses(value, change)
    return next === value ? [] : [[field, next] as const]
  })
  if (changed.length === 0) return node
  const next = Object.fromEntries(changed)
  return (Array.isArray(node) ? Object.assign([...node], next) : { ...node, ...next }) as T
}

/** An address in which what was changed is encoded again, and all else keeps its characters. */
function mapAddress(url: string, change: (text: string) => string): string {
  const { place, query = '', fragment = '' } = address.exec(url)?.groups ?? {}
  if (place === undefined) return url
  const said = decoded(place)
  const told = change(said)
  const pairs = query.slice(1).split('&')
  const changed = pairs.map((pair) => (pair === '' ? pair : mapPair(pair, change)))
  const next = pairs.some((pair, n) => pair !== changed[n]) ? `?${changed.join('&')}` : query
  return (told === said ? place : encodeURI(told)) + next + fragment
}

function mapPair(pair: string, change: (text: string) => string): string {
  const said = decoded(pair.replaceAll('+', ' '))
  const told = change(said)
  if (told === said) return pair
  const at = told.indexOf('=')
  return [told.slice(0, at === -1 ? told.length : at), ...(at === -1 ? [] : [told.slice(at + 1)])]
    .map(encodeURIComponent)
    .join('=')
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
