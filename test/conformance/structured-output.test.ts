import { readFile, writeFile } from 'node:fs/promises'
import { beforeEach, describe, expect, test } from 'vitest'
import { ask } from '../ask.ts'
import { startGateway } from '../harness.ts'
import { shared } from '../shared.ts'
import { anthropic } from '../upstream/anthropic/index.ts'
import { groq } from '../upstream/groq/index.ts'
import {
  azure,
  bedrock,
  cohere,
  gemini,
  openai,
  startUpstream,
  type Upstream,
  type Wire,
} from '../upstream/index.ts'
import { mistral } from '../upstream/mistral/index.ts'
import { vertexWith } from '../upstream/vertex/index.ts'

const file = new URL('../../docs/wires.md', import.meta.url)

const vertex = vertexWith(new Set(['ya29.test']))
/** Services that are nearly like OpenAI's, and take fields of their own. */
const compatible: Wire = { ...openai, name: 'compatible' }
const token = { api_key: 'ya29.test', options: { project: 'p' } }

/** Providers, how their services are played, and a model for each line of the table. */
const rows: readonly (readonly [
  provider: string,
  dialect: Wire | undefined,
  models: readonly string[],
  entry?: object,
])[] = [
  ['openai', openai, ['gpt-4o-mini', 'gpt-3.5-turbo']],
  ['azure', azure, ['gpt-4o-mini']],
  ['anthropic', anthropic, ['claude-sonnet-4-5', 'claude-3-5-haiku-latest']],
  ['gemini', gemini, ['gemini-3-pro-preview', 'gemini-2.5-flash', 'gemma-3-27b-it']],
  ['cohere', cohere, ['command-a-03-2025', 'c4ai-aya-expanse-32b']],
  ['mistral', mistral, ['mistral-small-latest']],
  ['groq', groq, ['openai/gpt-oss-20b', 'llama-3.3-70b-versatile']],
  [
    'bedrock',
    bedrock,
    [
      'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      'us.anthropic.claude-3-5-haiku-20241022-v1:0',
      'amazon.nova-pro-v1:0',
      'openai.gpt-oss-120b-1:0',
      'us.meta.llama3-3-70b-instruct-v1:0',
    ],
  ],
  ['vertex', vertex, ['gemini-3-pro-preview'], token],
  ['vertex-claude', vertex, ['claude-sonnet-4-5@20250929'], token],
  ['cerebras', compatible, ['gpt-oss-120b']],
  ['cloudflare', compatible, ['@cf/openai/gpt-oss-120b'], { options: { account_id: 'a' } }],
  ['dashscope', compatible, ['qwen3.7-max', 'qwen-plus']],
  ['deepinfra', compatible, ['moonshotai/Kimi-K2.6', 'microsoft/phi-4']],
  ['deepseek', compatible, ['deepseek-chat']],
  ['fireworks', compatible, ['accounts/fireworks/models/kimi-k2p6']],
  ['github', compatible, ['openai/gpt-4.1', 'microsoft/phi-4']],
  ['huggingface', compatible, ['openai/gpt-oss-120b']],
  ['llamacpp', compatible, ['any']],
  ['lmstudio', compatible, ['any']],
  ['minimax', compatible, ['MiniMax-M2']],
  ['moonshot', compatible, ['kimi-k2.6', 'kimi-latest']],
  ['nvidia', compatible, ['meta/llama-3.3-70b-instruct']],
  ['ollama', compatible, ['any']],
  ['openrouter', compatible, ['openai/gpt-5', 'anthropic/claude-3.5-haiku']],
  ['perplexity', compatible, ['sonar']],
  ['replicate', compatible, ['openai/gpt-4.1', 'meta/meta-llama-3-70b-instruct']],
  ['sambanova', compatible, ['Meta-Llama-3.3-70B-Instruct', 'DeepSeek-V3.1']],
  ['together', compatible, ['meta-llama/Llama-3.3-70B-Instruct-Turbo', 'Qwen/QwQ-32B']],
  ['vllm', compatible, ['any']],
  ['xai', compatible, ['grok-4']],
  ['zai', compatible, ['glm-5.3', 'glm-4.6']],
  ['mock', undefined, ['mock']],
]

