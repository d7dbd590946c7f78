import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openLevel } from '../../storage/level.ts'
import { startBoth } from '../both.ts'
import { startGateway, type TestGateway } from '../harness.ts'
import { shared } from '../shared.ts'
import { signatureOf } from '../upstream/anthropic/index.ts'

const model = 'gpt-4o-mini'
const claude = 'claude-sonnet-4-5'
const weather = {
  type: 'function' as const,
  name: 'weather',
  description: 'The weather in a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
}

const both = shared(startBoth)
beforeEach(() => both.upstream.reset())

const sent = () =>
  both.upstream.last().body as { messages: Record<string, unknown>[]; [field: string]: unknown }

describe('a response', () => {
  test('plain: the answer’s text, what it used, and what was asked', async () => {
    both.upstream.reply({ content: 'Hello there.' })
    const response = await both.client.responses.create({
      model,
      input: 'Say hello',
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      max_output_tokens: 50,
      temperature: 0.5,
    })
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_/),
      object: 'response',
      status: 'completed',
      error: null,
      incomplete_details: null,
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      max_output_tokens: 50,
      temperature: 0.5,
      store: true,
      output_text: 'Hello there.',
      output: [
        {
          id: expect.stringMatching(/^msg_/),
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Hello there.', annotations: [] }],
        },
      ],
    })
    const { input_tokens: input, output_tokens: output, total_tokens: total } = response.usage!
    expect(total).toBe(input + output)
    expect(sent()).toEqual({
      model,
      max_completion_tokens: 50,
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Say hello' },
      ],
    })
  })

  test('streamed: numbered events in the order of the wire, and the same response at the end', async () => {
    both.upstream.reply({ content: ['Hel', 'lo'] })
    const types: string[] = []
    let next = 0
    let text = ''
    for await (const event of await both.client.responses.create({ model, input: 'hi', stream: true })) {
      expect(event.sequence_number).toBe(next)
      next += 1
      types.push(event.type)
      if (event.type === 'response.output_text.delta') text += event.delta
      if (event.type === 'response.completed') expect(event.response.usage?.total_tokens).toBeGreaterThan(0)
    }
    expect(text).toBe('Hello')
    expect(types).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
  })

  test('of the client’s own stream helper is the whole one', async () => {
    const script = {
      reasoning: 'Let me think.',
      content: 'Here you are.',
      toolCalls: [{ id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } }],
    }
    both.upstream.reply(script)
    const whole = await both.client.responses.create({ model, input: 'hi', tools: [weather] })
    both.upstream.reply({ ...script, splitBytes: 7 })
    const streamed = await both.client.responses
      .stream({ model, input: 'hi', tools: [weather] })
      .finalResponse()
    const bare = (items: readonly object[]) =>
      items.map((item) => ({ ...item, id: '', parsed_arguments: '' }))
    expect(streamed.output_text).toBe(whole.output_text)
    expect(streamed.output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call'])
    expect(JSON.parse(JSON.stringify(bare(streamed.output)))).toMatchObject(bare(whole.output))
    expect(streamed.usage).toEqual(whole.usage)
  })

  test('that was cut off or declined says so', async () => {
    both.upstream.reply({ content: 'Once upon', finishReason: 'length' })
    const cut = await both.client.responses.create({ model, input: 'hi' })
    expect(cut).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    })
    both.upstream.reply({ content: 'Once upon', finishReason: 'length' })
    const streamed = await both.client.responses.stream({ model, input: 'hi' }).finalResponse()
    expect(streamed).toMatchObject({ status: 'incomplete', output: [{ status: 'incomplete' }] })
    both.upstream.reply({ refusal: 'I would rather not.' })
    const declined = await both.client.responses.stream({ model, input: 'hi' }).finalResponse()
    expect(declined.output).toMatchObject([
      { content: [{ type: 'refusal', refusal: 'I would rather not.' }] },
    ])
  })

  test('in a structure, parsed by the client, plain and streamed', async () => {
    const Person = z.object({ name: z.string(), age: z.number() })
    const asked = { model, input: 'Who?', text: { format: zodTextFormat(Person, 'person') } }
    both.upstream.reply({ content: '{"name":"Ada","age":36}', times: 2 })
    const answer = await both.client.responses.parse(asked)
    expect(answer.output_parsed).toEqual({ name: 'Ada', age: 36 })
    expect(sent().response_format).toMatchObject({
      type: 'json_schema',
      json_schema: { name: 'person', strict: true, schema: { type: 'object' } },
    })
    const streamed = await both.client.responses.stream(asked).finalResponse()
    expect(streamed.output_parsed).toEqual({ name: 'Ada', age: 36 })
  })

  test('carries pictures, files and sound to who takes them', async () => {
    await both.client.responses.create({
      model,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'What is this?' },
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
          ],
        },
      ],
    })
    expect(sent().messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
        ],
      },
    ])
  })

  test('says what of its parameters could not be carried', async () => {
    const { data, response } = await both.client.responses
      .create({
        model,
        input: 'hi',
        truncation: 'auto',
        include: ['file_search_call.results', 'reasoning.encrypted_content'],
        reasoning: { effort: 'low', summary: 'detailed' },
        text: { verbosity: 'low' },
        seed: 7,
      } as OpenAI.Responses.ResponseCreateParamsNonStreaming)
      .withResponse()
    expect(response.headers.get('x-params-changed')).toBe(
      'reasoning.summary:detailed->auto, -truncation, -include.file_search_call.results',
    )
    expect(data.reasoning).toEqual({ effort: 'low', summary: 'detailed' })
    expect(sent()).toMatchObject({ reasoning_effort: 'low', verbosity: 'low', seed: 7 })
  })

  test('tells log probabilities that were asked for', async () => {
    const asked = { model, input: 'hi', top_logprobs: 2 }
    both.upstream.reply({ content: 'Hello there', times: 2 })
    const plain = await both.client.responses.create({
      ...asked,
      include: ['message.output_text.logprobs'],
    })
    const streamed = await both.client.responses.stream(asked).finalResponse()
    for (const { output } of [plain, streamed]) {
      const [message] = output
      const part = message?.type === 'message' ? message.content[0] : undefined
      const odds = part?.type === 'output_text' ? part.logprobs! : []
      expect(odds.map(({ token }) => token).join('')).toBe('Hello there')
    }
  })
})

