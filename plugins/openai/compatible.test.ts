import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { ProviderDirectory } from '#provider'
import { startGateway } from '../../test/harness.ts'
import { startPlayed } from '../../test/played.ts'
import { shared } from '../../test/shared.ts'
import { traceOf } from '../../test/trace.ts'

/** What is documented of each provider: its address, the variable of its key, names that are its own alone. */
const providers = [
  ['openai', 'https://api.openai.com/v1', 'OPENAI_API_KEY', ['gpt-4o', 'o3', 'text-embedding-3-small']],
  ['groq', 'https://api.groq.com/openai/v1', 'GROQ_API_KEY', ['llama-3.3-70b-versatile']],
  ['mistral', 'https://api.mistral.ai/v1', 'MISTRAL_API_KEY', ['mistral-large-latest', 'codestral-latest']],
  ['deepseek', 'https://api.deepseek.com/v1', 'DEEPSEEK_API_KEY', ['deepseek-chat', 'deepseek-reasoner']],
  ['together', 'https://api.together.xyz/v1', 'TOGETHER_API_KEY', []],
  [
    'fireworks',
    'https://api.fireworks.ai/inference/v1',
    'FIREWORKS_API_KEY',
    ['accounts/fireworks/models/x'],
  ],
  ['perplexity', 'https://api.perplexity.ai', 'PERPLEXITY_API_KEY', ['sonar', 'sonar-pro']],
  ['xai', 'https://api.x.ai/v1', 'XAI_API_KEY', ['grok-4']],
  ['openrouter', 'https://openrouter.ai/api/v1', 'OPENROUTER_API_KEY', []],
  ['ollama', 'http://127.0.0.1:11434/v1', 'OLLAMA_API_KEY', []],
  ['lmstudio', 'http://127.0.0.1:1234/v1', 'LMSTUDIO_API_KEY', []],
  ['cerebras', 'https://api.cerebras.ai/v1', 'CEREBRAS_API_KEY', []],
  ['sambanova', 'https://api.sambanova.ai/v1', 'SAMBANOVA_API_KEY', []],
  ['nvidia', 'https://integrate.api.nvidia.com/v1', 'NVIDIA_API_KEY', []],
  ['huggingface', 'https://router.huggingface.co/v1', 'HF_TOKEN', []],
  ['deepinfra', 'https://api.deepinfra.com/v1/openai', 'DEEPINFRA_API_KEY', []],
  ['github', 'https://models.inference.ai.azure.com', 'GITHUB_MODELS_TOKEN', []],
  ['moonshot', 'https://api.moonshot.ai/v1', 'MOONSHOT_API_KEY', ['kimi-latest', 'moonshot-v1-8k']],
  [
    'dashscope',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    'DASHSCOPE_API_KEY',
    ['qwen-max', 'qwen-plus'],
  ],
  ['zai', 'https://api.z.ai/api/paas/v4', 'ZAI_API_KEY', ['glm-4.6']],
  ['minimax', 'https://api.minimax.io/v1', 'MINIMAX_API_KEY', ['MiniMax-M2']],
  ['vllm', 'http://127.0.0.1:8000/v1', 'VLLM_API_KEY', []],
  ['llamacpp', 'http://127.0.0.1:8080/v1', 'LLAMACPP_API_KEY', []],
  ['replicate', 'https://openai-proxy.replicate.com/v1', 'REPLICATE_API_TOKEN', []],
] as const

const keyOf = (id: string): string => `key-of-${id}`
const names = providers.map(([id]) => id)

const played = shared(() =>
  startPlayed({ apiKey: names.map(keyOf), strict: false }, ({ baseUrl }) => ({
    config: { providers: Object.fromEntries(names.map((id) => [id, { base_url: baseUrl() }])) },
    env: Object.fromEntries(providers.map(([id, , variable]) => [variable, keyOf(id)])),
  })),
)
beforeEach(() => played.upstream.reset())

const messages = [{ role: 'user' as const, content: 'hi' }]

/** Asks and returns what the provider was sent, what came back, and the trace. */
async function ask(fields: Record<string, unknown>) {
  const { data, response } = await played.client.chat.completions
    .create({ messages, model: 'unset', ...fields } as OpenAI.ChatCompletionCreateParamsNonStreaming)
    .withResponse()
  const sent = played.upstream.last().body as Record<string, unknown>
  return { sent, data, response, trace: await traceOf(played.gateway, response) }
}

