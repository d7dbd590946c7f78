import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => upstream.reset())

const use = (aliases: object) => gateway.module('modelalias', { enabled: true, config: { aliases } })
const messages = [{ role: 'user' as const, content: 'Hello' }]

/** The request that the provider gets. */
async function sent(
  body: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming>,
): Promise<Record<string, unknown>> {
  await client.chat.completions.create({ model: 'fast', messages, ...body })
  return upstream.last().body as Record<string, unknown>
}

test('a client asks for a name, and the provider gets the model', async () => {
  await use({ fast: 'openai/gpt-4o-mini', 'claude-*': 'fast' })
  expect(await sent({ model: 'fast' })).toMatchObject({ model: 'gpt-4o-mini' })
  expect(await sent({ model: 'claude-opus' })).toMatchObject({ model: 'gpt-4o-mini' })
  expect(await sent({ model: 'gpt-4o' })).toMatchObject({ model: 'gpt-4o' })
})

test('streams and embeddings have aliases too', async () => {
  await use({ fast: 'gpt-4o-mini', vectors: 'text-embedding-3-small' })
  const stream = await client.chat.completions.create({ model: 'fast', messages, stream: true })
  let text = ''
  for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
  expect(text).toContain('Hello')
  await client.embeddings.create({ model: 'vectors', input: 'Hello', encoding_format: 'float' })
  expect(upstream.last().body).toMatchObject({ model: 'text-embedding-3-small' })
})

test('default parameters hold where the request says nothing, under whichever name it says it', async () => {
  await use({ fast: { model: 'gpt-4o-mini', defaults: { temperature: 0.2, max_tokens: 50, seed: 7 } } })
  expect(await sent({})).toMatchObject({ temperature: 0.2, max_tokens: 50, seed: 7 })
  expect(await sent({ temperature: 1 })).toMatchObject({ temperature: 1, seed: 7 })
  const other = await sent({ max_completion_tokens: 900 })
  expect(other).toMatchObject({ max_completion_tokens: 900 })
  expect(other).not.toHaveProperty('max_tokens')
})

test('projects have names of their own, which are listed unless they are only tried in shadow', async () => {
  await use({ fast: 'gpt-4o-mini' })
  const bindings = '/api/proxy/modules/modelalias/bindings'
  const config = { aliases: { fast: 'gpt-3.5-turbo', draft: 'gpt-4o' } }
  const bound = { name: 'docs', config, when: { projects: ['docs'] }, order: -1 }
  expect((await gateway.api('POST', bindings, bound)).status).toBe(201)
  const headers = { 'x-project': 'docs' }
  const modelFor = async (model: string, headers = {}) => {
    await client.chat.completions.create({ model, messages }, { headers })
    return (upstream.last().body as { model: string }).model
  }
  const listed = async () => (await client.models.list()).data.map(({ id }) => id)
  expect([await modelFor('fast'), await modelFor('fast', headers)]).toEqual(['gpt-4o-mini', 'gpt-3.5-turbo'])
  expect(await modelFor('draft', headers)).toBe('gpt-4o')
  expect((await listed()).filter((id) => id === 'fast' || id === 'draft').toSorted()).toEqual([
    'draft',
    'fast',
  ])
  await gateway.api('PUT', `${bindings}/docs`, { mode: 'shadow' })
  expect(await modelFor('fast', headers)).toBe('gpt-4o-mini')
  expect(await listed()).not.toContain('draft')
  await gateway.api('DELETE', `${bindings}/docs`)
})

test('aliases are listed among the models, without those that are globs', async () => {
  await use({ fast: 'gpt-4o-mini', 'claude-*': 'gpt-4o' })
  const names = []
  for await (const { id } of client.models.list()) names.push(id)
  expect(names).toContain('fast')
  expect(names).not.toContain('claude-*')
})

test('a model that nothing serves is not found, with the alias it is like', async () => {
  await use({ 'house-model': 'gpt-4o-mini' })
  const call = client.chat.completions.create({ model: 'hose-model', messages })
  await expect(call).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  await expect(call).rejects.toThrow('Did you mean house-model?')
  expect(upstream.requests).toEqual([])
})

test('aliases that lead round in a loop are refused with the loop, and those before them stay', async () => {
  await use({ fast: 'gpt-4o-mini' })
  const { status, body } = await gateway.api('PUT', '/api/proxy/modules/modelalias', {
    config: { aliases: { fast: 'a', a: 'b', b: 'a' } },
  })
  expect(status).toBe(400)
  expect(body.error).toMatchObject({ code: 'bad_request', param: 'config.aliases' })
  expect(body.error.message).toContain('b → a → b')
  expect(await sent({ model: 'fast' })).toMatchObject({ model: 'gpt-4o-mini' })
})

test.each([
  ['a default that would change the question', { fast: { model: 'gpt-4o', defaults: { messages: [] } } }],
  [
    'a default that would change the form of the answer',
    { fast: { model: 'gpt-4o', defaults: { stream: true } } },
  ],
  ['an alias that leads to a glob', { fast: 'gpt-*' }],
])('%s is refused', async (_, aliases) => {
  const { status } = await gateway.api('PUT', '/api/proxy/modules/modelalias', { config: { aliases } })
  expect(status).toBe(400)
})

test('the trace tells which name was asked for', async () => {
  await use({ fast: 'gpt-4o-mini' })
  const { response } = await client.chat.completions.create({ model: 'fast', messages }).withResponse()
  const { body } = await gateway.api('GET', `/api/observe/traces/${response.headers.get('x-trace-id')}`)
  expect(JSON.stringify(body)).toContain('fast is an alias')
})
