import { cohere as dialect } from '../../upstream/index.ts'
import type { TestProvider } from './provider.ts'

const event = (data: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

export const cohere: TestProvider = {
  name: 'cohere',
  dialect,
  operations: ['chat'],
  models: { chat: 'command-a-03-2025', reasoning: 'command-a-reasoning-08-2025' },
  places: {
    text: 'messages.0.content',
    tool: 'tools.0.function.parameters',
    result: 'messages.2.content',
    image: 'messages.0.content.1.image_url.url',
    thinking: 'thinking.type',
    schema: 'response_format.json_schema',
  },
  refusals: [],
  cut: 'MAX_TOKENS',
  departures: { refusal: { as: 'absent' } },
  usage: ({ input, output, cached }) => ({
    billed_units: { input_tokens: input, output_tokens: output },
    tokens: { input_tokens: input + 60, output_tokens: output + 2 },
    cached_tokens: cached,
  }),
  nonsense: {
    chat: [
      { finish_reason: 'COMPLETE', message: null },
      { finish_reason: 'COMPLETE', message: 'Well' },
      { finish_reason: 'COMPLETE', message: { content: 'Well' } },
      { finish_reason: 'COMPLETE', message: { content: [null] } },
      { finish_reason: 'COMPLETE', message: { tool_calls: {} } },
      { finish_reason: 'COMPLETE', message: { tool_calls: [null] } },
      { message: { content: [{ type: 'text', text: 'Well' }] } },
    ],
  },
  broken: {
    chat: [
      event({ type: 'message-start', id: 'c1', delta: { message: { role: 'assistant', content: [] } } }),
      event({ type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } }),
      event({ type: 'content-delta', index: 0, delta: { message: { content: { text: 'Well' } } } }),
      event({ type: 'message-end', delta: { finish_reason: 'ERROR', error: 'internal server error' } }),
    ],
  },
}