/** The same, streamed. */
async function askStreamed(fields: Record<string, unknown>) {
  const { data, response } = await played.client.chat.completions
    .create({
      messages,
      model: 'unset',
      ...fields,
      stream: true,
    } as OpenAI.ChatCompletionCreateParamsStreaming)
    .withResponse()
  let text = ''
  for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? ''
  const sent = played.upstream.last().body as Record<string, unknown>
  return { sent, text, response, trace: await traceOf(played.gateway, response) }
}

/** A gateway that finds all of their keys in the environment, each with four characters of its own at its end. */
const bare = shared(() =>
  startGateway({ env: Object.fromEntries(providers.map(([id, , variable]) => [variable, `k${endOf(id)}`])) }),
)
const endOf = (id: string): number => 1000 + providers.findIndex(([name]) => name === id)

describe.each(providers)('%s', (id, base, variable, models) => {
  it('is at its documented address and takes its key from its variable', () => {
    const provider = bare.kernel.service(ProviderDirectory)!.get(id)
    expect(provider.baseUrl).toBe(base)
    const keys = [{ hint: String(endOf(id)) }]
    expect(provider, variable).toMatchObject({ configured: true, keySource: 'environment', keys })
  })

  it('gets a plain and a streamed call under its name, with its key and the bare name of the model', async () => {
    for (const one of [ask, askStreamed]) {
      const { sent } = await one({ model: `${id}/some-model`, temperature: 0.5 })
      expect(sent).toMatchObject({ model: 'some-model', messages, temperature: 0.5 })
      expect(played.upstream.last()).toMatchObject({ key: keyOf(id), path: '/v1/chat/completions' })
    }
  })

  it('gets the models that are its own alone', async () => {
    for (const model of models) {
      expect(
        played.gateway.kernel.service(ProviderDirectory)!.resolve(model, undefined)[0]?.provider.name,
        model,
      ).toBe(id)
    }
  })

  it('reports usage, streamed too', async () => {
    const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
    played.upstream.reply({ usage })
    expect((await ask({ model: `${id}/some-model` })).trace.usage).toMatchObject({ input: 11, output: 7 })
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'some-model' }
    const chunks = [
      { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { ...chunk, choices: [], usage },
    ].map((data) => `data: ${JSON.stringify(data)}\n\n`)
    played.upstream.reply({ chunks: [...chunks, 'data: [DONE]\n\n'] })
    expect((await askStreamed({ model: `${id}/some-model` })).trace.usage).toMatchObject({
      input: 11,
      output: 7,
    })
  })

  it('is named when it refuses the key, and the key is not', async () => {
    played.upstream.reply({ status: 401, times: Number.POSITIVE_INFINITY })
    const error = await ask({ model: `${id}/some-model` }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 502, code: 'provider_error', message: expect.stringContaining(id) })
    expect(String(error)).not.toContain(keyOf(id))
  })

  it('is really asked when it is checked', async () => {
    const good = await played.gateway.api('POST', `/api/proxy/providers/${id}/check`)
    expect(played.upstream.requests.map(({ method, key }) => [method, key])).toEqual([['GET', keyOf(id)]])
    expect(good.status).toBe(200)
    played.upstream.reply({ status: 500, times: Number.POSITIVE_INFINITY })
    const { body } = await played.gateway.api('POST', `/api/proxy/providers/${id}/check`)
    expect(body).toMatchObject({ name: id, status: 'down' })
  })
})

describe('Cloudflare', () => {
  it('is at the address of an account, and not in use without one', async () => {
    const env = { CLOUDFLARE_API_TOKEN: 'k1234' }
    const find = async (variables: Record<string, string>) => {
      const bare = await startGateway({ env: variables })
      const { baseUrl, configured } = bare.kernel.service(ProviderDirectory)!.get('cloudflare')
      await bare.close()
      return { baseUrl, configured }
    }
    expect(await find({ ...env, CLOUDFLARE_ACCOUNT_ID: 'abc' })).toEqual({
      baseUrl: 'https://api.cloudflare.com/client/v4/accounts/abc/ai/v1',
      configured: true,
    })
    expect(await find(env)).toMatchObject({ configured: false })
  })
})