const schema = {
  type: 'object',
  properties: { verdict: { type: 'string', enum: ['yes', 'no'] } },
  required: ['verdict'],
  additionalProperties: false,
}
const good = '{"verdict":"yes"}'
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'Is it? Say so in JSON.' },
]
const format = { type: 'json_schema', json_schema: { name: 'verdict', schema } }
const tools = [
  { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
]

/** All providers of the table, as they are by default. */
async function start() {
  const upstreams = new Map<Wire, Upstream>()
  for (const [, dialect] of rows)
    if (dialect && !upstreams.has(dialect))
      upstreams.set(dialect, await startUpstream({ wires: [dialect], strict: dialect !== compatible }))
  const entries = rows.flatMap(([name, dialect, , entry]) =>
    dialect ? [[name, { base_url: upstreams.get(dialect)!.baseUrl(), api_key: 'sk-test', ...entry }]] : [],
  )
  const own = { type: 'openai', base_url: upstreams.get(compatible)!.baseUrl(), api_key: 'sk-test' }
  const gateway = await startGateway({
    config: {
      providers: { ...Object.fromEntries(entries), mine: own },
      models: { 'mine/held-*': { capabilities: { json_schema: true } } },
      modules: {
        fallbackrouter: {
          config: { chains: { 'openai/gpt-4o-mini': ['openai/gpt-4o-mini', 'openai/gpt-3.5-turbo'] } },
        },
      },
    },
  })
  return {
    gateway,
    upstream: (dialect: Wire) => upstreams.get(dialect)!,
    reset() {
      for (const upstream of upstreams.values()) upstream.reset()
    },
    async close() {
      await gateway.close()
      for (const upstream of upstreams.values()) await upstream.close()
    },
  }
}

const stand = shared(start)
beforeEach(() => stand.reset())

/** How a form reached the model, by what the caller was told of it. */
async function wayOf(provider: string, dialect: Wire | undefined, fields: object): Promise<string> {
  if (dialect) stand.upstream(dialect).reply({ content: good, times: Number.POSITIVE_INFINITY })
  const { status, body, headers } = await ask(stand.gateway, { body: { messages, ...fields } })
  expect({ provider, fields, status, body }).toMatchObject({ status: 200 })
  stand.reset()
  const told = headers.get('x-params-changed') ?? ''
  return /response_format:\w+->(\w+)/.exec(told)?.[1] ?? 'native'
}

test('how a form of the answer reaches each provider is what the table in docs says', async () => {
  const lines = [
    '| provider | model | JSON Schema | beside tools | JSON without a schema |',
    '|---|---|---|---|---|',
  ]
  for (const [provider, dialect, models] of rows) {
    for (const name of models) {
      const model = `${provider}/${name}`
      const ways = [
        await wayOf(provider, dialect, { model, response_format: format }),
        await wayOf(provider, dialect, { model, response_format: format, tools }),
        await wayOf(provider, dialect, { model, response_format: { type: 'json_object' } }),
      ]
      lines.push(`| ${[provider, `\`${name}\``, ...ways].join(' | ')} |`)
    }
  }
  const written = await readFile(file, 'utf8')
  const table = lines.join('\n')
  const old = /\| provider \| model \| JSON Schema [\s\S]*?(?=\n\n)/
  if (process.env.CONFORMANCE === 'write')
    await writeFile(
      file,
      written.replace(old, () => table),
    )
  expect(await readFile(file, 'utf8')).toContain(table)
})

const paths = {
  chat: (model: string) => ({
    path: '/v1/chat/completions',
    body: { model, messages, response_format: format },
  }),
  messages: (model: string) => ({
    path: '/v1/messages',
    body: {
      model,
      max_tokens: 500,
      system: 'Be brief.',
      messages: messages.slice(1),
      output_config: { format: { type: 'json_schema', schema } },
    },
  }),
  responses: (model: string) => ({
    path: '/v1/responses',
    body: {
      model,
      instructions: 'Be brief.',
      input: 'Is it? Say so in JSON.',
      text: { format: { type: 'json_schema', name: 'verdict', schema } },
    },
  }),
}

type Path = keyof typeof paths

/** The bytes of an answer, plain or streamed. */
async function bytesOf(
  { path, body }: { path: string; body: object },
  stream: boolean,
  headers: Readonly<Record<string, string>> = {},
) {
  const response = await fetch(stand.gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${stand.gateway.adminKey}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({ ...body, ...(stream && { stream }) }),
  })
  const text = await response.text()
  expect({ text, status: response.status }).toMatchObject({ status: 200 })
  return { text, headers: response.headers }
}

/** What was said, however it was cut and wrapped. */
const saidIn = (text: string): string => text.replaceAll(/[\\"]|\s/g, '')

describe.each(Object.keys(paths) as Path[])('in words, asked for on %s', (wire) => {
  test.each([
    ['deepseek', 'deepseek-chat', compatible],
    ['groq', 'llama-3.3-70b-versatile', groq],
    ['bedrock', 'us.meta.llama3-3-70b-instruct-v1:0', bedrock],
  ] as const)('%s is told of it once, and the answer comes clean', async (provider, model, dialect) => {
    for (const stream of [false, true]) {
      stand.reset()
      const upstream = stand.upstream(dialect)
      upstream.reply({ content: `Sure!\n\`\`\`json\n${good}\n\`\`\`` })
      const { text, headers } = await bytesOf(paths[wire](`${provider}/${model}`), stream)
      expect(upstream.requests).toHaveLength(1)
      const { rawBody } = upstream.last()
      expect(rawBody.split('JSON Schema')).toHaveLength(2)
      expect(rawBody.match(/"role":"(?:system|developer)"/g) ?? []).toHaveLength(
        provider === 'bedrock' ? 0 : 1,
      )
      expect(saidIn(text)).not.toContain('Sure')
      if (!stream) expect(saidIn(text)).toContain(saidIn(good))
      expect(headers.get('x-params-changed')).toContain('response_format:json_schema->instruction')
    }
  })
})

