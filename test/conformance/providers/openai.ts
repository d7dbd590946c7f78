import { openai as dialect } from '../../upstream/index.ts'
import type { Counts, TestProvider } from './provider.ts'

const error = { message: 'The server had an error.', type: 'server_error', param: null, code: null }

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', ...fields })}\n\n`

/** What all who speak OpenAI's language have in common. */
export const likeOpenai = {
  dialect,
  places: {
    text: 'messages.0.content',
    tool: 'tools.0.function.parameters',
    result: 'messages.2.content',
    image: 'messages.0.content.1.image_url.url',
    thinking: 'reasoning_effort',
    schema: 'response_format.json_schema.schema',
  },
  refusals: [{ refusal: 'I will not.' }, { content: 'I w', finishReason: 'content_filter' }],
  cut: 'length',
  usage: ({ input, output, cached, reasoning }: Counts) => ({
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    ...(reasoning !== undefined && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }),
  tellsReasoning: true,
  nonsense: {
    chat: [
      { choices: null },
      { choices: {} },
      { choices: [] },
      { choices: [null] },
      { choices: [{}] },
      { choices: [{ index: 0, text: 'Well' }] },
      { choices: [{ index: 0, message: null }] },
      { choices: [{ index: 0, message: 'Well' }] },
      { choices: [{ index: 0, message: { content: [null] } }] },
      { choices: [{ index: 0, message: { content: null, tool_calls: [null] } }] },
      { choices: [{ index: 0, message: { content: 'Well' } }, null] },
    ],
    completion: [{ choices: [] }, { choices: [null] }, { choices: [{}] }, { choices: [{ text: null }] }],
  },
  broken: {
    chat: [
      chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'Well' }, finish_reason: null }] }),
      `data: ${JSON.stringify({ error })}\n\n`,
    ],
    completion: [
      chunk({ object: 'text_completion', choices: [{ index: 0, text: 'Well', finish_reason: null }] }),
      `data: ${JSON.stringify({ error })}\n\n`,
    ],
  },
}

export const openai: TestProvider = {
  ...likeOpenai,
  name: 'openai',
  operations: ['chat', 'completion'],
  models: { chat: 'gpt-4o-mini', completion: 'davinci-002', reasoning: 'gpt-5-mini' },
}