describe('names of models', () => {
  it.each(['llama-3', 'mistral', 'qwen3', 'gemma-3'])('that several serve are nobody’s: %s', (model) => {
    expect(() => played.gateway.kernel.service(ProviderDirectory)!.resolve(model, undefined)).toThrow(
      /provider\/model/,
    )
  })

  it('that begin with their provider’s own go out whole', async () => {
    expect((await ask({ model: 'openrouter/auto' })).sent.model).toBe('openrouter/auto')
    expect((await ask({ model: 'groq/compound' })).sent.model).toBe('groq/compound')
    expect((await ask({ model: 'openrouter/openai/gpt-4o' })).sent.model).toBe('openai/gpt-4o')
  })
})

describe('Mistral', () => {
  const model = 'mistral/mistral-small-latest'

  it('is not sent what it refuses, and the answer says what was changed', async () => {
    const { sent, response } = await ask({
      model,
      max_completion_tokens: 5,
      seed: 7,
      user: 'u1',
      logit_bias: { 1: 2 },
      tool_choice: 'required',
      temperature: 0,
      some_new_parameter: 1,
      messages: [
        { role: 'developer', content: 'Be brief.' },
        { role: 'assistant', content: 'ok', refusal: null },
        { role: 'user', content: 'hi' },
      ],
    })
    expect(sent).toEqual({
      model: 'mistral-small-latest',
      max_tokens: 5,
      random_seed: 7,
      tool_choice: 'any',
      temperature: 0,
      some_new_parameter: 1,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'assistant', content: 'ok' },
        { role: 'user', content: 'hi' },
      ],
    })
    const changes = response.headers.get('x-params-changed')?.split(', ').toSorted()
    expect(changes).toEqual(
      [
        'max_completion_tokens->max_tokens',
        'seed->random_seed',
        '-logit_bias',
        '-user',
        'tool_choice:required->any',
        'role:developer->system',
      ].toSorted(),
    )
  })

  it('is asked for no usage on streams, which it reports by itself', async () => {
    expect((await askStreamed({ model })).sent).not.toHaveProperty('stream_options')
  })

  it('hears a word of the model between the result of a tool and what its user says next', async () => {
    const call = { id: 'abcDEF123', type: 'function', function: { name: 'f', arguments: '{}' } }
    const { sent, response } = await ask({
      model,
      messages: [
        ...messages,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: call.id, content: 'x' },
        { role: 'user', content: 'and now?' },
      ],
    })
    const roles = (sent.messages as { role: string }[]).map(({ role }) => role)
    expect(roles).toEqual(['user', 'assistant', 'tool', 'assistant', 'user'])
    expect(response.headers.get('x-params-changed')).toBe('+messages.assistant')
  })

  it('thinks as hard as it knows to, and what it thinks comes apart from its answer', async () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }
    const content = [thinking, { type: 'text', text: '42' }]
    played.upstream.reply({ body: { choices: [{ index: 0, message: { role: 'assistant', content } }] } })
    const { sent, data, response } = await ask({ model, reasoning_effort: 'low' })
    expect(sent.reasoning_effort).toBe('high')
    expect(response.headers.get('x-params-changed')).toBe('reasoning_effort:low->high')
    expect(data.choices[0]!.message).toEqual({ role: 'assistant', content: '42', reasoning_content: 'Hm.' })
  })

  it('gets ids of tool calls that it takes, the same for a call and its result', async () => {
    const id = 'call_0123456789abcdef'
    const { sent } = await ask({
      model,
      messages: [
        ...messages,
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id, type: 'function', function: { name: 'f', arguments: '{}' } },
            { id: 'abcDEF123', type: 'function', function: { name: 'g', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: id, content: 'x' },
        { role: 'tool', tool_call_id: 'abcDEF123', content: 'y' },
      ],
    })
    const [, assistant, first, second] = sent.messages as {
      tool_calls: { id: string; function: object }[]
      tool_call_id: string
    }[]
    const made = assistant!.tool_calls[0]!.id
    expect(made).toMatch(/^[A-Za-z0-9]{9}$/)
    expect(assistant!.tool_calls[1]).toMatchObject({ id: 'abcDEF123', function: { name: 'g' } })
    expect([first!.tool_call_id, second!.tool_call_id]).toEqual([made, 'abcDEF123'])
  })
})