/** Why an answer ended, in whichever words of a wire. */
const endIn = (text: string): string | undefined =>
  [...text.matchAll(/"(?:finish_reason|stop_reason|reason)":\s*"(\w+)"/g)].at(-1)?.[1]

describe.each([
  ['chat', 'content_filter', 'length'],
  ['messages', 'refusal', 'max_tokens'],
  ['responses', 'content_filter', 'max_output_tokens'],
] as const)('an answer that is held for its form, on %s', (wire, refusal, cut) => {
  test.each([
    ['deepseek/deepseek-chat', compatible, 'content_filter', refusal],
    ['zai/glm-4.6', compatible, 'sensitive', refusal],
    ['bedrock/amazon.nova-pro-v1:0', bedrock, 'content_filtered', refusal],
    ['gemini/gemma-3-27b-it', gemini, 'SAFETY', refusal],
    ['deepseek/deepseek-chat', compatible, 'length', cut],
    ['mistral/codestral-mamba-latest', mistral, 'model_length', cut],
    ['gemini/gemma-3-27b-it', gemini, 'MAX_TOKENS', cut],
  ] as const)('%s: passes as it is where it was ended', async (model, dialect, finishReason, end) => {
    for (const stream of [false, true]) {
      stand.reset()
      stand.upstream(dialect).reply({ content: '{"verdict":"ye', finishReason })
      const { text } = await bytesOf(paths[wire](model), stream)
      expect(stand.upstream(dialect).requests).toHaveLength(1)
      expect(endIn(text)).toBe(end)
      if (!stream) expect(saidIn(text)).toContain(saidIn('{"verdict":"ye'))
    }
  })
})

