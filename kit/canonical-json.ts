/**
 * A value in the JSON Canonicalization Scheme (RFC 8785): one text for equal values, whoever writes it, for hashes and signatures.
 * Fields that are undefined are left out. Throws a TypeError for what has no such form: numbers that are not finite, texts with
 * half a character, and what is no JSON.
 */
export function canonicalJson(value: unknown): string {
  try {
    return JSON.stringify(ordered(value))
  } catch (error) {
    if (error !== placesItself) throw error
    return written(value)
  }
}

/** Thrown for a field whose name an object puts elsewhere than behind the last: the text must be put together by hand then. */
const placesItself = new Error()

/** A copy whose fields are in the order of the RFC, which the engine writes faster than code could. */
function ordered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return sound(value)
  if (Array.isArray(value)) return each(value, ordered)
  const { names, isByHand } = orderOf(value)
  if (isByHand) throw placesItself
  const copy: Record<string, unknown> = {}
  for (const name of names) {
    const field = (value as Readonly<Record<string, unknown>>)[name]
    if (field !== undefined) copy[name] = ordered(field)
  }
  return copy
}

function written(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(sound(value))
  if (Array.isArray(value)) return `[${each(value, written).join()}]`
  const fields = orderOf(value).names.flatMap((name) => {
    const field = (value as Readonly<Record<string, unknown>>)[name]
    return field === undefined ? [] : [`${JSON.stringify(name)}:${written(field)}`]
  })
  return `{${fields.join()}}`
}

/** As `map`, which passes over the holes of a list. */
function each<T>(list: readonly unknown[], formOf: (item: unknown) => T): T[] {
  const forms: T[] = []
  for (const item of list) forms.push(formOf(item))
  return forms
}

/** The names of an object in the order of the RFC. */
interface Order {
  readonly names: readonly string[]
  /** Whether an object would not keep one of them in its place. */
  readonly isByHand: boolean
}

/** Orders by the names as they come: objects of one origin have the same names in the same order, so they are sorted once. */
class KnownOrders {
  readonly next = new Map<string, KnownOrders>()
  order: Order | undefined
}

/** Steps from name to name that are remembered. */
const mostSteps = 4096
/** A longer name is no usual one. */
const longestName = 64

let known = new KnownOrders()
let steps = 0

function orderOf(value: object): Order {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw noForm('An object of a class')
  let place = known
  for (const name in value) {
    let next = place.next.get(name)
    if (!next) {
      if (name.length > longestName) return sorted(value)
      if (steps === mostSteps) forget()
      steps += 1
      next = new KnownOrders()
      place.next.set(name, next)
    }
    place = next
  }
  place.order ??= sorted(value)
  return place.order
}

function forget(): void {
  known = new KnownOrders()
  steps = 0
}

/** The default order of `sort` is that of UTF-16 code units, which the RFC asks for. */
function sorted(value: object): Order {
  const names = Object.keys(value).sort()
  if (!names.every((name) => name.isWellFormed())) throw noForm(halfCharacter)
  return { names, isByHand: names.some((name) => name === '__proto__' || /^[0-9]/.test(name)) }
}

function sound(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
      if (value.isWellFormed()) return value
      throw noForm(halfCharacter)
    case 'number':
      if (Number.isFinite(value)) return value
      break
    case 'boolean':
      return value
    case 'object':
      return value
  }
  throw noForm(String(value))
}

const halfCharacter = 'A text with half a character'
const noForm = (what: string): TypeError => new TypeError(`${what} has no canonical JSON.`)
