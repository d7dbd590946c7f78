import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../../kit/canonical/forms.ts'
import { question, weather } from '../../../test/weather.ts'
import { countRequest } from './request.ts'
import { encodingOf } from './tokenizer.ts'
import { Tokenizers } from './tokenizers.ts'

const tokenizers = new Tokenizers()
const patient = { timeout: 60_000 }

/** Tokens by the makers' own tokenizers: llama-models with tiktoken, Hugging Face's tokenizers, mistral-common. */
const counted: readonly (readonly [
  text: string,
  llama: number,
  qwen: number,
  deepseek: number,
  tekken: number,
  mistral: number,
])[] = [
  ["Hello, world! It's 2026, and 1234567 tokens aren't many.", 20, 26, 20, 26, 28],
  ['東京は日本の首都です。人口は約1400万人。', 16, 16, 13, 17, 23],
  ['這是一個測試，包含中文字符。', 10, 9, 9, 14, 15],
  ['한국어 문장도 있습니다.', 7, 8, 8, 8, 14],
  ['Привет, мир! Как дела?', 9, 9, 8, 8, 11],
  ['مرحبا بالعالم', 6, 5, 6, 5, 11],
  ['नमस्ते दुनिया', 9, 13, 7, 5, 14],
  ['สวัสดีชาวโลก', 5, 6, 6, 7, 13],
  ['😀🎉👩‍👩‍👧‍👦 cafe\u0301 naïve ﬁ ½', 28, 19, 21, 36, 32],
  [
    "const sum = (a, b) => {\n  return a + b // adds\n}\n\n\n\tif (x >= 10) { y[0] += 'z' }",
    36,
    37,
    36,
    37,
    42,
  ],
  ['  leading and trailing  \n\n  spaces\r\n', 8, 8, 9, 10, 11],
]

describe('texts of every script take what the maker’s own tokenizer says', patient, () => {
  it.each([
    ['llama-3.3-70b-versatile', 'llama3', 1],
    ['Qwen/Qwen3-32B', 'qwen', 2],
    ['deepseek-chat', 'deepseek-v3', 3],
    ['open-mistral-nemo-2407', 'tekken', 4],
    ['mistral-large-2407', 'mistral-32k', 5],
  ] as const)('for %s', async (model, name, column) => {
    const tokenizer = await tokenizers.load(model)
    expect(tokenizer).toMatchObject({ name, published: true })
    expect(counted.map(([text]) => tokenizer.count(text))).toEqual(counted.map((row) => row[column]))
    expect(tokenizer.count('')).toBe(0)
    expect(tokenizer.count('<|im_start|>')).toBeGreaterThan(1)
    expect(tokenizer.count('<|eot_id|>')).toBeGreaterThan(1)
  })
})

const hi: ModelRequest['messages'] = [{ role: 'user', content: 'hi' }]
const asked: ModelRequest['messages'] = [
  { role: 'system', content: 'You are a helpful assistant.' },
  { role: 'user', content: 'What is the capital of France?' },
]
const joked: ModelRequest['messages'] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', text: 'Hello!' }] },
  { role: 'assistant', content: 'Hi there. How can I help?' },
  { role: 'user', content: 'Tell me a joke\nabout cats.' },
]

