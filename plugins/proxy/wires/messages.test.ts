import Anthropic from '@anthropic-ai/sdk'
import { beforeEach, describe, expect, test } from 'vitest'
import { startBoth } from '../../../test/both.ts'
import { shared } from '../../../test/shared.ts'
import { signatureOf } from '../../../test/upstream/anthropic/index.ts'

const both = shared(startBoth)
beforeEach(() => both.upstream.reset())

type Params = Anthropic.MessageCreateParamsNonStreaming
type Fields = Record<string, unknown>

const claude = 'claude-haiku-4-5'
const gpt = 'gpt-4o-mini'
const hi: Anthropic.MessageParam[] = [{ role: 'user', content: 'hi' }]
const weather = {
  name: 'weather',
  description: 'The weather in a city',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
}

const closed = { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: false }

const params = (fields: Fields): Params =>
  ({ model: claude, max_tokens: 500, messages: hi, ...fields }) as Params
const create = (fields: Fields) => both.anthropic.messages.create(params(fields))
const streamed = (fields: Fields) => both.anthropic.messages.stream(params(fields)).finalMessage()
const sent = (): Fields => both.upstream.last().body as Fields

/** The text of an answer's blocks. */
const textOf = ({ content }: Anthropic.Message): string =>
  content.map((block) => (block.type === 'text' ? block.text : '')).join('')

/** A body as it is, without the client in between. */
const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${both.gateway.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': both.gateway.adminKey, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

test.each(['batches', 'batches/msgbatch_1/results', ''])(
  'what there is not at /v1/messages/%s is refused in the form that its clients read',
  async (below) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await fetch(`${both.gateway.url}/v1/messages/${below}`, { method })
      expect(answer.status).toBe(404)
      expect(await answer.json()).toEqual({
        type: 'error',
        error: {
          type: 'not_found_error',
          message: expect.stringContaining(`${method} /v1/messages/${below}`),
        },
        request_id: answer.headers.get('request-id'),
      })
    }
    await expect(both.anthropic.messages.batches.list()).rejects.toThrow(Anthropic.NotFoundError)
  },
)

describe.each([claude, gpt])('the official client with %s', (model) => {
  test('gets a message, plain and streamed alike', async () => {
    const plain = await create({ model, system: 'Be brief.' })
    expect(plain).toMatchObject({ type: 'message', role: 'assistant', model, stop_reason: 'end_turn' })
    expect(plain.usage).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) })
    expect(textOf(plain)).toBe('You said: hi')
    expect(plain._request_id).toMatch(/^tr_/)
    const stream = await streamed({ model, system: 'Be brief.' })
    expect(stream).toMatchObject({ content: plain.content, stop_reason: 'end_turn', stop_sequence: null })
    expect(stream.usage).toMatchObject({ input_tokens: plain.usage.input_tokens })
  })

  test('gets calls of several tools, whose input it reads as it comes', async () => {
    const toolCalls = [
      { id: 'toolu_a', name: 'weather', arguments: { city: 'Bern' } },
      { id: 'toolu_b', name: 'weather', arguments: { city: 'Köln', days: [1, 2] } },
    ]
    both.upstream.reply({ content: model === gpt ? '' : 'Let me see.', toolCalls, times: 2 })
    const plain = await create({ model, tools: [weather] })
    expect(plain.stop_reason).toBe('tool_use')
    expect(plain.content.filter(({ type }) => type === 'tool_use')).toMatchObject([
      { id: 'toolu_a', name: 'weather', input: { city: 'Bern' } },
      { id: 'toolu_b', name: 'weather', input: { city: 'Köln', days: [1, 2] } },
    ])
    const stream = both.anthropic.messages.stream(params({ model, tools: [weather] }))
    const pieces: string[] = []
    stream.on('inputJson', (piece) => pieces.push(piece))
    expect((await stream.finalMessage()).content).toEqual(plain.content)
    expect(pieces.length).toBeGreaterThan(3)
  })

  test('sends results of tools, with errors and images', async () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } }
    const answer = await create({
      model,
      tools: [weather],
      messages: [
        ...hi,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Let me see.' },
            { type: 'tool_use', id: 'a', name: 'weather', input: { city: 'Bern' } },
            { type: 'tool_use', id: 'b', name: 'weather', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'sunny' }, image] },
            { type: 'tool_result', tool_use_id: 'b', is_error: true, content: 'no such city' },
            { type: 'text', text: 'So?' },
          ],
        },
      ],
    })
    expect(textOf(answer)).toContain('So?')
    expect(JSON.stringify(sent())).toContain('iVBORw0=')
  })

  test('gets its errors as its own classes', async () => {
    const cases = [
      [400, Anthropic.BadRequestError, 'invalid_request_error'],
      [404, Anthropic.NotFoundError, 'not_found_error'],
      [429, Anthropic.RateLimitError, 'rate_limit_error'],
      [500, Anthropic.InternalServerError, 'api_error'],
    ] as const
    for (const [status, kind, type] of cases) {
      both.upstream.reply({ status })
      const error = await create({ model }).catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(kind)
      expect((error as InstanceType<typeof kind>).error).toEqual({
        type: 'error',
        error: { type, message: expect.any(String) },
        request_id: expect.stringMatching(/^tr_/),
      })
    }
    await expect(create({ model, messages: [] })).rejects.toBeInstanceOf(Anthropic.BadRequestError)
    const stranger = new Anthropic({ baseURL: both.gateway.url, apiKey: 'sy_live_nobody', maxRetries: 0 })
    await expect(stranger.messages.create(params({ model }))).rejects.toBeInstanceOf(
      Anthropic.AuthenticationError,
    )
  })

  test('is told of a failure in the midst of a stream, and sees no normal end', async () => {
    both.upstream.reply({ content: ['a ', 'b ', 'c ', 'd '], cutAfter: 5 })
    const stream = both.anthropic.messages.stream(params({ model }))
    const events: string[] = []
    stream.on('streamEvent', ({ type }) => events.push(type))
    await expect(stream.finalMessage()).rejects.toThrow('broke off')
    expect(events).toContain('content_block_delta')
    expect(events).not.toContain('message_stop')
  })

  test('can leave, and the provider is told', async () => {
    both.upstream.reply({ content: ['a ', 'b ', 'c '], hangAfter: 5 })
    const stream = both.anthropic.messages.stream(params({ model }))
    stream.on('text', () => stream.abort())
    await expect(stream.finalMessage()).rejects.toBeInstanceOf(Anthropic.APIUserAbortError)
    await both.upstream.last().closed
    expect(both.upstream.last().aborted).toBe(true)
  })
})

