import { isDeepStrictEqual } from 'node:util'

/**
 * A value after a merge patch (RFC 7396). What equals what is there stays as it is, also where that holds a null, so that a value
 * patched with itself is the same.
 */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch
  const next: Record<string, unknown> = { ...(isRecord(value) ? value : {}) }
  for (const [field, change] of Object.entries(patch)) {
    if (Object.hasOwn(next, field) && isDeepStrictEqual(next[field], change)) continue
    if (change === null) delete next[field]
    else
      Object.defineProperty(next, field, {
        value: mergePatch(Object.hasOwn(next, field) ? next[field] : undefined, change),
        enumerable: true,
        configurable: true,
        writable: true,
      })
  }
  return next
}

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
