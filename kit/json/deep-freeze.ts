import { isPlainObject } from './plain-object.ts'

/**
 * Freezes data in place, with everything that it refers to: a write then throws. Instances of classes and bytes stay as they
 * are. It walks the whole value each time, since a frozen object may hold objects that are not frozen.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) for (const item of value) deepFreeze(item)
  else if (isPlainObject(value)) for (const field in value) deepFreeze(value[field])
  else return value instanceof Error ? Object.freeze(value) : value
  return Object.freeze(value)
}
