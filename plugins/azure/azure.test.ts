import OpenAI from 'openai'
import { beforeEach, expect, it } from 'vitest'
import { ProviderDirectory } from '#provider'
import { startGateway } from '../../test/harness.ts'
import { startPlayed } from '../../test/played.ts'
import { shared } from '../../test/shared.ts'
import { traceOf } from '../../test/trace.ts'
import { azure } from '../../test/upstream/index.ts'

const deployments = { 'gpt-4o': 'my deployment' }
const played = shared(() =>
  startPlayed(
    { wires: [azure], apiKey: 'key-of-azure', models: ['my deployment', 'other'] },
    ({ baseUrl }) => ({
      config: {
        providers: {
          azure: {
            api_key: 'key-of-azure',
            base_url: baseUrl(),
            options: { api_version: '2025-01-01-preview', deployments },
          },
          newer: {
            type: 'azure',
            api_key: 'key-of-azure',
            base_url: `${baseUrl()}/openai/v1`,
            options: { deployments },
          },
          wrong: { type: 'azure', api_key: 'key-of-nobody', base_url: baseUrl() },
        },
      },
    }),
  ),
)
beforeEach(() => played.upstream.reset())

const messages = [{ role: 'user' as const, content: 'hi' }]

it('has its endpoints at the address of a deployment, the version in the query, and the key in its own header', async () => {
  const answer = await played.client.chat.completions.create({ model: 'azure/other', messages })
  expect(answer.choices[0]!.message.content).toBe('You said: hi')
  const { path, query, headers } = played.upstream.last()
  expect(`${path}?${query}`).toBe('/openai/deployments/other/chat/completions?api-version=2025-01-01-preview')
  expect(headers['api-key']).toBe('key-of-azure')
  expect(headers).not.toHaveProperty('authorization')
})

it('gets a model at the deployment it is mapped to, and counts its cost as the model’s', async () => {
  const stream = await played.client.chat.completions
    .create({ model: 'azure/gpt-4o', messages, stream: true, stream_options: { include_usage: true } })
    .withResponse()
  let text = ''
  for await (const { choices } of stream.data) text += choices[0]?.delta.content ?? ''
  expect(text).toBe('You said: hi')
  expect(played.upstream.last()).toMatchObject({
    path: '/openai/deployments/my%20deployment/chat/completions',
    body: { model: 'my deployment' },
  })
  const trace = await traceOf(played.gateway, stream.response)
  expect(trace.cost_usd).toBeGreaterThan(0)
})

it('opens with a chunk without choices, which is no content, and reports a filter', async () => {
  const chunk = { id: '', object: '', created: 0, model: '' }
  const filters = [{ prompt_index: 0, content_filter_results: {} }]
  const said = { ...chunk, id: 'c', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o' }
  const chunks = [
    { ...chunk, choices: [], prompt_filter_results: filters },
    { ...said, choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }] },
    { ...said, choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }] },
  ].map((data) => `data: ${JSON.stringify(data)}\n\n`)
  played.upstream.reply({ chunks: [...chunks, 'data: [DONE]\n\n'] })
  const stream = await played.client.chat.completions.create({ model: 'azure/other', messages, stream: true })
  const ends: unknown[] = []
  for await (const { choices } of stream) if (choices[0]?.finish_reason) ends.push(choices[0].finish_reason)
  expect(ends).toEqual(['content_filter'])
})

it('has one address for all deployments where its base URL says so', async () => {
  await played.client.chat.completions.create({ model: 'newer/gpt-4o', messages })
  const { path, query, body } = played.upstream.last()
  expect(`${path}?${query}`).toBe('/openai/v1/chat/completions?')
  expect(body).toMatchObject({ model: 'my deployment' })
})

it('makes embeddings', async () => {
  const { data } = await played.client.embeddings.create({ model: 'azure/other', input: 'a', dimensions: 4 })
  expect(data[0]!.embedding).toHaveLength(4)
  expect(played.upstream.last().path).toBe('/openai/deployments/other/embeddings')
})

it('is told apart from the caller when it fails', async () => {
  const failure = (model: string) =>
    played.client.chat.completions.create({ model, messages }).catch((thrown: unknown) => thrown)
  const unknown = await failure('azure/nothing')
  expect(unknown).toBeInstanceOf(OpenAI.NotFoundError)
  expect(String(unknown)).toContain('deployment')
  const refused = await failure('wrong/other')
  expect(refused).toMatchObject({ status: 502, code: 'provider_error' })
  expect(String(refused)).not.toContain('key-of-nobody')
  played.upstream.reply({
    status: 400,
    error: { code: 'content_filter', message: 'The response was filtered.' },
  })
  expect(await failure('azure/other')).toBeInstanceOf(OpenAI.BadRequestError)
})

it('is really asked when it is checked', async () => {
  const { body } = await played.gateway.api('POST', '/api/proxy/providers/azure/check')
  expect(body).toMatchObject({ name: 'azure', status: 'healthy' })
  expect(played.upstream.last()).toMatchObject({ method: 'GET', path: '/openai/models' })
})

it('is found by its resource, and says what is missing without one', async () => {
  const env = { AZURE_OPENAI_API_KEY: 'k1234' }
  const without = await startGateway({ env })
  const { key } = await without.signUp()
  const other = new OpenAI({ baseURL: `${without.url}/v1`, apiKey: key, maxRetries: 0 })
  const error = await other.chat.completions
    .create({ model: 'azure/x', messages })
    .catch((thrown: unknown) => thrown)
  await without.close()
  expect(String(error)).toMatch(/AZURE_OPENAI_RESOURCE or providers\.azure\.options\.resource/)
  const found = await startGateway({ env: { ...env, AZURE_OPENAI_RESOURCE: 'mine' } })
  const provider = found.kernel.service(ProviderDirectory)!.get('azure')
  await found.close()
  expect(provider).toMatchObject({ baseUrl: 'https://mine.openai.azure.com', configured: true })
})
