import type { Choice, Completion, Delta, Message, ModelRequest } from '../call/canonical.ts'
import type { Place } from './detect.ts'

type Kind = Place['kind']
type Change = (text: string, place: Place) => string

/** Where in a message a text stands. */
export interface Spot {
  readonly kind: Kind
  /** The way to it. In a stream, texts with the same way are parts of one; undefined for a text that comes whole. */
  readonly lane: string | undefined
  /** The smallest delta that has this text there. */
  wrap(text: string): Delta
}

type Visit = (text: string, spot: Spot) => string

/** The request with every text of its conversation passed through `change`; the same object when nothing changed. */
export function mapRequestTexts(request: ModelRequest, change: Change): ModelRequest {
  const messages =
    request.messages &&
    mapArray(request.messages, (message) =>
      mapMessage(message, (text, { kind }) =>
        change(text, { direction: 'request', role: message.role, kind }),
      ),
    )
  const place: Place = { direction: 'request', role: 'user', kind: 'content' }
  const prompt = mapInput(request.prompt, place, change)
  const input = mapInput(request.input, place, change)
  if (messages === request.messages && prompt === request.prompt && input === request.input) return request
  return {
    ...request,
    ...(messages && { messages }),
    ...(prompt !== undefined && { prompt }),
    ...(input !== undefined && { input }),
  }
}

/** The request with every other string that may hold text passed through `change`: tools, `user`, `metadata` … */
export function mapRequestParameters(request: ModelRequest, change: Change): ModelRequest {
  const place: Place = { direction: 'request', role: 'user', kind: 'parameter' }
  const changed: Record<string, unknown> = {}
  for (const field in request) {
    if (structural.has(field)) continue
    const value = request[field]
    const next = mapNode(value, parameter, (text) => change(text, place))
    if (next !== value) changed[field] = next
  }
  for (const _ in changed) return { ...request, ...changed }
  return request
}

/** The answer with every text passed through `change`; the same object when nothing changed. */
export function mapReplyTexts(body: Completion, change: Change): Completion {
  if (!body.choices) return body
  const choices = mapArray(body.choices, (choice) => mapChoice(choice, change))
  return choices === body.choices ? body : { ...body, choices }
}

/** Every text of a request's conversation, for who only reads. */
export function requestTexts(request: ModelRequest): { text: string; place: Place }[] {
  const texts: { text: string; place: Place }[] = []
  mapRequestTexts(request, (text, place) => {
    texts.push({ text, place })
    return text
  })
  return texts
}

/** A message, or the delta of one, with its texts passed through `visit`; the same object when nothing changed. */
export function mapMessage<M extends Message | Delta>(message: M, visit: Visit): M {
  const changed: Record<string, unknown> = {}
  for (const field in message) {
    const value: unknown = message[field]
    if (value === null || value === '' || value === undefined) continue
    const known = plain[field]
    if (!known && opaque.test(field)) continue
    const spot = known ?? {
      kind: reasoning.test(field) ? ('reasoning' as const) : ('content' as const),
      lane: field,
      wrap: (text: unknown): Delta => ({ [field]: text }),
    }
    const next = mapNode(value, spot, visit)
    if (next !== value) changed[field] = next
  }
  for (const _ in changed) return { ...message, ...changed }
  return message
}

const spotOf = (field: string, kind: Kind): Spot => ({
  kind,
  lane: field,
  wrap: (text) => ({ [field]: text }),
})

const plain: Readonly<Record<string, Spot>> = {
  content: spotOf('content', 'content'),
  refusal: spotOf('refusal', 'refusal'),
  reasoning: spotOf('reasoning', 'reasoning'),
  reasoning_content: spotOf('reasoning_content', 'reasoning'),
}

/** Fields that are not text: names, ids, addresses, bytes, and what providers sign or encrypt. */
const opaque =
  /^(?:role|name|id|type|index|object|model|format|url|data|file_data|mime_type|media_type|detail|status|[\w-]*_id|.*signature.*|encrypted_.*)$/i

const reasoning = /reason|think/i

/** Nested fields whose text grows from chunk to chunk; any other comes whole. */
const growing = /^(?:content|text|thinking|reasoning|summary|transcript|arguments|input|refusal)$/

/** Fields of a request that are no parameters, or decide where it goes. */
const structural = new Set(['model', 'messages', 'prompt', 'input'])

const parameter: NodeSpot = { kind: 'parameter', lane: undefined, wrap: () => ({}) }

interface NodeSpot extends Omit<Spot, 'wrap'> {
  wrap(node: unknown): Delta
}

function mapNode(node: unknown, spot: NodeSpot, visit: Visit): unknown {
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
    if (spot.kind !== 'parameter' && opaque.test(field)) continue
    const next = mapNode(value, fieldSpot(node, field, spot), visit)
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

function mapInput(input: ModelRequest['input'], place: Place, change: Change): ModelRequest['input'] {
  if (typeof input === 'string') return change(input, place)
  if (!Array.isArray(input) || typeof input[0] !== 'string') return input
  return mapArray(input as readonly string[], (text) =>
    typeof text === 'string' ? change(text, place) : text,
  )
}

function mapChoice(choice: Choice, change: Change): Choice {
  let next = choice
  if (choice.text) {
    const text = change(choice.text, { direction: 'reply', role: 'assistant', kind: 'content' })
    if (text !== choice.text) next = { ...next, text }
  }
  if (choice.message) {
    const { role } = choice.message
    const message = mapMessage(choice.message, (text, { kind }) =>
      change(text, { direction: 'reply', role, kind }),
    )
    if (message !== choice.message) next = { ...next, message }
  }
  return next
}

/** `map` that gives back the same array when no element changed. */
function mapArray<T>(items: readonly T[], map: (item: T, i: number) => T): readonly T[] {
  let changed: T[] | undefined
  for (const [i, item] of items.entries()) {
    const next = map(item, i)
    if (next !== item) changed ??= items.slice(0, i)
    changed?.push(next)
  }
  return changed ?? items
}
