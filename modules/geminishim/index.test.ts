import type OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { sharedProvider } from '../../test/played.ts'
import { gemini } from '../../test/upstream/index.ts'

const hate = { category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_ONLY_HIGH' }
const played = sharedProvider('gemini', gemini, { options: { safety_settings: [hate] } })

type Fields = Record<string, unknown>

const nothing = {
  safety_settings: null,
  system: null,
  thinking_budgets: null,
  include_thoughts: null,
  function_calling: null,
  grounding: null,
}
const fit = (config: Fields) =>
  played.gateway.module('geminishim', { enabled: true, config: { ...nothing, ...config } })

const model = 'gemini-2.5-flash'
const hi = [{ role: 'user', content: 'hi' }]
const said = [{ role: 'user', parts: [{ text: 'hi' }] }]
const lookUp = { type: 'function', function: { name: 'look_up' } }
const declared = [{ functionDeclarations: [{ name: 'look_up' }] }]
const harassment = { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }

const create = (fields: Fields = {}) =>
  played.client.chat.completions.create({
    model,
    messages: hi,
    ...fields,
  } as OpenAI.ChatCompletionCreateParamsNonStreaming)

/** Requests as clients make them, and exactly what the provider gets of them under the settings. */
const requests: readonly [what: string, settings: Fields, request: Fields, sent: Fields][] = [
  ['safety is that of the provider without a setting', {}, {}, { contents: said, safetySettings: [hate] }],
  [
    'safety is that of the settings',
    { safety_settings: [harassment] },
    {},
    { contents: said, safetySettings: [harassment] },
  ],
  [
    'safety is that of the request where it says so',
    { safety_settings: [harassment] },
    { safety_settings: [hate] },
    { contents: said, safetySettings: [hate] },
  ],
  [
    'instructions stand apart without a setting',
    {},
    { messages: [{ role: 'system', content: 'A' }, ...hi] },
    { systemInstruction: { parts: [{ text: 'A' }] }, contents: said, safetySettings: [hate] },
  ],
  [
    'instructions are the first words of the user',
    { system: 'first_turn' },
    { messages: [{ role: 'system', content: 'A' }, ...hi] },
    { contents: [{ role: 'user', parts: [{ text: 'A' }, { text: 'hi' }] }], safetySettings: [hate] },
  ],
  [
    'instructions before an answer are a turn of their own',
    { system: 'first_turn' },
    { messages: [{ role: 'system', content: 'A' }, { role: 'assistant', content: 'B' }, ...hi] },
    {
      contents: [
        { role: 'user', parts: [{ text: 'A' }] },
        { role: 'model', parts: [{ text: 'B' }] },
        ...said,
      ],
      safetySettings: [hate],
    },
  ],
  [
    'an effort has the budget that is set for it',
    { thinking_budgets: { low: 300 } },
    { reasoning_effort: 'low' },
    {
      contents: said,
      generationConfig: { thinkingConfig: { thinkingBudget: 300, includeThoughts: true } },
      safetySettings: [hate],
    },
  ],
  [
    'thoughts are thought and not asked for',
    { include_thoughts: false },
    { reasoning_effort: 'low' },
    {
      contents: said,
      generationConfig: { thinkingConfig: { thinkingBudget: 1024, includeThoughts: false } },
      safetySettings: [hate],
    },
  ],
  [
    'functions are called in the mode that is set',
    { function_calling: 'VALIDATED' },
    { tools: [lookUp] },
    {
      contents: said,
      tools: declared,
      toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } },
      safetySettings: [hate],
    },
  ],
  [
    'functions are called as the request says',
    { function_calling: 'VALIDATED' },
    { tools: [lookUp], tool_choice: 'none' },
    {
      contents: said,
      tools: declared,
      toolConfig: { functionCallingConfig: { mode: 'NONE' } },
      safetySettings: [hate],
    },
  ],
  [
    'a mode without functions says nothing',
    { function_calling: 'ANY' },
    {},
    { contents: said, safetySettings: [hate] },
  ],
]

describe('a request', () => {
  test.each(requests)('%s', async (_, settings, request, sent) => {
    await fit(settings)
    await create(request)
    expect(played.upstream.last().body).toEqual(sent)
  })
})

const grounding = { webSearchQueries: ['grass'], groundingChunks: [{ web: { uri: 'https://g.test' } }] }
const answer = {
  responseId: 'r1',
  modelVersion: model,
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts: [{ text: 'Green.' }] },
      finishReason: 'STOP',
      groundingMetadata: grounding,
    },
  ],
  usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
}

async function streamedGrounding(): Promise<{ content: string; grounding: unknown[] }> {
  played.upstream.reply({ chunks: [`data: ${JSON.stringify(answer)}\r\n\r\n`] })
  const stream = await played.client.chat.completions.create({
    model,
    messages: hi,
    stream: true,
  } as OpenAI.ChatCompletionCreateParamsStreaming)
  const found: unknown[] = []
  let content = ''
  for await (const { choices } of stream) {
    for (const choice of choices) {
      content += choice.delta.content ?? ''
      if ('grounding_metadata' in choice) found.push(choice.grounding_metadata)
    }
  }
  return { content, grounding: found }
}

describe('an answer', () => {
  test('shows what it is grounded on without a setting, whole and streamed', async () => {
    await fit({})
    played.upstream.reply({ body: answer })
    expect((await create()).choices[0]).toMatchObject({ grounding_metadata: grounding })
    expect(await streamedGrounding()).toEqual({ content: 'Green.', grounding: [grounding] })
  })

  test('hides it, whole and streamed', async () => {
    await fit({ grounding: 'hide' })
    played.upstream.reply({ body: answer })
    const [choice] = (await create()).choices
    expect(choice!.message.content).toBe('Green.')
    expect(choice).not.toHaveProperty('grounding_metadata')
    expect(await streamedGrounding()).toEqual({ content: 'Green.', grounding: [] })
  })
})
