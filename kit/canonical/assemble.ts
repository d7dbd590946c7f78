import type {
  Choice,
  ChoiceDelta,
  Completion,
  CompletionChunk,
  Delta,
  Message,
  ToolCall,
  WireUsage,
} from './forms.ts'
import { copyLogprobs, joinLogprobs, type LogprobLists } from './logprobs.ts'

type Open<T> = { -readonly [K in keyof T]: T[K] }
type Fields = Record<string, unknown>

interface Draft {
  readonly choice: Open<ChoiceDelta>
  message: Fields | undefined
  readonly tools: Map<number, Fields>
  logprobs: LogprobLists | undefined
}

/** Rebuilds the whole answer of a stream: the body that the same call without `stream` would have had. */
export class Assembler {
  readonly #head: Fields = {}
  #usage: WireUsage | undefined
  readonly #drafts = new Map<number, Draft>()

  add(chunk: CompletionChunk): void {
    const { choices, usage } = chunk
    for (const field in chunk) {
      if (field === 'choices' || field === 'usage') continue
      // Some providers open with a chunk whose id and model are empty; padding is of the stream, not of the answer.
      if (isEmpty(this.#head[field]) && field !== 'obfuscation') this.#head[field] = chunk[field]
    }
    if (usage) this.#usage = usage
    for (const choice of choices) addChoice(this.#draft(choice.index), choice)
  }

  /** The answer so far. */
  completion(): Completion {
    const { object } = this.#head
    const body: Open<Completion> = {
      ...this.#head,
      object: object === 'text_completion' ? object : 'chat.completion',
      choices: [...this.#drafts.values()].sort((a, b) => a.choice.index - b.choice.index).map(finished),
    }
    if (this.#usage) body.usage = this.#usage
    return body
  }

  #draft(index: number): Draft {
    let draft = this.#drafts.get(index)
    if (!draft) {
      draft = {
        choice: { index, finish_reason: null },
        message: undefined,
        tools: new Map(),
        logprobs: undefined,
      }
      this.#drafts.set(index, draft)
    }
    return draft
  }
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === 0

function addChoice(
  draft: Draft,
  { index: _, delta, text, finish_reason, logprobs, ...rest }: ChoiceDelta,
): void {
  const { choice } = draft
  if (text !== undefined) choice.text = (choice.text ?? '') + text
  if (delta) addDelta(draft, delta)
  if (finish_reason) choice.finish_reason = finish_reason
  if (logprobs) draft.logprobs = joinLogprobs(draft.logprobs ?? {}, logprobs)
  else if (logprobs === null && choice.logprobs === undefined) choice.logprobs = null
  Object.assign(choice, rest)
}

function addDelta(draft: Draft, delta: Delta): void {
  draft.message ??= { role: 'assistant', content: null }
  const { tool_calls, ...fields } = delta
  for (const [i, call] of (tool_calls ?? []).entries()) {
    const { index = i, ...rest } = call
    const tool = draft.tools.get(index)
    if (tool) merge(tool, rest)
    else draft.tools.set(index, structuredClone(rest))
  }
  merge(draft.message, fields)
}

/** Fields that name a thing or mark its kind: they are the same in every part, or come once. */
const identity = /^(?:role|id|type|index|format|[\w-]*_id|expires_at)$/

/** Adds a part to the value so far: texts are joined, lists go on, items with an index are added to those of the same index. */
function merge(whole: Fields, part: Fields): void {
  for (const field in part) {
    const value = part[field]
    const before = whole[field]
    if (value === null || value === undefined) {
      if (value === null && before === undefined) whole[field] = null
    } else if (before === undefined || before === null) whole[field] = copy(value)
    else if (typeof value === 'string' && typeof before === 'string' && !identity.test(field))
      whole[field] = before + value
    else if (Array.isArray(value) && Array.isArray(before)) for (const item of value) mergeItem(before, item)
    else if (isFields(value) && isFields(before)) merge(before, value)
    else if (value !== '') whole[field] = value
  }
}

function mergeItem(items: unknown[], item: unknown): void {
  const last = items.at(-1)
  const goesOn = isFields(item) && isFields(last) && item.index !== undefined && item.index === last.index
  if (goesOn && (item.type ?? last.type) === last.type) merge(last, item)
  else items.push(copy(item))
}

/** A value that grows later must not be the provider's own object. */
const copy = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? structuredClone(value) : value

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function finished({ choice, message, tools, logprobs }: Draft): Choice {
  const { text, ...rest } = choice
  const calls = [...tools].sort(([a], [b]) => a - b).map(([, tool]) => finishedTool(tool))
  return {
    ...rest,
    finish_reason: choice.finish_reason ?? null,
    ...(text !== undefined && { text }),
    ...(message && { message: finishedMessage(message, calls) }),
    ...(logprobs && { logprobs: copyLogprobs(logprobs) }),
  }
}

function finishedMessage(message: Fields, calls: readonly ToolCall[]): Message {
  const { role, ...fields } = message
  for (const field in fields) fields[field] = copy(fields[field])
  return { role: role as Message['role'], ...fields, ...(calls.length > 0 && { tool_calls: calls }) }
}

function finishedTool({ id = '', type, function: fn, ...rest }: Fields): ToolCall {
  const isFunction = (type ?? 'function') === 'function'
  const named = isFunction && { function: { name: '', arguments: '', ...(fn as object) } }
  return { id, type: type ?? 'function', ...named, ...rest } as ToolCall
}
