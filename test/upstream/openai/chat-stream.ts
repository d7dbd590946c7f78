import type { ChatFrame } from './chat.ts'
import { logprobsOf } from './logprobs.ts'
import { tokenize } from './tokens.ts'
import type { ChatRequest, ToolCall, Turn } from './turn.ts'

interface Delta {
  readonly index: number
  readonly delta: Readonly<Record<string, unknown>>
  readonly logprobs: unknown
  readonly finish_reason: string | null
}

/**
 * The chunks of a streamed chat answer: the role of each choice, the deltas of all choices in turn, each choice's
 * end, and, if usage was asked for, a last chunk without choices that carries it.
 */
export function chatChunks(
  chat: ChatRequest,
  turns: readonly Turn[],
  frame: ChatFrame,
  usage: unknown,
): readonly unknown[] {
  const wantsUsage = chat.stream_options?.include_usage === true && usage !== null
  const obfuscate = chat.stream_options?.include_obfuscation !== false
  const head = {
    id: frame.id,
    object: 'chat.completion.chunk',
    created: frame.created,
    model: frame.model,
    service_tier: 'default',
    system_fingerprint: 'fp_upstream',
  }
  const chunks = interleave(turns.map((turn, index) => deltas(turn, index, chat.logprobs === true))).map(
    (choice) => ({
      ...head,
      choices: [choice],
      ...(wantsUsage && { usage: null }),
      ...(obfuscate && { obfuscation: padding(choice) }),
    }),
  )
  return wantsUsage
    ? [...chunks, { ...head, choices: [], usage, ...(obfuscate && { obfuscation: '' }) }]
    : chunks
}

function deltas(turn: Turn, index: number, logprobs: boolean): Delta[] {
  const delta = (delta: Delta['delta'], token?: string): Delta => ({
    index,
    delta,
    logprobs: logprobs && token !== undefined ? { content: logprobsOf([token]), refusal: null } : null,
    finish_reason: null,
  })
  return [
    delta({ role: 'assistant', content: turn.toolCalls.length > 0 ? null : '', refusal: null }),
    ...turn.reasoning.map((token) => delta({ reasoning_content: token })),
    ...turn.content.map((token) => delta({ content: token }, token)),
    ...turn.refusal.map((token) => delta({ refusal: token })),
    ...turn.toolCalls.flatMap(callDeltas).map((call) => delta({ tool_calls: [call] })),
    { index, delta: {}, logprobs: null, finish_reason: turn.finishReason },
  ]
}

function callDeltas(call: ToolCall, index: number) {
  const first = { index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }
  return [first, ...tokenize(call.arguments).map((piece) => ({ index, function: { arguments: piece } }))]
}

/** The first of each list, then the second of each, and so on. */
function interleave<T>(lists: readonly T[][]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}

/** The service pads deltas against eavesdroppers who measure them; a gateway must let the field pass. */
function padding({ delta }: Delta): string {
  return 'x'.repeat(16 - (JSON.stringify(delta).length % 16))
}