const items = (response: OpenAI.Responses.Response) => response.output as OpenAI.Responses.ResponseInputItem[]

describe('a loop of tools', () => {
  const toolCalls = [
    { id: 'call_1', name: 'weather', arguments: { city: 'Oslo' } },
    { id: 'call_2', name: 'weather', arguments: { city: 'Rome' } },
  ]
  const results = toolCalls.map(({ id }) => ({
    type: 'function_call_output' as const,
    call_id: id,
    output: 'sunny',
  }))
  const asked = { model, tools: [weather], store: false }
  const input = [{ role: 'user' as const, content: 'Where is it warmer?' }]

  test.each(['plain', 'streamed'])('goes on with the items that came, %s', async (how) => {
    both.upstream.reply({ toolCalls })
    const ask = { ...asked, input }
    const first =
      how === 'plain'
        ? await both.client.responses.create(ask)
        : await both.client.responses.stream(ask).finalResponse()
    expect(first.output).toMatchObject(
      toolCalls.map(({ id, name, arguments: args }) => ({
        type: 'function_call',
        id: expect.stringMatching(/^fc_/),
        call_id: id,
        name,
        status: 'completed',
        arguments: JSON.stringify(args),
      })),
    )
    const { output_text: said } = await both.client.responses.create({
      ...asked,
      input: [...input, ...items(first), ...results],
    })
    expect(said).not.toBe('')
    expect(sent().messages).toEqual([
      { role: 'user', content: 'Where is it warmer?' },
      {
        role: 'assistant',
        content: null,
        tool_calls: toolCalls.map(({ id, name, arguments: args }) => ({
          id,
          type: 'function',
          function: { name, arguments: JSON.stringify(args) },
        })),
      },
      ...toolCalls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'sunny' })),
    ])
    expect(sent().tools).toEqual([
      {
        type: 'function',
        function: {
          name: 'weather',
          description: weather.description,
          parameters: weather.parameters,
          strict: true,
        },
      },
    ])
  })

  test('goes on from the response before it', async () => {
    both.upstream.reply({ toolCalls })
    const first = await both.client.responses.create({ model, tools: [weather], input })
    const second = await both.client.responses.create({
      model,
      tools: [weather],
      previous_response_id: first.id,
      input: results,
    })
    expect(second.previous_response_id).toBe(first.id)
    expect(sent().messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'tool'])
  })

  test('shows what its tools show, also where only users can show pictures', async () => {
    const picture = {
      type: 'input_image' as const,
      image_url: 'data:image/png;base64,AAAA',
      detail: 'auto' as const,
    }
    both.upstream.reply({ toolCalls: toolCalls.slice(0, 1) })
    const first = await both.client.responses.create({ model, tools: [weather], input })
    await both.client.responses.create({
      model,
      tools: [weather],
      previous_response_id: first.id,
      input: [
        {
          type: 'function_call_output',
          call_id: 'call_1',
          output: [{ type: 'input_text', text: 'See:' }, picture],
        },
      ],
    })
    expect(sent().messages.slice(-2)).toEqual([
      { role: 'tool', tool_call_id: 'call_1', content: 'See:' },
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'auto' } }],
      },
    ])
  })

  test('of a tool that takes free text', async () => {
    const patch = { type: 'custom' as const, name: 'apply_patch', description: 'Edits files' }
    const call = { id: 'call_1', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin Patch' } }
    both.upstream.reply({
      body: {
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model,
        choices: [
          {
            index: 0,
            message: { role: 'assistant', content: null, tool_calls: [call] },
            finish_reason: 'tool_calls',
          },
        ],
      },
    })
    const first = await both.client.responses.create({ model, tools: [patch], input: 'Edit.' })
    expect(first.output).toMatchObject([
      { type: 'custom_tool_call', call_id: 'call_1', name: 'apply_patch', input: '*** Begin Patch' },
    ])
    await both.client.responses.create({
      model,
      tools: [patch],
      previous_response_id: first.id,
      input: [{ type: 'custom_tool_call_output', call_id: 'call_1', output: 'Done.' }],
    })
    expect(sent().messages.slice(1)).toEqual([
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
    ])
    const streamed = [
      '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"custom","custom":{"name":"apply_patch","input":""}}]}}]}',
      '{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"custom":{"input":"*** Begin"}}]}}]}',
      '{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}',
      '[DONE]',
    ]
    both.upstream.reply({ chunks: streamed.map((data) => `data: ${data}\n\n`) })
    const types: string[] = []
    const stream = both.client.responses.stream({ model, tools: [patch], input: 'Edit.' })
    for await (const { type } of stream) types.push(type)
    expect(types).toContain('response.custom_tool_call_input.done')
    expect((await stream.finalResponse()).output).toMatchObject([{ name: 'apply_patch', input: '*** Begin' }])
  })
})