describe('a conversation', patient, () => {
  const count = async (model: string, request: Omit<ModelRequest, 'model'>) =>
    countRequest({ model, ...request }, await tokenizers.load(model))

  /** As the published templates, run by their makers' tools, have it. */
  it.each([
    ['qwen3-32b', 9, 26, 44],
    ['qwen3-235b-a22b-thinking-2507', 11, 28, 46],
    ['qwen2.5-72b-instruct', 30, 26, 44],
    ['deepseek-v3-0324', 4, 16, 27],
    ['deepseek-chat', 5, 17, 29],
    ['open-mistral-nemo-2407', 4, 16, 27],
    ['mistral-small-2503', 4, 18, 29],
    ['mistral-large-2407', 4, 18, 29],
    ['mistral-large-2411', 4, 18, 29],
    ['llama3-70b-instruct', 11, 28, 46],
    ['llama-3.3-70b-versatile', 36, 48, 66],
  ])('with %s takes what its template makes of it', async (model, ...tokens) => {
    const all = await Promise.all([hi, asked, joked].map((messages) => count(model, { messages })))
    expect(all.map((one) => one.tokens)).toEqual(tokens)
    expect(all.map(({ quality }) => quality)).toEqual(['tokenizer', 'tokenizer', 'tokenizer'])
  })

  it('with tools is told in the template that carries them', async () => {
    expect(await count('qwen3-32b', { messages: question, tools: [weather] })).toEqual({
      tokens: 221,
      tools: 185,
      images: 0,
      by: 'qwen',
      quality: 'rules',
    })
    const call = { name: 'get_current_weather', arguments: '{"location": "San Francisco, CA"}' }
    const called: ModelRequest['messages'] = [
      ...question.slice(1),
      { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: call }] },
      { role: 'tool', tool_call_id: 'c1', content: '{"temperature": 18}' },
    ]
    expect(await count('qwen3-32b', { messages: called })).toMatchObject({ tokens: 60, quality: 'tokenizer' })
  })

  it('of which a template carries only the texts is an estimate, and says so', async () => {
    const withTools = await count('deepseek-chat', { messages: hi, tools: [weather] })
    expect(withTools).toMatchObject({ by: 'deepseek-v3', quality: 'estimate' })
    expect(withTools.tools).toBeGreaterThan(50)
    const image = { type: 'image_url', image_url: { url: 'https://example.com/x.png' } } as const
    const content = [{ type: 'text', text: 'hi' } as const, image]
    const withImage = await count('mistral-small-2503', { messages: [{ role: 'user', content }] })
    expect(withImage).toMatchObject({ quality: 'estimate' })
    expect(withImage.tokens - withImage.images).toBe(4)
    const json_schema = { name: 'answer', schema: { type: 'object' } }
    const shaped = await count('qwen3-32b', {
      messages: hi,
      response_format: { type: 'json_schema', json_schema },
    })
    expect(shaped).toMatchObject({ quality: 'estimate' })
  })
})

it.each([
  ['meta-llama/Llama-3.1-8B-Instruct', 'llama3'],
  ['llama-3.3-70b-versatile', 'llama3'],
  ['accounts/fireworks/models/llama-v3p3-70b-instruct', 'llama3'],
  ['us.meta.llama3-3-70b-instruct-v1:0', 'llama3'],
  ['llama3.2:3b', 'llama3'],
  ['llama3', 'llama3'],
  ['llama3-8b-8192', 'llama3'],
  ['meta-llama/Llama-4-Scout-17B-16E-Instruct', undefined],
  ['llama-guard-3-8b', undefined],
  ['llama2', undefined],
  ['Qwen/Qwen2.5-7B-Instruct-Turbo', 'qwen'],
  ['qwen/qwen3-32b', 'qwen'],
  ['qwen-3-32b', 'qwen'],
  ['qwen3:8b', 'qwen'],
  ['qwen3-coder-480b-a35b-instruct', 'qwen'],
  ['qwq-32b', 'qwen'],
  ['qwen3.5-397b-a17b', undefined],
  ['qwen-plus', undefined],
  ['qwen3-max', undefined],
  ['deepseek-ai/DeepSeek-V3.1', 'deepseek-v3'],
  ['deepseek-reasoner', 'deepseek-v3'],
  ['deepseek-r1:671b', 'deepseek-v3'],
  ['accounts/fireworks/models/deepseek-v3p2', 'deepseek-v3'],
  ['deepseek.v3-v1:0', 'deepseek-v3'],
  ['deepseek-r1:7b', undefined],
  ['deepseek-r1-distill-llama-70b', undefined],
  ['mistralai/Mistral-Small-3.2-24B-Instruct-2506', 'tekken'],
  ['magistral-medium-2509', 'tekken'],
  ['mistral-large-2411', 'mistral-32k'],
  ['pixtral-large-2411', 'mistral-32k'],
  ['mistral.mistral-large-2402-v1:0', 'mistral-32k'],
  ['mistral.mistral-7b-instruct-v0:2', 'mistral-32k'],
  ['mistralai/Mistral-7B-Instruct-v0.3', 'mistral-32k'],
  ['mistralai/Mixtral-8x22B-Instruct-v0.1', 'mistral-32k'],
  ['mixtral-8x7b-instruct', 'mistral-32k'],
  ['mixtral-8x7b-32768', 'mistral-32k'],
  ['mistral-large-latest', undefined],
  ['mistral-small-2409', undefined],
  ['dolphin-mixtral-8x7b', undefined],
  ['codestral-latest', undefined],
])('the vocabulary of %s is %s', (model, vocabulary) => {
  expect(encodingOf(model)).toBe(vocabulary)
})
