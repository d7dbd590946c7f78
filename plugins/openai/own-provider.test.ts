import OpenAI from 'openai'
import { beforeEach, expect, it } from 'vitest'
import { ProviderDirectory } from '#provider'
import { startPlayed } from '../../test/played.ts'
import { shared } from '../../test/shared.ts'
import { traceOf } from '../../test/trace.ts'

const played = shared(() =>
  startPlayed({ apiKey: [] }, ({ url, baseUrl }) => ({
    config: {
      providers: {
        mycorp: {
          type: 'openai',
          base_url: `${baseUrl()}/`,
          api_key: 'corp-key',
          models: ['mycorp-*', 'gpt-4o-mini'],
          headers: { 'X-Team': 'gateway' },
          org_id: 'org-7',
        },
        keyless: { type: 'openai', base_url: baseUrl(), models: ['local-*'] },
        second: { type: 'groq', api_key: 'second-key' },
      },
      routes: [{ match: 'support-bot', provider: 'mycorp', model: 'mycorp-large' }],
      prices: { 'mycorp/mycorp-large': { input_usd_per_m: 1, output_usd_per_m: 2 } },
    },
    env: { OLLAMA_BASE_URL: url },
  })),
)
beforeEach(() => played.upstream.reset())

async function ask(model: string, headers: Record<string, string> = {}) {
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const { response } = await played.client.chat.completions
    .create({ model, messages }, { headers })
    .withResponse()
  return {
    response,
    request: played.upstream.last(),
    model: (played.upstream.last().body as { model: string }).model,
  }
}

it('a provider of the operator’s own gets the models it claims, with its key and its headers', async () => {
  for (const name of ['mycorp-small', 'mycorp/anything', 'gpt-4o-mini']) {
    const { request, model } = await ask(name)
    expect(request).toMatchObject({ key: 'corp-key', path: '/v1/chat/completions' })
    expect(request.headers).toMatchObject({ 'x-team': 'gateway', 'openai-organization': 'org-7' })
    expect(model).toBe(name.replace('mycorp/', ''))
  }
})

it('a route gives a model to a provider under another name, at the operator’s price', async () => {
  played.upstream.reply({ usage: { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 } })
  const { response, model } = await ask('support-bot')
  expect(model).toBe('mycorp-large')
  const trace = await traceOf(played.gateway, response)
  expect(trace).toMatchObject({ provider: 'mycorp', cost_usd: 0.002, cost: { source: 'override' } })
  const { body } = await played.gateway.api('GET', '/api/proxy/routes')
  expect(body.routes).toEqual([
    {
      order: 1,
      match: 'support-bot',
      provider: 'mycorp',
      model: 'mycorp-large',
      priority: 0,
      source: 'config',
    },
  ])
})

it('a provider with an address and without a key is called without one', async () => {
  expect((await ask('local-7b')).request).toMatchObject({ key: undefined })
})

it('a local server is in use as soon as its variable names it, with or without its path', async () => {
  const { request, model } = await ask('ollama/llama3.2')
  expect(request).toMatchObject({ key: undefined, path: '/v1/chat/completions' })
  expect(model).toBe('llama3.2')
  expect(played.gateway.kernel.service(ProviderDirectory)!.get('lmstudio').configured).toBe(false)
})

it('a second account of a provider is where the first one is', () => {
  expect(played.gateway.kernel.service(ProviderDirectory)!.get('second')).toMatchObject({
    baseUrl: 'https://api.groq.com/openai/v1',
    keys: [{ hint: '-key' }],
    priceId: 'groq',
  })
})

it('X-Provider sends any model to one provider, and an unknown one is refused with the ones there are', async () => {
  const { request, model } = await ask('gpt-4o', { 'x-provider': 'mycorp' })
  expect([request.key, model]).toEqual(['corp-key', 'gpt-4o'])
  const error = await ask('gpt-4o', { 'x-provider': 'nobody' }).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(OpenAI.BadRequestError)
  expect(error).toMatchObject({
    param: 'X-Provider',
    message: expect.stringMatching(/keyless.*mycorp|mycorp.*keyless/),
  })
})

it('a model that nobody serves is not found, and near names are told', async () => {
  const error = await ask('mycorq/large').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(OpenAI.NotFoundError)
  const near = await ask('gtp-4o-mni').catch((thrown: unknown) => thrown)
  expect(near).toMatchObject({ status: 404, param: 'model', message: expect.stringContaining('gpt-4o-mini') })
})
