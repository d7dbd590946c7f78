/** The shape of a value, without its content: a text's length, a list's and an object's size; numbers and flags as they are. */
export type Shape =
  | { readonly type: 'absent' | 'null' }
  | { readonly type: 'text' | 'list' | 'object'; readonly size: number }
  | { readonly type: 'number' | 'flag'; readonly value: number | boolean }

export interface Difference {
  /** `messages[2].content`. */
  readonly path: string
  readonly before: Shape
  readonly after: Shape
}

/** Most differences that are listed. */
const most = 50

/**
 * Where two JSON values differ, by their shapes, so that nothing of a prompt is in it. Parts that are the same object are
 * skipped, so that comparing a changed copy costs as much as was changed.
 */
export function differences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = []
  walk(before, after, '', found)
  return found
}

export function shapeOf(value: unknown): Shape {
  if (value === undefined) return { type: 'absent' }
  if (value === null) return { type: 'null' }
  if (typeof value === 'string') return { type: 'text', size: value.length }
  if (typeof value === 'number') return { type: 'number', value }
  if (typeof value === 'boolean') return { type: 'flag', value }
  if (Array.isArray(value)) return { type: 'list', size: value.length }
  return { type: 'object', size: Object.keys(value).length }
}

function walk(before: unknown, after: unknown, path: string, found: Difference[]): void {
  if (before === after || found.length >= most) return
  if (Array.isArray(before) && Array.isArray(after) && before.length === after.length) {
    for (const [i, value] of before.entries()) walk(value, after[i], `${path}[${i}]`, found)
  } else if (isRecord(before) && isRecord(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      walk(before[key], after[key], path === '' ? key : `${path}.${key}`, found)
    }
  } else found.push({ path, before: shapeOf(before), after: shapeOf(after) })
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