describe('stored responses', () => {
  test('are gone on from, with new instructions, plain and streamed', async () => {
    both.upstream.reply({ content: 'I am Ada.' })
    const first = await both.client.responses.create({
      model,
      input: 'Who are you?',
      instructions: 'Be Ada.',
    })
    both.upstream.reply({ content: 'Math.' })
    const second = await both.client.responses
      .stream({ model, input: 'What do you like?', previous_response_id: first.id })
      .finalResponse()
    both.upstream.reply({ content: 'Bye.' })
    const third = await both.client.responses.create({
      model,
      input: 'Bye',
      instructions: 'Be short.',
      previous_response_id: second.id,
    })
    expect(sent().messages).toEqual([
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'Who are you?' },
      { role: 'assistant', content: 'I am Ada.' },
      { role: 'user', content: 'What do you like?' },
      { role: 'assistant', content: 'Math.' },
      { role: 'user', content: 'Bye' },
    ])
    const kept = await both.client.responses.retrieve(second.id)
    expect(kept).toMatchObject({ id: second.id, status: 'completed', output_text: 'Math.' })
    const asc = await both.client.responses.inputItems.list(third.id, { order: 'asc', limit: 2 })
    const said: unknown[] = []
    for await (const item of asc) said.push(item)
    expect(said).toMatchObject([
      { role: 'user', content: [{ type: 'input_text', text: 'Who are you?' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'I am Ada.' }] },
      { role: 'user' },
      { role: 'assistant' },
      { role: 'user', content: [{ type: 'input_text', text: 'Bye' }] },
    ])
    const mixed = await both.client.responses.create({
      model,
      input: [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    })
    expect((await both.client.responses.inputItems.list(mixed.id, { order: 'asc' })).data).toMatchObject([
      { content: [{ type: 'input_text', text: 'a' }] },
      { content: [{ type: 'output_text', text: 'b' }] },
      { content: [{ type: 'input_text', text: 'c' }] },
    ])
    const latest = await both.client.responses.inputItems.list(third.id, { limit: 1 })
    expect(latest.data).toMatchObject([{ content: [{ text: 'Bye' }] }])
  })

  test('are their user’s own', async () => {
    const { id } = await both.client.responses.create({ model, input: 'A secret' })
    const { url, signUp } = both.gateway
    const other = new OpenAI({ baseURL: `${url}/v1`, apiKey: (await signUp('other')).key, maxRetries: 0 })
    for (const attempt of [
      () => other.responses.retrieve(id),
      () => other.responses.inputItems.list(id),
      () => other.responses.delete(id),
      () => other.responses.create({ model, input: 'Go on', previous_response_id: id }),
      () =>
        other.responses.create({
          model,
          input: [{ type: 'item_reference', id: `${id.replace('resp', 'msg')}_0` }],
        }),
    ])
      await expect(attempt()).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    expect((await both.client.responses.retrieve(id)).id).toBe(id)
  })

  test('are gone once deleted, and with them the conversations that build on them', async () => {
    const first = await both.client.responses.create({ model, input: 'one' })
    const second = await both.client.responses.create({ model, input: 'two', previous_response_id: first.id })
    await both.client.responses.delete(first.id)
    await expect(both.client.responses.retrieve(first.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
    await expect(
      both.client.responses.create({ model, input: 'three', previous_response_id: second.id }),
    ).rejects.toMatchObject({ status: 404, param: 'previous_response_id' })
  })

  test('are not made where the caller wants none', async () => {
    const response = await both.client.responses.create({ model, input: 'hi', store: false })
    expect(response).toMatchObject({ store: false })
    await expect(both.client.responses.retrieve(response.id)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })

  test('have items that can be named instead of sent', async () => {
    both.upstream.reply({ content: 'I am Ada.' })
    const first = await both.client.responses.create({ model, input: 'Who are you?' })
    const { data } = await both.client.responses.inputItems.list(first.id)
    await both.client.responses.create({
      model,
      input: [
        { type: 'item_reference', id: (data[0] as { id: string }).id },
        { type: 'item_reference', id: (first.output[0] as { id: string }).id },
        { role: 'user', content: 'Really?' },
      ],
    })
    expect(sent().messages).toEqual([
      { role: 'user', content: 'Who are you?' },
      { role: 'assistant', content: 'I am Ada.' },
      { role: 'user', content: 'Really?' },
    ])
  })
})

describe('failures', () => {
  test.each([
    [400, OpenAI.BadRequestError],
    [404, OpenAI.NotFoundError],
    [429, OpenAI.RateLimitError],
    [500, OpenAI.InternalServerError],
  ])('a provider’s %i is the client’s own class', async (status, type) => {
    for (const stream of [false, true]) {
      both.upstream.reply({ status, error: { message: 'because' } })
      const error = await both.client.responses
        .create({ model, input: 'hi', stream })
        .catch((e: unknown) => e)
      expect(error).toBeInstanceOf(type)
      expect(error).toMatchObject({ message: expect.stringContaining('because') })
    }
  })

  test.each([
    [{ input: 'hi', model: '' }, 'model'],
    [{}, 'input'],
    [{ input: [] }, 'input'],
    [{ input: [{ role: 'robot', content: 'hi' }] }, 'input.0.role'],
    [{ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }, 'input.0.content.0.text'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] },
      'input.0.content.0.image_url',
    ],
    [{ input: [{ role: 'user', content: [{ type: 'input_video' }] }] }, 'input.0.content.0.type'],
    [{ input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }, 'input.0.call_id'],
    [{ input: [{ type: 'computer_call', id: 'cu_1', call_id: 'c' }] }, 'input.0.type'],
    [{ input: 'hi', tools: [{ type: 'web_search' }] }, 'tools.0.type'],
    [{ input: 'hi', tools: [{ type: 'function' }] }, 'tools.0.name'],
    [{ input: 'hi', tools: [weather], tool_choice: { type: 'file_search' } }, 'tool_choice.type'],
    [{ input: 'hi', text: { format: { type: 'json_schema' } } }, 'text.format.name'],
    [{ input: 'hi', background: true }, 'background'],
    [{ input: 'hi', conversation: 'conv_1' }, 'conversation'],
    [{ input: 'hi', max_output_tokens: 'many' }, 'max_output_tokens'],
    [{ input: 'hi', metadata: { a: 1 } }, 'metadata.a'],
  ])('of the request name the field: %j', async (fields, param) => {
    const asked = { model, ...fields } as OpenAI.Responses.ResponseCreateParamsNonStreaming
    await expect(both.client.responses.create(asked)).rejects.toMatchObject({ status: 400, param })
    expect(both.upstream.requests).toHaveLength(0)
  })

  test.each([
    [
      {
        instructions: 'Be brief.',
        input: [
          { role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }] },
        ],
      },
      'input.0.content.0',
    ],
    [
      {
        input: [
          { role: 'user', content: 'hi' },
          { type: 'reasoning', summary: [] },
          {
            role: 'assistant',
            content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }],
          },
        ],
      },
      'input.1',
    ],
  ])('of what a provider cannot carry name the field as the client knows it: %j', async (fields, param) => {
    const asked = { model: claude, ...fields } as OpenAI.Responses.ResponseCreateParamsNonStreaming
    await expect(both.client.responses.create(asked)).rejects.toMatchObject({ status: 400, param })
    expect(both.upstream.requests).toHaveLength(0)
  })

  test('in the middle of a stream end it as failed, never as complete', async () => {
    both.upstream.reply({ content: ['a', 'b', 'c'], cutAfter: 3 })
    await expect(both.client.responses.stream({ model, input: 'hi' }).finalResponse()).rejects.toThrow(
      OpenAI.APIError,
    )
    both.upstream.reply({ content: ['a', 'b', 'c'], cutAfter: 3 })
    const raw = await both.client.responses.create({ model, input: 'hi', stream: true }).asResponse()
    const events = (await raw.text())
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => JSON.parse(frame.slice(frame.indexOf('data: ') + 6)))
    expect(events.at(-2)).toMatchObject({ type: 'error', error: { code: 'provider_error' } })
    expect(events.at(-1)).toMatchObject({
      type: 'response.failed',
      response: { status: 'failed', error: { code: 'server_error' }, output: [{ status: 'incomplete' }] },
    })
    expect(events.some(({ type }) => type === 'response.completed')).toBe(false)
  })

  test('a client that leaves closes the connection to the provider, and nothing is stored', async () => {
    both.upstream.reply({ content: Array.from({ length: 200 }, (_, n) => `w${n} `), gapMs: 20 })
    const stream = await both.client.responses.create({ model, input: 'hi', stream: true })
    let id = ''
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.output_text.delta') break
    }
    const request = both.upstream.last()
    await request.closed
    expect(request.aborted).toBe(true)
    await expect(both.client.responses.retrieve(id)).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  })
})