describe('usage as only some report it', () => {
  it('Groq: inside x_groq at the end of a stream', async () => {
    const usage = { prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 }
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
    const chunks = [
      { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], x_groq: { id: 'req', usage } },
    ].map((data) => `data: ${JSON.stringify(data)}\n\n`)
    played.upstream.reply({ chunks: [...chunks, 'data: [DONE]\n\n'] })
    const { trace, text } = await askStreamed({ model: 'llama-3.3-70b-versatile' })
    expect(text).toBe('Hi')
    expect(trace.usage).toMatchObject({ input: 21, output: 4, source: 'provider' })
  })

  it('DeepSeek: cache hits and misses beside the prompt', async () => {
    const hits = { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40 }
    played.upstream.reply({ usage: { prompt_tokens: 100, completion_tokens: 5, total_tokens: 105, ...hits } })
    const { trace } = await ask({ model: 'deepseek-chat' })
    expect(trace.usage).toMatchObject({ input: 100, cached_read: 60, output: 5 })
    expect(trace.cost.cache).toBeGreaterThan(0)
  })

  it('xAI: reasoning tokens beside those of the answer, and paid like them', async () => {
    const details = { completion_tokens_details: { reasoning_tokens: 30 } }
    played.upstream.reply({
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 45, ...details },
    })
    const { trace } = await ask({ model: 'grok-4' })
    expect(trace.usage).toMatchObject({ input: 10, output: 35, reasoning: 30 })
    expect(trace.cost.price_id).toMatch(/^x-ai\//)
  })

  it('OpenRouter: its own figure is what the call cost', async () => {
    played.upstream.reply({
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost: 0.001234567 },
    })
    const { sent, trace } = await ask({ model: 'openrouter/anthropic/claude-sonnet-4.5' })
    expect(sent.usage).toEqual({ include: true })
    expect(trace.cost_usd).toBe(0.001234567)
    expect(trace.cost).toMatchObject({ source: 'provider' })
  })

  it('Perplexity: the fee for the search is in its figure, and citations come through', async () => {
    const cost = {
      input_tokens_cost: 0.001,
      output_tokens_cost: 0.002,
      request_cost: 0.005,
      total_cost: 0.008,
    }
    const body = {
      id: 'p',
      object: 'chat.completion',
      created: 1,
      model: 'sonar',
      choices: [{ index: 0, message: { role: 'assistant', content: 'a[1]' }, finish_reason: 'stop' }],
      citations: ['https://example.com/1'],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost },
    }
    played.upstream.reply({ body })
    const { data, trace } = await ask({ model: 'sonar' })
    expect(data).toEqual(body)
    expect(trace.cost_usd).toBe(0.008)
  })

  it('a figure that is no number counts for nothing', async () => {
    for (const cost of ['1', -1, null]) {
      played.upstream.reply({ usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, cost } })
      const { trace } = await ask({ model: 'openrouter/some/model' })
      expect(trace.cost?.source).not.toBe('provider')
    }
  })
})

describe('OpenRouter', () => {
  const model = 'openrouter/some/model'

  it('may send comments while it waits', async () => {
    const delta = { choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }
    const comment = ': OPENROUTER PROCESSING\n\n'
    played.upstream.reply({
      chunks: [comment, comment, `data: ${JSON.stringify(delta)}\n\n`, 'data: [DONE]\n\n'],
    })
    expect((await askStreamed({ model })).text).toBe('Hi')
  })

  it.each([
    [429, OpenAI.RateLimitError],
    [400, OpenAI.BadRequestError],
    [502, OpenAI.InternalServerError],
  ])('may send an error %i under a good status, which is an error for the client', async (code, type) => {
    const error = { code, message: 'not now' }
    played.upstream.reply({ body: { error }, status: 200 })
    const plain = await ask({ model }).catch((thrown: unknown) => thrown)
    played.upstream.reply({ chunks: [`data: ${JSON.stringify({ id: 'g', error, choices: [] })}\n\n`] })
    const streamed = await askStreamed({ model }).catch((thrown: unknown) => thrown)
    for (const thrown of [plain, streamed]) {
      expect(thrown).toBeInstanceOf(type)
      expect(String(thrown)).toContain('not now')
    }
  })
})
