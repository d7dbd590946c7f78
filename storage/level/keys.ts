import { createHash } from 'node:crypto'
import type { IndexValue } from '../index.ts'

const longestText = 256

/** The values that an index function gave for one row. */
export function listOf<T>(values: IndexValue | readonly T[]): readonly (IndexValue | T)[] {
  return typeof values === 'object' ? values : [values]
}

/** Ends an index value inside a key; escaping keeps it out of the values themselves. */
export const terminator = '\0'

/** The half-open range of all keys that begin with a prefix. The prefix must end in an ASCII character. */
export function prefixRange(prefix: string): { gte: string; lt: string } {
  const last = prefix.charCodeAt(prefix.length - 1)
  return { gte: prefix, lt: prefix.slice(0, -1) + String.fromCharCode(last + 1) }
}

/** A non-negative integer below 2^48 as twelve characters that sort as the number does. */
export function sortableInteger(value: number): string {
  return value.toString(16).padStart(12, '0')
}

/** Inverse of `sortableInteger`. */
export function parseInteger(text: string): number {
  return Number.parseInt(text, 16)
}

/**
 * An index value as text that sorts as the value does: booleans, then numbers, then strings by their UTF-8 bytes. Strings
 * beyond 256 characters sort by their first 256, and a hash distinguishes them. NaN is no value.
 */
export function sortableValue(value: IndexValue): string | undefined {
  switch (typeof value) {
    case 'boolean':
      return value ? 'b1' : 'b0'
    case 'number':
      return Number.isNaN(value) ? undefined : `n${sortableNumber(value)}`
    case 'string':
      return `s${escapeText(value.length > longestText ? shorten(value) : value)}`
    default:
      return undefined
  }
}

/** A value, or the values of a compound one, as `sortableValue`; undefined when one of them is no value. */
export function sortableEntry(value: IndexValue | readonly IndexValue[]): string | undefined {
  if (typeof value !== 'object') return sortableValue(value)
  const parts = value.map(sortableValue)
  return parts.length === 0 || parts.includes(undefined) ? undefined : parts.join(terminator)
}

/** A compound value, and all that begins it. */
export function beginningsOf(entry: string): string[] {
  const beginnings: string[] = []
  for (let end = entry.indexOf(terminator); end >= 0; end = entry.indexOf(terminator, end + 1))
    beginnings.push(entry.slice(0, end))
  return [...beginnings, entry]
}

/** IEEE 754 bits with the sign flipped, or all bits flipped below zero, sort as unsigned integers do. */
function sortableNumber(value: number): string {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value === 0 ? 0 : value)
  const high = view.getUint32(0)
  const low = view.getUint32(4)
  const negative = high >>> 31 === 1
  return hex32(negative ? ~high : high ^ 0x80000000) + hex32(negative ? ~low : low)
}

function hex32(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0')
}

function escapeText(text: string): string {
  const escaped =
    text.includes('\0') || text.includes('\u0001')
      ? text.replaceAll('\u0001', '\u0001\u0002').replaceAll('\0', '\u0001\u0001')
      : text
  return escaped.toWellFormed()
}

function shorten(text: string): string {
  return text.slice(0, longestText) + createHash('sha256').update(text).digest('base64url')
}
