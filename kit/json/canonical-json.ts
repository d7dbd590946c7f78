import { isPlainObject } from './plain-object.ts'

/**
 * A value in the JSON Canonicalization Scheme (RFC 8785): one text for equal values, whoever writes it, for hashes and signatures.
 * Fields that are undefined are left out. Throws a TypeError for what has no such form: numbers that are not finite, texts with
 * half a character, and what is no JSON.
 */
export function canonicalJson(value: unknown): string {
  return isInForm(value) ? JSON.stringify(value) : textOf(value)
}

/**
 * The canonical JSON of any JSON, also where it has no such form: half characters count as U+FFFD there and numbers that are not
 * finite as null. For what clients sent, of which each part may be so.
 */
export function repairedJson(value: unknown): string {
  try {
    return canonicalJson(value)
  } catch {
    return canonicalJson(JSON.parse(JSON.stringify(value), repaired))
  }
}

const repaired = (_: string, value: unknown): unknown => {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name.toWellFormed(), field]))
}

/** Whether `JSON.stringify` writes the canonical JSON: as it does where names are in their order, and in less than half of the time. */
function isInForm(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed()
    case 'number':
      return Number.isFinite(value)
    case 'boolean':
      return true
    case 'object':
      return value === null || (Array.isArray(value) ? isListInForm(value) : areInForm(value))
  }
  return false
}

/** A hole in a list is no JSON, and what `every` would pass by. */
function isListInForm(list: readonly unknown[]): boolean {
  for (const item of list) if (!isInForm(item)) return false
  return true
}

function areInForm(value: object): boolean {
  if (!isPlainObject(value)) return false
  let last = ''
  for (const name in value) {
    const field = (value as Readonly<Record<string, unknown>>)[name]
    // The order of strings is that of UTF-16 code units, which the RFC asks for.
    if (name < last || !name.isWellFormed() || (field !== undefined && !isInForm(field))) return false
    last = name
  }
  return true
}

function textOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      if (value.isWellFormed()) return JSON.stringify(value)
      throw noForm(halfCharacter)
    case 'number':
      if (Number.isFinite(value)) return String(value)
      break
    case 'boolean':
      return String(value)
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? textOfList(value) : textOfFields(value)
  }
  throw noForm(String(value))
}

function textOfList(list: readonly unknown[]): string {
  let text = '['
  for (const item of list) text += text === '[' ? textOf(item) : `,${textOf(item)}`
  return `${text}]`
}

function textOfFields(value: object): string {
  let text = '{'
  for (const { name, label } of orderOf(value)) {
    const field = (value as Readonly<Record<string, unknown>>)[name]
    if (field === undefined) continue
    text += text === '{' ? label : `,${label}`
    text += textOf(field)
  }
  return `${text}}`
}

/** A name, and how a field begins that has it. */
interface Named {
  readonly name: string
  readonly label: string
}

/** Orders by the names as they come: objects of one origin have the same names in the same order, so they are sorted once. */
class KnownOrders {
  readonly next = new Map<string, KnownOrders>()
  order: readonly Named[] | undefined
}

/** Steps from name to name that are remembered. */
const mostSteps = 4096
/** A longer name is no usual one. */
const longestName = 64

let known = new KnownOrders()
let steps = 0

function orderOf(value: object): readonly Named[] {
  if (!isPlainObject(value)) throw noForm('An object of a class')
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
function sorted(value: object): readonly Named[] {
  return Object.keys(value)
    .sort()
    .map((name) => ({ name, label: `${textOf(name)}:` }))
}

const halfCharacter = 'A text with half a character'
const noForm = (what: string): TypeError => new TypeError(`${what} has no canonical JSON.`)
