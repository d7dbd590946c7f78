import type {
  Choice,
  ChoiceDelta,
  Completion,
  CompletionChunk,
  Delta,
  FinishReason,
  Message,
  ToolCall,
  ToolCallDelta,
  WireUsage,
} from '../canonical.ts'
import { Chunk, envelopeOf } from './chunk.ts'

type Open<T> = { -readonly [K in keyof T]: T[K] }

interface Draft {
  index: number
  text: string | undefined
  message: Record<string, unknown> | undefined
  tools: Map<number, { id: string; name: string; arguments: string; rest: Record<string, unknown> }>
  finish: FinishReason | null
  logprobs: Record<string, unknown[]> | undefined
}

/** Rebuilds the whole answer of a stream: the body that the same call without `stream` would have had. */
export class Assembler {
  #head: Omit<CompletionChunk, 'choices'> | undefined
  #usage: WireUsage | undefined
  readonly #drafts = new Map<number, Draft>()

  add(chunk: CompletionChunk): void {
    this.#head ??= envelopeOf(chunk)
    if (chunk.usage) this.#usage = chunk.usage
    for (const choice of chunk.choices) this.#choice(choice)
  }

  /** The answer so far. */
  completion(): Completion {
    const object = this.#head?.object
    const body: Open<Completion> = {
      ...this.#head,
      object: object === 'text_completion' ? object : 'chat.completion',
      choices: [...this.#drafts.values()].sort((a, b) => a.index - b.index).map(finished),
    }
    if (this.#usage) body.usage = this.#usage
    return body
  }

  #choice(choice: ChoiceDelta): void {
    const draft = this.#draft(choice.index)
    if (choice.text !== undefined) draft.text = (draft.text ?? '') + choice.text
    if (choice.delta) addDelta(draft, choice.delta)
    if (choice.finish_reason) draft.finish = choice.finish_reason
    if (choice.logprobs) addLogprobs(draft, choice.logprobs)
  }

  #draft(index: number): Draft {
    let draft = this.#drafts.get(index)
    if (!draft) {
      draft = {
        index,
        text: undefined,
        message: undefined,
        tools: new Map(),
        finish: null,
        logprobs: undefined,
      }
      this.#drafts.set(index, draft)
    }
    return draft
  }
}

function addDelta(draft: Draft, delta: Delta): void {
  draft.message ??= { role: 'assistant', content: null }
  const message = draft.message
  for (const field in delta) {
    const value = delta[field]
    if (value === undefined || value === null) continue
    if (field === 'tool_calls') for (const call of delta.tool_calls ?? []) addTool(draft, call)
    else if (field === 'role') message.role = value
    else if (typeof value === 'string') message[field] = ((message[field] as string | null) ?? '') + value
    else if (Array.isArray(value)) message[field] = [...((message[field] as unknown[]) ?? []), ...value]
    else message[field] = value
  }
}

function addTool(draft: Draft, delta: ToolCallDelta): void {
  let tool = draft.tools.get(delta.index)
  if (!tool) {
    tool = { id: '', name: '', arguments: '', rest: {} }
    draft.tools.set(delta.index, tool)
  }
  const { index: _, id, type: __, function: fn, ...rest } = delta
  if (id) tool.id = id
  if (fn?.name) tool.name += fn.name
  if (fn?.arguments) tool.arguments += fn.arguments
  Object.assign(tool.rest, rest)
}

function addLogprobs(draft: Draft, logprobs: unknown): void {
  draft.logprobs ??= {}
  for (const [field, values] of Object.entries(logprobs as Record<string, unknown>)) {
    if (Array.isArray(values)) draft.logprobs[field] = [...(draft.logprobs[field] ?? []), ...values]
  }
}

function finished(draft: Draft): Choice {
  const choice: Open<Choice> = { index: draft.index, finish_reason: draft.finish }
  if (draft.text !== undefined) choice.text = draft.text
  if (draft.message) {
    const message = draft.message
    if (draft.tools.size > 0) {
      message.tool_calls = [...draft.tools.entries()]
        .sort(([a], [b]) => a - b)
        .map(
          ([, tool]): ToolCall => ({
            ...tool.rest,
            id: tool.id,
            type: 'function',
            function: { name: tool.name, arguments: tool.arguments },
          }),
        )
    }
    choice.message = message as unknown as Message
  }
  if (draft.logprobs) choice.logprobs = draft.logprobs
  return choice
}

/**
 * The chunks a provider would have streamed for this answer: role, content, finish, and usage in a last chunk of its
 * own. Texts are cut into pieces of about `pieceLength` characters.
 */
export function toChunks(body: Completion, pieceLength = 80): Chunk[] {
  const legacy = body.object === 'text_completion'
  const { choices = [], usage, ...head } = body
  const base = { ...head, object: legacy ? 'text_completion' : 'chat.completion.chunk' }
  const chunks: Chunk[] = []
  const emit = (choice: ChoiceDelta): void => void chunks.push(Chunk.of({ ...base, choices: [choice] }))

  for (const { index, message, text, finish_reason, logprobs } of choices) {
    const extra = logprobs === undefined || logprobs === null ? {} : { logprobs }
    if (legacy) {
      for (const piece of pieces(text ?? '', pieceLength)) emit({ index, text: piece, finish_reason: null })
      emit({ index, text: '', finish_reason, ...extra })
      continue
    }
    const { role = 'assistant', content, tool_calls, ...rest } = message ?? { role: 'assistant' }
    emit({ index, delta: { role, content: '' }, finish_reason: null })
    for (const [field, value] of Object.entries(rest)) {
      if (value === null || value === undefined) continue
      if (typeof value !== 'string') emit({ index, delta: { [field]: value }, finish_reason: null })
      else
        for (const piece of pieces(value, pieceLength))
          emit({ index, delta: { [field]: piece }, finish_reason: null })
    }
    if (typeof content === 'string') {
      for (const piece of pieces(content, pieceLength))
        emit({ index, delta: { content: piece }, finish_reason: null })
    }
    for (const delta of toolDeltas(tool_calls ?? []))
      emit({ index, delta: { tool_calls: [delta] }, finish_reason: null })
    emit({ index, delta: {}, finish_reason, ...extra })
  }
  if (usage) chunks.push(Chunk.of({ ...base, choices: [], usage }))
  return chunks
}

function* toolDeltas(calls: readonly ToolCall[]): Generator<ToolCallDelta> {
  for (const [index, { function: fn, ...rest }] of calls.entries()) {
    yield { ...rest, index, function: { name: fn.name, arguments: '' } }
    yield { index, function: { arguments: fn.arguments } }
  }
}

/** Cuts between code points, so that no chunk ends in half a character. */
function* pieces(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + length, text.length)
    const last = text.charCodeAt(end - 1)
    if (last >= 0xd800 && last <= 0xdbff && end < text.length) end += 1
    yield text.slice(at, end)
    at = end
  }
}
