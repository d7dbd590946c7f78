import { anthropic as dialect } from '../../upstream/anthropic/index.ts'
import type { TestProvider } from './provider.ts'

const event = (data: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 11, output_tokens: 1 },
}

export const anthropic: TestProvider = {
  name: 'anthropic',
  signer: 'claude',
  dialect,
  operations: ['chat'],
  models: { chat: 'claude-sonnet-4-5' },
  places: {
    text: 'messages.0.content',
    tool: 'tools.0.input_schema',
    result: 'messages.2.content.0.content',
    image: 'messages.0.content.1.source.data',
    thinking: 'thinking.budget_tokens',
    schema: 'output_config.format.schema',
  },
  refusals: [
    { refusal: 'I will not.', finishReason: 'refusal' },
    { content: [], finishReason: 'refusal' },
  ],
  cut: 'max_tokens',
  countsEarly: true,
  usage: ({ input, output, cached, reasoning }) => ({
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: output,
    ...(reasoning !== undefined && { output_tokens_details: { thinking_tokens: reasoning } }),
  }),
  tellsReasoning: true,
  nonsense: {
    chat: [
      { ...message, content: null, stop_reason: 'end_turn' },
      { ...message, content: {}, stop_reason: 'end_turn' },
      { ...message, content: [null], stop_reason: 'end_turn' },
      { ...message, content: ['Well'], stop_reason: 'end_turn' },
      { ...message, content: [{ text: 'Well' }], stop_reason: 'end_turn' },
      { ...message, content: [{ type: 'text', text: null }], stop_reason: 'end_turn' },
      { ...message, content: [{ type: 'text', text: 'Well' }], stop_reason: null },
    ],
  },
  broken: {
    chat: [
      event({ type: 'message_start', message }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Well' } }),
      event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
    ],
  },
}