describe('to a provider of another wire', () => {
  test('a request goes as far as it can be carried, and what is lost is told', async () => {
    const { response } = await both.anthropic.messages
      .create(
        params({
          model: gpt,
          system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
          messages: [
            {
              role: 'user',
              content: [
                { type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral' } },
                { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
                { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'A poem' } },
                {
                  type: 'document',
                  source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
                },
              ],
            },
          ],
          stop_sequences: ['END'],
          metadata: { user_id: 'u1' },
          thinking: { type: 'enabled', budget_tokens: 1024 },
          top_k: 3,
          temperature: 0.5,
          tools: [
            { ...weather, cache_control: { type: 'ephemeral' } },
            { type: 'web_search_20250305', name: 'web_search' },
          ],
          tool_choice: { type: 'any', disable_parallel_tool_use: true },
        }),
      )
      .withResponse()
    expect(sent()).toEqual({
      model: gpt,
      max_tokens: 500,
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
            { type: 'text', text: 'A poem' },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } },
          ],
        },
      ],
      stop: ['END'],
      user: 'u1',
      temperature: 0.5,
      tools: [
        {
          type: 'function',
          function: { name: 'weather', description: weather.description, parameters: weather.input_schema },
        },
      ],
      tool_choice: 'required',
      parallel_tool_calls: false,
    })
    const changed = response.headers.get('x-params-changed')?.split(', ').toSorted()
    expect(changed).toEqual(
      [
        '-cache_control',
        '-thinking',
        '-tools.cache_control',
        '-tools.web_search_20250305',
        '-top_k',
      ].toSorted(),
    )
  })

  test('pictures in results of tools are shown by the user, after all of the results', async () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    const use = (id: string) => ({ type: 'tool_use', id, name: 'weather', input: {} })
    await create({
      model: gpt,
      messages: [
        ...hi,
        { role: 'assistant', content: [use('a'), use('b')] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [image] },
            { type: 'tool_result', tool_use_id: 'b', content: 'fine' },
          ],
        },
      ],
    })
    expect((sent().messages as { role: string }[]).slice(2)).toEqual([
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'tool', tool_call_id: 'b', content: 'fine' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
    ])
  })

  test('bare reasoning is thinking without a signature, plain and streamed', async () => {
    both.upstream.reply({ reasoning: 'Let me think.', content: 'Done.', times: 2 })
    const expected = [
      { type: 'thinking', thinking: 'Let me think.', signature: '' },
      { type: 'text', text: 'Done.' },
    ]
    expect((await create({ model: gpt })).content).toEqual(expected)
    expect((await streamed({ model: gpt })).content).toEqual(expected)
  })

  test('thinking that Claude signed stays behind', async () => {
    const thought = { type: 'thinking', thinking: 'x', signature: 'sig' }
    await create({
      model: gpt,
      messages: [...hi, { role: 'assistant', content: [thought, { type: 'text', text: 'a' }] }, ...hi],
    })
    expect((sent().messages as object[])[1]).toEqual({ role: 'assistant', content: 'a' })
  })
})

