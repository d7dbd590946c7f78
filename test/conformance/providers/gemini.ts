import { gemini as dialect } from '../../upstream/index.ts'
import type { TestProvider } from './provider.ts'

const event = (data: object): string => `data: ${JSON.stringify(data)}\r\n\r\n`

/** A prompt that is refused has no candidate. */
const blocked = {
  promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
  usageMetadata: { promptTokenCount: 8, totalTokenCount: 8 },
  modelVersion: 'gemini-3-pro-preview',
  responseId: 'r',
}

export const gemini: TestProvider = {
  name: 'gemini',
  signer: 'google',
  dialect,
  operations: ['chat'],
  models: { chat: 'gemini-3-pro-preview' },
  places: {
    text: 'contents.0.parts.0.text',
    tool: 'tools.0.functionDeclarations.0.parametersJsonSchema',
    result: 'contents.2.parts.0.functionResponse.response.output',
    image: 'contents.0.parts.1.inlineData.data',
    thinking: 'generationConfig.thinkingConfig.thinkingLevel',
    schema: 'generationConfig.responseJsonSchema',
  },
  refusals: [
    { content: 'I w', finishReason: 'SAFETY' },
    { content: [], finishReason: 'PROHIBITED_CONTENT' },
    { body: blocked, chunks: [event(blocked)] },
  ],
  cut: 'MAX_TOKENS',
  countsEarly: true,
  usage: ({ input, output, cached, reasoning = 1 }) => ({
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  }),
  tellsReasoning: true,
  nonsense: {
    chat: [
      { candidates: null },
      { candidates: [] },
      { candidates: [null] },
      { candidates: [{}] },
      { candidates: [{ content: { parts: [{ text: 'Well' }] } }] },
      { candidates: [{ content: { parts: [null] }, finishReason: 'STOP' }] },
      { candidates: [{ content: { parts: 'Well' }, finishReason: 'STOP' }] },
    ],
  },
  broken: {
    chat: [
      event({ candidates: [{ content: { parts: [{ text: 'Well' }], role: 'model' } }], responseId: 'r' }),
      event({ error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }),
    ],
  },
  // Its streams have no end mark: they end with their body.
  departures: { 'ends at its end': { as: 'absent' } },
}
