import { takingTurns } from '../work/turns.ts'
import { Chunk } from './chunk.ts'
import type { ChoiceDelta, Completion, Delta, Message, ToolCall, ToolCallDelta } from './forms.ts'

/**
 * The chunks a provider would have streamed for this answer: role, content, finish, and usage in a last chunk of its
 * own. Texts are cut into pieces of about `pieceLength` characters.
 */
export function toChunks(body: Completion, pieceLength = 80): Chunk[] {
  return [...eachChunk(body, pieceLength)]
}

/** Chunks that come one by one. Of longer answers so many come together: each write to a client costs as much as several of them. */
const mostAlone = 64

/** The same chunks as a stream, with turns for other work. */
export async function* streamed(body: Completion): AsyncGenerator<readonly Chunk[]> {
  const turn = takingTurns()
  let batch: Chunk[] = []
  let count = 0
  for (const chunk of eachChunk(body, 80)) {
    batch.push(chunk)
    count += 1
    if (count > mostAlone && batch.length < mostAlone) continue
    yield batch
    batch = []
    await turn()
  }
  if (batch.length > 0) yield batch
}

function* eachChunk(body: Completion, pieceLength: number): Generator<Chunk> {
  const legacy = body.object === 'text_completion'
  const { choices = [], usage, ...head } = body
  const base = { ...head, object: legacy ? 'text_completion' : 'chat.completion.chunk' }
  for (const { message, text, finish_reason, ...choice } of choices) {
    const { index } = choice
    const chunkOf = (part: Omit<ChoiceDelta, 'index'>): Chunk =>
      Chunk.of({ ...base, choices: [{ index, finish_reason: null, ...part }] })
    if (legacy) for (const piece of pieces(text ?? '', pieceLength)) yield chunkOf({ text: piece })
    else for (const delta of deltas(message ?? { role: 'assistant' }, pieceLength)) yield chunkOf({ delta })
    yield chunkOf({ ...choice, ...(legacy ? { text: '' } : { delta: {} }), finish_reason })
  }
  if (usage) yield Chunk.of({ ...base, choices: [], usage })
}

/** A model's thoughts come before its words. */
const reasoning = /reason|think/

/** A message in parts: its role and the texts to come, then the texts, then everything else. */
function* deltas({ role, tool_calls, ...fields }: Message, pieceLength: number): Generator<Delta> {
  const opening: Record<string, unknown> = { role }
  const whole: Record<string, unknown> = {}
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === 'string') opening[field] = ''
    else if (value === null) opening[field] = null
    else if (value !== undefined) whole[field] = value
  }
  yield opening
  for (const field in whole) if (reasoning.test(field)) yield { [field]: whole[field] }
  const { content, ...texts } = fields
  for (const [field, value] of [...Object.entries(texts), ['content', content] as const]) {
    if (typeof value === 'string') for (const piece of pieces(value, pieceLength)) yield { [field]: piece }
  }
  for (const field in whole) if (!reasoning.test(field)) yield { [field]: whole[field] }
  for (const [index, call] of (tool_calls ?? []).entries()) yield* toolDeltas(call, index, pieceLength)
}

function* toolDeltas(call: Partial<ToolCall>, index: number, length: number): Generator<Delta> {
  const { function: fn, ...rest } = call
  const delta = (part: Omit<ToolCallDelta, 'index'>): Delta => ({ tool_calls: [{ index, ...part }] })
  if (!fn) return yield delta(rest)
  yield delta({ ...rest, function: { ...fn, arguments: '' } })
  for (const piece of pieces(fn.arguments, length)) yield delta({ function: { arguments: piece } })
}

/** Cuts between code points, so that no chunk ends in half a character. */
export function* pieces(text: string, length: number): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + length, text.length)
    const last = text.charCodeAt(end - 1)
    if (last >= 0xd800 && last <= 0xdbff && end < text.length) end += 1
    yield text.slice(at, end)
    at = end
  }
}
