import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { bareChain } from '../../../test/bare.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { anthropic } from '../../../test/upstream/anthropic/index.ts'
import { bedrock, cohere, gemini, startUpstream, type Upstream } from '../../../test/upstream/index.ts'
import { tokenize } from '../../../test/upstream/tokenize/index.ts'
import { vertex } from '../../../test/upstream/vertex/index.ts'

const wires = { anthropic, bedrock, cohere, gemini, moonshot: tokenize, vertex, vllm: tokenize }
const upstreams = new Map<string, Upstream>()
let gateway: TestGateway
let client: Anthropic

beforeAll(async () => {
  const providers: Record<string, object> = {}
  for (const [name, wire] of Object.entries(wires)) {
    const upstream = await startUpstream({ wires: [wire], apiKey: `ABSKkey-of-${name}=` })
    upstreams.set(name, upstream)
    providers[name] = { base_url: upstream.baseUrl(), api_key: `ABSKkey-of-${name}=` }
  }
  gateway = await startGateway({ config: { providers } })
  await bareChain(gateway)
  const { key } = await gateway.signUp()
  client = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 })
})

beforeEach(() => {
  for (const upstream of upstreams.values()) upstream.reset()
})

afterAll(async () => {
  await gateway.close()
  for (const upstream of upstreams.values()) await upstream.close()
})

const asked: Partial<Anthropic.MessageCountTokensParams> = {
  system: 'Be brief.',
  messages: [
    { role: 'user', content: 'What is the weather in Rome?' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't1', name: 'weather', input: { city: 'Rome' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'sunny' }] },
  ],
  tools: [{ name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }],
}

async function count(model: string, fields: object = asked) {
  const params = { model, ...fields } as Anthropic.MessageCountTokensParams
  const { data, response } = await client.messages.countTokens(params).withResponse()
  return { tokens: data.input_tokens, by: response.headers.get('x-token-count') }
}

const last = (provider: string) => upstreams.get(provider)!.last()

test('Anthropic counts everything that makes a prompt, and is told nothing else', async () => {
  const thinking = { type: 'enabled', budget_tokens: 2000 }
  const more = { temperature: 1, metadata: { user_id: 'u' }, stop_sequences: ['x'] }
  const { tokens, by } = await count('anthropic/claude-sonnet-4-5', { ...asked, thinking, ...more })
  expect([by, tokens > 0]).toEqual(['provider', true])
  expect(last('anthropic').path).toBe('/v1/messages/count_tokens')
  expect(last('anthropic').body).toEqual({ model: 'claude-sonnet-4-5', ...asked, thinking })
})

test('Gemini counts the whole request, as it would be made', async () => {
  upstreams.get('gemini')!.reply({ body: { totalTokens: 42 } })
  expect(await count('gemini/gemini-2.5-flash')).toEqual({ tokens: 42, by: 'provider' })
  expect(last('gemini').path).toBe('/v1beta/models/gemini-2.5-flash:countTokens')
  expect(last('gemini').body).toMatchObject({
    generateContentRequest: {
      model: 'models/gemini-2.5-flash',
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'weather' }] }],
    },
  })
})

test('Vertex counts what stands in the request itself', async () => {
  expect(await count('vertex/gemini-2.5-flash')).toEqual({ tokens: expect.any(Number), by: 'provider' })
  expect(last('vertex').path).toMatch(/publishers\/google\/models\/gemini-2\.5-flash:countTokens$/)
  expect(last('vertex').body).toMatchObject({
    contents: [{ role: 'user' }, { role: 'model' }, { role: 'user' }],
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
  })
})

test('Bedrock counts for Claude, by the name of the model behind a profile', async () => {
  const model = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
  expect(await count(`bedrock/us.${model}`)).toEqual({ tokens: expect.any(Number), by: 'provider' })
  expect(decodeURIComponent(last('bedrock').path)).toBe(`/model/${model}/count-tokens`)
  expect(last('bedrock').body).toMatchObject({ input: { converse: { system: [{ text: 'Be brief.' }] } } })
})

