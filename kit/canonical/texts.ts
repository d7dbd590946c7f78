import { mapAddresses } from '../detection/map-addresses.ts'
import type {
  Choice,
  ChoiceDelta,
  Completion,
  CompletionChunk,
  Delta,
  Message,
  ModelRequest,
} from './forms.ts'
import { mapArray, mapNode, type NodeSpot, opaque } from './nodes.ts'
import type { TextLocation } from './text-location.ts'

type Change = (text: string, place: TextLocation) => string
/** `lane` tells the texts of an answer apart, as in `Spot`. */
type ChangeSaid = (text: string, place: TextLocation, lane: string | undefined) => string

/** Where in a message a text stands. */
export interface Spot extends Omit<NodeSpot, 'wrap'> {
  /** The smallest delta that has this text there. */
  wrap(text: string): Delta
}

/** Where in a choice a text stands. */
interface ChoiceSpot extends Omit<Spot, 'wrap'> {
  /** The smallest part of a choice that has this text there. */
  wrap(text: string): Partial<ChoiceDelta>
}

type Visit = (text: string, spot: Spot) => string
type VisitChoice = (text: string, spot: ChoiceSpot) => string

/** The request with every text of its conversation passed through `change`; the same object when nothing changed. */
export function mapRequestTexts(request: ModelRequest, change: Change): ModelRequest {
  const messages =
    request.messages &&
    mapArray(request.messages, (message) =>
      mapMessage(message, (text, { kind }) =>
        change(text, { direction: 'request', role: message.role, kind }),
      ),
    )
  const place: TextLocation = { direction: 'request', role: 'user', kind: 'content' }
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

/** The request with every other string that may hold text passed through `change`: tools, `user`, `metadata`, who speaks … */
export function mapRequestParameters(request: ModelRequest, change: Change): ModelRequest {
  const place: TextLocation = { direction: 'request', role: 'user', kind: 'parameter' }
  const next = mapOthers(request, structural, parameter, (text) => change(text, place))
  if (!next.messages) return next
  const messages = mapArray(next.messages, (message) => {
    const { role, name } = message
    // Of a tool's result it is the tool's, which has to be that of its call.
    if (typeof name !== 'string' || name === '' || role === 'tool' || role === 'function') return message
    const changed = change(name, place)
    return changed === name ? message : { ...message, name: changed }
  })
  return messages === next.messages ? next : { ...next, messages }
}

/** The request with what the addresses of its pictures and files say passed through `change`. */
export function mapRequestAddresses(request: ModelRequest, change: Change): ModelRequest {
  const messages = mapArray(request.messages ?? [], (message) => {
    if (!Array.isArray(message.content)) return message
    const place: TextLocation = { direction: 'request', role: message.role, kind: 'address' }
    const content = mapAddresses(message.content, (text) => change(text, place))
    return content === message.content ? message : { ...message, content }
  })
  return messages === (request.messages ?? messages) ? request : { ...request, messages }
}

/** The answer with every text passed through `change`; the same object when nothing changed. */
export function mapReplyTexts(body: Completion, change: ChangeSaid): Completion {
  if (!body.choices) return body
  const choices = mapArray(body.choices, (choice) => {
    const role = choice.message?.role ?? 'assistant'
    return mapChoice(choice, (text, { kind, lane }) => change(text, { direction: 'reply', role, kind }, lane))
  })
  return choices === body.choices ? body : { ...body, choices }
}

/**
 * The answer, or a part of it, with every other string that may hold text passed through `change`: what it found and quotes
 * repeats what it says. The same object when nothing changed.
 */
export function mapReplyFields<B extends Completion | CompletionChunk>(body: B, change: Change): B {
  const place: TextLocation = { direction: 'reply', role: 'assistant', kind: 'content' }
  const search = <T extends object>(of: T): T => mapOthers(of, told, found, (text) => change(text, place))
  const next = search(body)
  const choices = body.choices && mapArray<Choice | ChoiceDelta>(body.choices, search)
  return choices === body.choices ? next : { ...next, choices }
}

/** A choice, or a part of one, with its texts passed through `visit`; the same object when nothing changed. */
export function mapChoice<C extends Choice | ChoiceDelta>(choice: C, visit: VisitChoice): C {
  let next = choice
  if (choice.text) {
    const text = visit(choice.text, legacy)
    if (text !== choice.text) next = { ...next, text }
  }
  for (const field of ['message', 'delta'] as const) {
    const said = choice[field] as Delta | undefined
    if (!said) continue
    const message = mapMessage(said, (text, { wrap, ...spot }) =>
      visit(text, { ...spot, wrap: (part) => ({ delta: wrap(part) }) }),
    )
    if (message !== said) next = { ...next, [field]: message }
  }
  return next
}

/** Every text of a request's conversation, read only. */
export function requestTexts(request: ModelRequest): { text: string; place: TextLocation }[] {
  const texts: { text: string; place: TextLocation }[] = []
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

const spotOf = (field: string, kind: TextLocation['kind']): Spot => ({
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

/** The text of a choice without a message. */
const legacy: ChoiceSpot = { kind: 'content', lane: 'choice.text', wrap: (text) => ({ text }) }

const reasoning = /reason|think/i

/** Fields of a request that are no parameters, or decide where it goes. */
const structural = new Set(['model', 'messages', 'prompt', 'input'])

const parameter: NodeSpot = { kind: 'parameter', lane: undefined, wrap: () => ({}) }

/** Fields of an answer and of its choices that are searched as what they say, or that say nothing. */
const told = new Set([
  ...['id', 'object', 'created', 'model', 'system_fingerprint', 'service_tier', 'provider', 'obfuscation'],
  ...['choices', 'data', 'usage', 'index', 'text', 'message', 'delta', 'logprobs'],
  ...['finish_reason', 'native_finish_reason', 'stop_reason'],
])

const found: NodeSpot = { ...parameter, kind: 'content' }

/** The fields but for some, with their strings passed through `visit`; the same object when nothing changed. */
function mapOthers<T extends object>(
  node: T,
  besides: ReadonlySet<string>,
  spot: NodeSpot,
  visit: (text: string) => string,
): T {
  const changed: Record<string, unknown> = {}
  for (const field in node) {
    if (besides.has(field)) continue
    const value: unknown = node[field]
    const next = mapNode(value, spot, visit)
    if (next !== value) changed[field] = next
  }
  for (const _ in changed) return { ...node, ...changed }
  return node
}

function mapInput(input: ModelRequest['input'], place: TextLocation, change: Change): ModelRequest['input'] {
  if (typeof input === 'string') return change(input, place)
  if (!Array.isArray(input) || typeof input[0] !== 'string') return input
  return mapArray(input as readonly string[], (text) =>
    typeof text === 'string' ? change(text, place) : text,
  )
}
