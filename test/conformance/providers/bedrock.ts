import { eventFrame, exceptionFrame } from '../../upstream/bedrock/index.ts'
import { bedrock as dialect } from '../../upstream/index.ts'
import type { TestProvider } from './provider.ts'

export const bedrock: TestProvider = {
  name: 'bedrock',
  signer: 'claude',
  dialect,
  operations: ['chat'],
  models: { chat: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0' },
  places: {
    text: 'messages.0.content.0.text',
    tool: 'toolConfig.tools.0.toolSpec.inputSchema.json',
    result: 'messages.2.content.0.toolResult.content.0.text',
    image: 'messages.0.content.1.image.source.bytes',
    thinking: 'additionalModelRequestFields.thinking.budget_tokens',
    schema: 'outputConfig.textFormat.structure.jsonSchema.schema',
  },
  refusals: [
    { content: 'I w', finishReason: 'content_filtered' },
    { content: 'This was blocked.', finishReason: 'guardrail_intervened' },
  ],
  cut: 'max_tokens',
  usage: ({ input, output, cached }) => ({
    inputTokens: input - cached,
    cacheReadInputTokens: cached,
    cacheWriteInputTokens: 0,
    outputTokens: output,
    totalTokens: input + output,
  }),
  nonsense: {
    chat: [
      { output: null, stopReason: 'end_turn' },
      { output: { message: null }, stopReason: 'end_turn' },
      { output: { message: { content: 'Well' } }, stopReason: 'end_turn' },
      { output: { message: { content: [null] } }, stopReason: 'end_turn' },
      { output: { message: { content: ['Well'] } }, stopReason: 'end_turn' },
      { output: { message: { content: [{ citationsContent: 'Well' }] } }, stopReason: 'end_turn' },
      { output: { message: { content: [{ text: 'Well' }] } } },
    ],
  },
  broken: {
    chat: [
      eventFrame('messageStart', { role: 'assistant' }),
      eventFrame('contentBlockDelta', { delta: { text: 'Well' }, contentBlockIndex: 0 }),
      exceptionFrame('serviceUnavailableException', { message: 'Overloaded' }),
    ],
  },
}