test('is done here where Bedrock does not count', async () => {
  const hi = { messages: [{ role: 'user', content: 'hi' }] }
  expect(await count('bedrock/us.meta.llama3-3-70b-instruct-v1:0', hi)).toEqual({
    tokens: 36,
    by: 'tokenizer',
  })
  expect(upstreams.get('bedrock')!.requests).toHaveLength(0)
  const message = "The provided model doesn't support counting tokens."
  upstreams.get('bedrock')!.reply({ status: 400, error: { message } })
  expect(await count('bedrock/anthropic.claude-opus-9', hi)).toMatchObject({ by: 'estimated' })
  expect(upstreams.get('bedrock')!.requests).toHaveLength(1)
})

test('Cohere counts texts, so that the whole is an estimate; a text too long for it stays here', async () => {
  const { tokens, by } = await count('cohere/command-a-03-2025')
  expect([by, tokens > 10]).toEqual(['estimated', true])
  expect(last('cohere').path).toBe('/v1/tokenize')
  expect(last('cohere').body).toMatchObject({ model: 'command-a-03-2025' })
  upstreams.get('cohere')!.reset()
  const long = { messages: [{ role: 'user', content: 'x'.repeat(70_000) }] }
  expect(await count('cohere/command-a-03-2025', long)).toMatchObject({ by: 'estimated' })
  expect(upstreams.get('cohere')!.requests).toHaveLength(0)
})

test('vLLM and Moonshot count by the model’s own template', async () => {
  upstreams.get('vllm')!.reply({ body: { count: 31, max_model_len: 4096, tokens: [] } })
  expect(await count('vllm/google/gemma-4-31b-it')).toEqual({ tokens: 31, by: 'provider' })
  expect(last('vllm').path).toBe('/tokenize')
  expect(last('vllm').body).toMatchObject({
    model: 'google/gemma-4-31b-it',
    messages: [{ role: 'system' }, { role: 'user' }, { role: 'assistant' }, { role: 'tool' }],
    tools: [{ type: 'function' }],
  })
  expect(await count('moonshot/kimi-k2-0905-preview')).toEqual({ tokens: expect.any(Number), by: 'provider' })
  expect(last('moonshot').path).toBe('/v1/tokenizers/estimate-token-count')
})

test('a server that is like vLLM and does not count leaves it to the gateway', async () => {
  upstreams.get('vllm')!.reply({ status: 404 })
  const hi = { messages: [{ role: 'user', content: 'hi' }] }
  expect(await count('vllm/Qwen/Qwen3-32B', hi)).toEqual({ tokens: 9, by: 'tokenizer' })
})

test.each(['anthropic/claude-sonnet-4-5', 'gemini/gemini-2.5-flash', 'cohere/command-a-03-2025'])(
  'a provider that refuses is quoted, one that makes no sense is told from it: %s',
  async (model) => {
    const upstream = upstreams.get(model.split('/')[0]!)!
    upstream.reply({ status: 429 })
    await expect(count(model)).rejects.toBeInstanceOf(Anthropic.RateLimitError)
    upstream.reply({ body: { tokens: 'many' } })
    await expect(count(model)).rejects.toThrow('did not say how many tokens')
    upstream.reply({ body: 'tokens: 5' })
    await expect(count(model)).rejects.toThrow('did not say how many tokens')
  },
)

test('a key that a provider quotes does not reach the client', async () => {
  const message = 'The key ABSKkey-of-gemini= is out of credit.'
  upstreams.get('gemini')!.reply({ status: 400, error: { message } })
  const refusal = await count('gemini/gemini-2.5-flash').catch((error: Error) => error.message)
  expect(refusal).toContain('out of credit')
  expect(refusal).not.toContain('key-of-gemini')
})

test.each(['', 'Anthropic'])('X-Provider is read as on calls: "%s"', async (name) => {
  const request = { model: 'claude-sonnet-4-5', messages: asked.messages! }
  const counted = client.messages.countTokens(request, { headers: { 'x-provider': name } })
  await expect(counted).resolves.toMatchObject({ input_tokens: expect.any(Number) })
})