describe('from Claude to Claude', () => {
  const model = 'anthropic/claude-sonnet-4-5'
  const asked = paths.messages(model).body

  test.each([
    ['output_config', asked],
    [
      'output_format',
      { ...asked, output_config: { effort: 'low' }, output_format: asked.output_config.format },
    ],
  ])('%s arrives as it came, plain and streamed', async (_, body) => {
    for (const stream of [false, true]) {
      stand.upstream(anthropic).reply({ content: good })
      const { text, headers } = await bytesOf({ path: '/v1/messages', body }, stream)
      expect(stand.upstream(anthropic).last().body).toEqual({
        ...body,
        model: 'claude-sonnet-4-5',
        ...(stream && { stream }),
      })
      expect(text).toContain('"stop_reason":"end_turn"')
      expect(headers.get('x-params-changed')).toBeNull()
    }
  })

  test.each([false, true])('a turn that pauses has not answered yet, streamed: %s', async (stream) => {
    const upstream = stand.upstream(anthropic)
    upstream.reply({ content: 'Let me look.', finishReason: 'pause_turn' })
    const { text } = await bytesOf({ path: '/v1/messages', body: asked }, stream)
    expect(upstream.requests).toHaveLength(1)
    expect(endIn(text)).toBe('pause_turn')
  })

  test.each([false, true])('words around what the service did itself pass, streamed: %s', async (stream) => {
    const content = [
      { type: 'text', text: 'Let me look.' },
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'it' } },
      { type: 'text', text: good },
    ]
    const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', usage: {} }
    const events = [
      { type: 'message_start', message: { ...message, content: [] } },
      ...content.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: {} },
      { type: 'message_stop' },
    ]
    const chunks = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    const body = JSON.stringify({ ...message, content, stop_reason: 'end_turn' })
    stand.upstream(anthropic).reply({ body, chunks })
    const { text } = await bytesOf({ path: '/v1/messages', body: asked }, stream)
    expect(stand.upstream(anthropic).requests).toHaveLength(1)
    expect(text).toBe(stream ? chunks.join('') : body)
  })

  test('a schema from the header goes the same way, closed where it must be', async () => {
    const { output_config: _, ...body } = asked
    const open = { type: 'object', properties: { verdict: { type: 'string' } } }
    await bytesOf({ path: '/v1/messages', body }, false, { 'x-schema': JSON.stringify(open) })
    const sent = { ...body, model: 'claude-sonnet-4-5' }
    const closed = { ...open, additionalProperties: false }
    expect(stand.upstream(anthropic).last().body).toEqual({
      ...sent,
      output_config: { format: { type: 'json_schema', schema: closed } },
    })
  })

  test('an older model is told in words, at the end of its instructions', async () => {
    const upstream = stand.upstream(anthropic)
    upstream.reply({ content: `\`\`\`\n${good}\n\`\`\`` })
    const older = { ...asked, model: 'anthropic/claude-3-5-haiku-latest' }
    const { headers } = await bytesOf({ path: '/v1/messages', body: older }, false)
    const sent = upstream.last().body as { system: string; messages: unknown }
    expect(sent.system).toMatch(/^Be brief\.\n\nAnswer with one JSON value/)
    expect(sent.messages).toEqual(asked.messages)
    expect(sent).not.toHaveProperty('output_config')
    expect(headers.get('x-params-changed')).toBe('response_format:json_schema->instruction')
  })
})