describe('to a provider of the same wire', () => {
  const everything = {
    model: claude,
    max_tokens: 4000,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look.', cache_control: { type: 'ephemeral' } },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } },
          {
            type: 'image',
            source: { type: 'file', file_id: 'file_1' },
            cache_control: { type: 'ephemeral' },
          },
          {
            type: 'document',
            source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
            title: 'A',
            context: 'B',
            citations: { enabled: true },
          },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'C' } },
          { type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'D' }] } },
          { type: 'search_result', source: 'x', title: 'y', content: [{ type: 'text', text: 'z' }] },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: ' a “b”\n', signature: 'Sig+/==' },
          { type: 'redacted_thinking', data: 'RW5j' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'q' } },
          {
            type: 'web_search_tool_result',
            tool_use_id: 'srvtoolu_1',
            content: [{ type: 'x', encrypted_content: 'E' }],
          },
          { type: 'thinking', thinking: 'more', signature: 'Sig2' },
          { type: 'text', text: 'Found.', citations: [{ type: 'web_search_result_location', url: 'u' }] },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Bern' } },
          { type: 'text', text: 'And:' },
          {
            type: 'tool_use',
            id: 'toolu_2',
            name: 'weather',
            input: {},
            cache_control: { type: 'ephemeral' },
          },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'toolu_1',
            content: [{ type: 'text', text: 'sunny' }],
            is_error: false,
          },
          { type: 'tool_result', tool_use_id: 'toolu_2', cache_control: { type: 'ephemeral' }, content: 'x' },
          { type: 'text', text: 'So?' },
        ],
      },
    ],
    tools: [
      { ...weather, cache_control: { type: 'ephemeral' }, strict: true, input_examples: [{ city: 'Bern' }] },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 3 },
    ],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    stop_sequences: ['END'],
    metadata: { user_id: 'u1' },
    thinking: { type: 'enabled', budget_tokens: 2000 },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: closed } },
    service_tier: 'standard_only',
    top_k: 4,
    container: 'c1',
  }

  test('a request loses nothing, its version and betas included', async () => {
    const response = await post(everything, {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'some-beta-2026-01-01',
    })
    expect(await response.json()).toMatchObject({ type: 'message' })
    expect(sent()).toEqual(everything)
    expect(both.upstream.last().headers).toMatchObject({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'some-beta-2026-01-01',
      'x-api-key': 'sk-test',
    })
    expect(response.headers.get('x-params-changed')).toBeNull()
  })

  test('an answer is the provider’s, byte for byte, plain and streamed', async () => {
    const message = { id: 'm', type: 'message', role: 'assistant', model: claude, new_field: 1.5 }
    const body = `${JSON.stringify({ ...message, content: [{ type: 'novel', x: [] }], stop_reason: 'end_turn', usage: {} }, null, 1)}\n`
    both.upstream.reply({ body })
    expect(await (await post({ model: claude, max_tokens: 5, messages: hi })).text()).toBe(body)
    both.upstream.reply({
      reasoning: 'Hm.',
      content: 'Yes.',
      toolCalls: [{ name: 'weather', arguments: {} }],
    })
    const direct = await fetch(`${both.upstream.url}/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'sk-test', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({ model: claude, max_tokens: 5, messages: hi, stream: true }),
    })
    const chunks = [await direct.text()]
    both.upstream.reply({ chunks, splitBytes: 7 })
    const through = await post({ model: claude, max_tokens: 5, messages: hi, stream: true })
    expect(await through.text()).toBe(chunks[0])
  })

  test('thinking goes round a tool loop of three turns unchanged', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const messages: Anthropic.MessageParam[] = [...hi]
    const thoughts = ['First “this”,\n', ' then \u{1f600}', 'at last']
    for (const [turn, reasoning] of thoughts.entries()) {
      both.upstream.reply({
        reasoning,
        toolCalls: [{ id: `t${turn}`, name: 'weather', arguments: { city: `${turn}` } }],
      })
      const fields = { max_tokens: 3000, thinking, tools: [weather], messages: [...messages] }
      const { content } = await (turn === 1 ? create(fields) : streamed(fields))
      messages.push({ role: 'assistant', content: content as Anthropic.ContentBlockParam[] })
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: `t${turn}`, content: 'x' }],
      })
    }
    await create({ max_tokens: 3000, thinking, tools: [weather], messages })
    const turns = sent().messages as { content: unknown[] }[]
    const back = turns.flatMap(({ content }, i) => (i % 2 === 1 ? [JSON.stringify(content[0])] : []))
    expect(back).toEqual(
      thoughts.map((text) =>
        JSON.stringify({ type: 'thinking', thinking: text, signature: signatureOf(text) }),
      ),
    )
  })
})

describe('counting tokens', () => {
  const count = (model: string, fields: object = {}) =>
    both.anthropic.messages.countTokens({ model, messages: hi, ...fields }).withResponse()

  test('is the provider’s affair where it can count', async () => {
    both.upstream.reply({ body: { input_tokens: 17 } })
    const { data, response } = await count(`anthropic/${claude}`, { system: 'Be brief.' })
    expect(data).toEqual({ input_tokens: 17 })
    expect(response.headers.get('x-token-count')).toBe('provider')
    expect(both.upstream.last()).toMatchObject({ path: '/v1/messages/count_tokens', key: 'sk-test' })
    expect(sent()).toEqual({ model: claude, messages: hi, system: 'Be brief.' })
  })

  test('is done here with the model’s tokenizer where one is published, and tools by the published rule', async () => {
    const plain = await count(gpt, { messages: [{ role: 'user', content: 'hello world' }] })
    expect(plain.data.input_tokens).toBe(9)
    expect(plain.response.headers.get('x-token-count')).toBe('tokenizer')
    const ruled = await count(gpt, { tools: [weather] })
    expect(ruled.response.headers.get('x-token-count')).toBe('rules')
    expect(both.upstream.requests).toHaveLength(0)
  })

  test('is an estimate elsewhere, and says so', async () => {
    const { data, response } = await count('openai/own-model-1', {
      system: 'x'.repeat(400),
      tools: [weather],
    })
    expect(data.input_tokens).toBeGreaterThan(100)
    expect(response.headers.get('x-token-count')).toBe('estimated')
    expect(both.upstream.requests).toHaveLength(0)
  })

  test('shows the provider nothing while a guard is on', async () => {
    await both.gateway.module('secretscan', { enabled: true, config: {} })
    const { response } = await count(claude)
    await both.gateway.module('secretscan', { enabled: false })
    expect(response.headers.get('x-token-count')).toBe('estimated')
    expect(both.upstream.requests).toHaveLength(0)
  })

  test('is for those who may make the call, and counts as one', async () => {
    const { userId, key } = await both.gateway.signUp('counter')
    const limited = new Anthropic({ baseURL: both.gateway.url, apiKey: key, maxRetries: 0 })
    const ask = () => limited.messages.countTokens({ model: claude, messages: hi })
    const rules = [{ per: 'user', match: userId, rpm: 2 }]
    await both.gateway.module('rateshield', { enabled: true, config: { rules } })
    expect((await ask().withResponse()).response.headers.get('x-ratelimit-remaining')).toBe('1')
    await ask()
    await expect(ask()).rejects.toBeInstanceOf(Anthropic.RateLimitError)
    await both.gateway.module('rateshield', { enabled: false })
    for (const default_scope of [{ models: ['gpt-*'] }, { providers: ['openai'] }, { endpoints: ['chat'] }]) {
      await both.gateway.module('keyscope', { enabled: true, config: { default_scope } })
      await expect(ask()).rejects.toBeInstanceOf(Anthropic.PermissionDeniedError)
    }
    await both.gateway.module('keyscope', { enabled: false, config: { default_scope: null } })
    expect(both.upstream.requests).toHaveLength(2)
  })

  test('needs a key, and tells what the provider says is wrong', async () => {
    const stranger = new Anthropic({ baseURL: both.gateway.url, apiKey: 'nobody', maxRetries: 0 })
    await expect(stranger.messages.countTokens({ model: claude, messages: hi })).rejects.toBeInstanceOf(
      Anthropic.AuthenticationError,
    )
    both.upstream.reply({ status: 429 })
    await expect(count(claude)).rejects.toBeInstanceOf(Anthropic.RateLimitError)
    await expect(count(claude, { nonsense: 1 })).rejects.toThrow('nonsense')
  })

  test('refuses in the words of the wire, with an id where its clients look', async () => {
    const wrong = await count(claude, { messages: 'hi' }).catch((error: unknown) => error)
    expect(wrong).toBeInstanceOf(Anthropic.BadRequestError)
    const { error, requestID, status } = wrong as InstanceType<typeof Anthropic.BadRequestError>
    expect(status).toBe(400)
    expect(requestID).toMatch(/^req_/)
    expect(error).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining('messages') },
      request_id: requestID,
    })
    const nobody = await both.gateway.api(
      'POST',
      '/v1/messages/count_tokens',
      { model: claude, messages: hi },
      'x',
    )
    expect(nobody.body).toMatchObject({ type: 'error', error: { type: 'authentication_error' } })
  })
})
