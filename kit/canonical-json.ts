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
  const copy: Record<string, unknown> = {}
  for (const name of namesOf(value)) {
    const first = name.charCodeAt(0)
    if ((first >= 0x30 && first <= 0x39) || name === '__proto__') throw placesItself
    const field = (value as Readonly<Record<string, unknown>>)[name]
    if (field !== undefined) copy[name] = ordered(field)
  }
  return copy
}

function written(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(sound(value))
  if (Array.isArray(value)) return `[${each(value, written).join()}]`
  const fields = namesOf(value).flatMap((name) => {
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

/** The default order of `sort` is that of UTF-16 code units, which the RFC asks for. */
function namesOf(value: object): string[] {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw noForm('An object of a class')
  const names = Object.keys(value)
  let before = ''
  let isSorted = true
  for (const name of names) {
    if (!name.isWellFormed()) throw noForm(halfCharacter)
    if (name < before) isSorted = false
    before = name
  }
  return isSorted ? names : names.sort()
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