describe('a translated provider', () => {
  const asked = {
    model: claude,
    tools: [weather],
    reasoning: { effort: 'low' as const },
    max_output_tokens: 8000,
    store: false,
    include: ['reasoning.encrypted_content' as const],
  }
  const input = [{ role: 'user' as const, content: 'How is the weather?' }]

  test.each(['plain', 'streamed'])('gets its signed reasoning back as it was, %s', async (how) => {
    both.upstream.reply({
      reasoning: 'I should ask.',
      content: 'A moment.',
      toolCalls: [{ id: 'toolu_1', name: 'weather', arguments: { city: 'Oslo' } }],
    })
    const ask = { ...asked, input }
    const first =
      how === 'plain'
        ? await both.client.responses.create(ask)
        : await both.client.responses.stream(ask).finalResponse()
    expect(first.output).toMatchObject([
      {
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'I should ask.' }],
        encrypted_content: expect.any(String),
      },
      { type: 'message', content: [{ type: 'output_text', text: 'A moment.' }] },
      { type: 'function_call', call_id: 'toolu_1', arguments: '{"city":"Oslo"}' },
    ])
    await both.client.responses.create({
      ...asked,
      input: [
        ...input,
        ...items(first),
        { type: 'function_call_output', call_id: 'toolu_1', output: 'sunny' },
      ],
    })
    expect(sent().messages[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'I should ask.', signature: signatureOf('I should ask.') },
        { type: 'text', text: 'A moment.' },
        { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
      ],
    })
  })

  test('keeps it in stored responses, and leaves it out for others', async () => {
    both.upstream.reply({
      reasoning: 'I should ask.',
      toolCalls: [{ id: 'toolu_1', name: 'weather', arguments: { city: 'Oslo' } }],
    })
    const first = await both.client.responses.create({ ...asked, input, store: true })
    const next = {
      previous_response_id: first.id,
      tools: [weather],
      input: [{ type: 'function_call_output' as const, call_id: 'toolu_1', output: 'sunny' }],
    }
    await both.client.responses.create({ ...next, model: claude })
    expect((sent().messages[1]!.content as object[])[0]).toEqual({
      type: 'thinking',
      thinking: 'I should ask.',
      signature: signatureOf('I should ask.'),
    })
    const { response } = await both.client.responses.create({ ...next, model }).withResponse()
    expect(response.headers.get('x-params-changed')).toContain('-messages.reasoning_details')
    expect(sent().messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
  })
})

