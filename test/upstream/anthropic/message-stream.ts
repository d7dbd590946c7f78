import { tokenize } from '../openai/tokens.ts'
import type { Block, Said } from './turn.ts'

interface Message {
  readonly content: readonly Block[]
  readonly stop_reason: string
  readonly stop_sequence: string | null
  readonly usage: Readonly<Record<string, unknown>> | null
  readonly [field: string]: unknown
}

interface Event {
  readonly type: string
  readonly [field: string]: unknown
}

/** The events of a streamed message, a ping among them, each as the frame that is sent. */
export function messageEvents(message: Message, { deltas }: Said): string[] {
  const { content, stop_reason, stop_sequence, usage } = message
  const opening = { ...message, content: [], stop_reason: null, stop_sequence: null }
  const events: Event[] = [
    {
      type: 'message_start',
      message: usage ? { ...opening, usage: { ...usage, output_tokens: 1 } } : opening,
    },
    ...content.flatMap((block, index) => blockEvents(block, index, deltas, index === 0)),
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence },
      ...(usage && { usage: { output_tokens: usage.output_tokens } }),
    },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

function blockEvents(block: Block, index: number, deltas: readonly string[], first: boolean): Event[] {
  const { start, changes } = parts(block, deltas)
  return [
    { type: 'content_block_start', index, content_block: start },
    ...(first ? [{ type: 'ping' }] : []),
    ...changes.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function parts(block: Block, deltas: readonly string[]): { start: Block; changes: readonly object[] } {
  switch (block.type) {
    case 'text':
      return { start: { ...block, text: '' }, changes: deltas.map((text) => ({ type: 'text_delta', text })) }
    case 'thinking':
      return {
        start: { ...block, thinking: '', signature: '' },
        changes: [
          ...tokenize(String(block.thinking)).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      }
    case 'tool_use':
      return {
        start: { ...block, input: {} },
        changes: ['', ...tokenize(JSON.stringify(block.input))].map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      }
    default:
      return { start: block, changes: [] }
  }
}
