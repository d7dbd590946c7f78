import { mapDataUrlText } from '../detection/data-url-text.ts'
import type { Delta } from './forms.ts'
import type { TextLocation } from './text-location.ts'

/** JSON of any shape inside a message or a request, and the texts in it. */

/** Where a part of it stands. */
export interface NodeSpot {
  readonly kind: TextLocation['kind']
  /** The way to it. In a stream, texts with the same way are parts of one; undefined for a text that comes whole. */
  readonly lane: string | undefined
  /** The smallest delta that has this there. */
  wrap(node: unknown): Delta
}

type Visit = (text: string, spot: NodeSpot) => string

/** Fields that are not text: names, ids, addresses, bytes other than those of text, and what providers sign or encrypt. */
export const opaque =
  /^(?:role|name|id|type|index|object|model|format|url|data|file_data|mime_type|media_type|detail|status|[\w-]*_id|.*signature.*|encrypted_.*)$/i

/** Nested fields whose text grows from chunk to chunk; any other comes whole. */
const growing = /^(?:content|text|thinking|reasoning|summary|transcript|arguments|input|refusal)$/

/** The same with every text passed through `visit`; the same object when nothing changed. */
export function mapNode(node: unknown, spot: NodeSpot, visit: Visit): unknown {
  if (typeof node === 'string') return node === '' ? node : visit(node, spot)
  if (Array.isArray(node))
    return mapArray<unknown>(node, (item, i) => mapNode(item, itemSpot(item, i, spot), visit))
  if (typeof node === 'object' && node !== null)
    return mapFields(node as Record<string, unknown>, spot, visit)
  return node
}

function mapFields(node: Record<string, unknown>, spot: NodeSpot, visit: Visit): unknown {
  const changed: Record<string, unknown> = {}
  for (const field in node) {
    const value = node[field]
    if (value === '' || (typeof value !== 'string' && typeof value !== 'object')) continue
    const isOpaque = spot.kind !== 'parameter' && opaque.test(field)
    if (isOpaque && typeof value !== 'string') continue
    const own = fieldSpot(node, field, spot)
    const next = isOpaque
      ? mapDataUrlText(value as string, (text) => visit(text, { ...own, lane: undefined }))
      : mapNode(value, own, visit)
    if (next !== value) changed[field] = next
  }
  for (const _ in changed) return { ...node, ...changed }
  return node
}

/** Elements of a list belong together by their `index`, or else by their place. */
function itemSpot(item: unknown, i: number, { kind, lane, wrap }: NodeSpot): NodeSpot {
  const index = typeof item === 'object' && item !== null ? Reflect.get(item, 'index') : undefined
  return { kind, lane: lane && `${lane}.${String(index ?? i)}`, wrap: (node) => wrap([node]) }
}

function fieldSpot(parent: Record<string, unknown>, field: string, { kind, lane, wrap }: NodeSpot): NodeSpot {
  const { index, type } = parent
  const identity = { ...(index !== undefined && { index }), ...(type !== undefined && { type }) }
  const whole = typeof parent[field] === 'string' && !growing.test(field)
  return {
    kind: field === 'arguments' ? 'arguments' : kind,
    lane: whole || lane === undefined ? undefined : `${lane}.${field}`,
    wrap: (node) => wrap({ ...identity, [field]: node }),
  }
}

/** `map` that gives back the same array when no element changed. */
export function mapArray<T>(items: readonly T[], map: (item: T, i: number) => T): readonly T[] {
  let changed: T[] | undefined
  for (const [i, item] of items.entries()) {
    const next = map(item, i)
    if (next !== item) changed ??= items.slice(0, i)
    changed?.push(next)
  }
  return changed ?? items
}