describe.each([false, true])('JSON without a schema from Claude, streamed: %s', (stream) => {
  const model = 'anthropic/claude-sonnet-4-5'

  test.each([
    [
      'chat',
      { path: '/v1/chat/completions', body: { model, messages, response_format: { type: 'json_object' } } },
    ],
    [
      'responses',
      {
        path: '/v1/responses',
        body: { model, input: 'Is it? Say so in JSON.', text: { format: { type: 'json_object' } } },
      },
    ],
  ])('comes clean on %s, and is asked for again where it is none', async (_, question) => {
    const upstream = stand.upstream(anthropic)
    upstream.reply({ content: 'It is.' })
    upstream.reply({ content: `Here:\n\`\`\`json\n${good}\n\`\`\`` })
    const { text, headers } = await bytesOf(question, stream)
    expect(upstream.requests).toHaveLength(2)
    expect(saidIn(text)).not.toContain('Here')
    if (!stream) expect(saidIn(text)).toContain(saidIn(good))
    expect(headers.get('x-params-changed')).toBe('response_format:json_object->instruction')
  })
})

test('a schema with a property that may be missing is not strict for services that would refuse it so', async () => {
  const loose = { ...schema, properties: { ...schema.properties, why: { type: 'string' } } }
  const body = {
    ...paths.messages('openai/gpt-4o-mini').body,
    output_config: { format: { type: 'json_schema', schema: loose } },
  }
  await bytesOf({ path: '/v1/messages', body }, false)
  expect(stand.upstream(openai).last().body).toMatchObject({
    response_format: { json_schema: { schema: loose } },
  })
  await bytesOf(paths.messages('openai/gpt-4o-mini'), false)
  expect(stand.upstream(openai).last().body).toMatchObject({
    response_format: { json_schema: { strict: true } },
  })
})

test('another provider is told of what clients of the beta put into output_format', async () => {
  const { output_config, ...body } = paths.messages('openai/gpt-4o-mini').body
  const older = { ...body, output_format: output_config.format }
  await bytesOf({ path: '/v1/messages', body: older }, false)
  expect(stand.upstream(openai).last().body).toMatchObject({ response_format: { json_schema: { schema } } })
})

test('arguments that were cut off have no values that nobody said, in a message', async () => {
  const body = { id: 'c', object: 'chat.completion', created: 1, model: 'm' }
  for (const [said, input] of [
    ['{"a":', {}],
    ['{"a":1,"b"', { a: 1 }],
    ['{"a":1,"b":{"c":true,"d":', { a: 1, b: { c: true } }],
  ] as const) {
    const call = { id: 'x', type: 'function', function: { name: 'look', arguments: said } }
    const message = { role: 'assistant', content: null, tool_calls: [call] }
    stand
      .upstream(openai)
      .reply({ body: { ...body, choices: [{ index: 0, message, finish_reason: 'length' }] } })
    const question = { model: 'openai/gpt-4o-mini', max_tokens: 5, messages: messages.slice(1) }
    const { text } = await bytesOf({ path: '/v1/messages', body: question }, false)
    expect(JSON.parse(text)).toMatchObject({
      content: [{ type: 'tool_use', input }],
      stop_reason: 'max_tokens',
    })
  }
})

test('a model of a provider of one’s own is told in words, unless the operator says that it need not be', async () => {
  for (const [model, way] of [
    ['mine/any-7b', 'instruction'],
    ['mine/held-7b', 'native'],
    ['mine/gpt-4o-mini', 'native'],
  ] as const)
    expect(await wayOf('mine', compatible, { model, response_format: format })).toBe(way)
})

test('a call that falls back is told anew where it goes', async () => {
  const upstream = stand.upstream(openai)
  upstream.reply({ model: 'gpt-4o-mini' }, { status: 500, times: 9 })
  upstream.reply({ content: good })
  const { text } = await bytesOf(paths.chat('openai/gpt-4o-mini'), false)
  expect(saidIn(text)).toContain(saidIn(good))
  expect(upstream.requests[0]!.body).toMatchObject({ response_format: { type: 'json_schema' } })
  expect(upstream.last().body).toMatchObject({ model: 'gpt-3.5-turbo' })
  expect(upstream.last().body).not.toHaveProperty('response_format')
  expect(upstream.last().rawBody).toContain('JSON Schema')
})