test('stored responses are bounded by the settings, go on over a restart, and go with their user', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  const rows = async (): Promise<number> => {
    const engine = await openLevel(path.join(dataDir, 'db'))
    const store = engine.namespace('plugins').namespace('proxy')
    const count = await store.collection('responses', { schema: z.unknown() }).count()
    await engine.close()
    return count
  }
  const started = (days: number): Promise<TestGateway> =>
    startGateway({
      upstream: both.upstream,
      dataDir,
      config: { modules: { proxy: { config: { stored_responses: { days } } } } },
    })
  const ask = (at: TestGateway, key: string, fields: object) =>
    at.api('POST', '/v1/responses', { model, input: 'hi', ...fields }, key)

  const first = await started(30)
  const { userId, key } = await first.signUp()
  const { body: kept } = await ask(first, key, {})
  await first.close()
  expect(await rows()).toBe(1)

  const second = await started(0)
  const { body: on } = await ask(second, key, { previous_response_id: kept.id })
  expect(on).toMatchObject({ previous_response_id: kept.id, store: false })
  expect((await second.api('GET', `/v1/responses/${on.id}`, undefined, key)).status).toBe(404)
  expect((await second.api('DELETE', `/api/auth/users/${userId}`)).status).toBe(200)
  await second.close()
  expect(await rows()).toBe(0)
  await rm(dataDir, { recursive: true, force: true })
})
