import { GoogleGenAI, type Part } from '@google/genai'
import OpenAI from 'openai'
import { beforeEach, describe, expect, it } from 'vitest'
import { bareChain } from '../../../test/bare.ts'
import { startPlayed } from '../../../test/played.ts'
import { shared } from '../../../test/shared.ts'
import { traceOf } from '../../../test/trace.ts'
import { anthropic } from '../../../test/upstream/anthropic/index.ts'
import { bedrock, cohere, gemini, openai } from '../../../test/upstream/index.ts'

const key = 'sk-test'
const provider = (base_url: string) => ({ base_url, api_key: key })

const played = shared(() =>
  startPlayed(
    { wires: [openai, gemini, anthropic, cohere, bedrock], apiKey: [], strict: false },
    ({ baseUrl }) => ({
      config: {
        providers: {
          openai: provider(baseUrl('openai')),
          gemini: provider(baseUrl('gemini')),
          anthropic: provider(baseUrl('anthropic')),
          cohere: provider(baseUrl('cohere')),
          bedrock: { base_url: baseUrl('bedrock'), api_key: 'ABSKapikey=' },
        },
      },
    }),
  ),
)
beforeEach(async () => {
  played.upstream.reset()
  await bareChain(played.gateway)
})

const google = (options: object = {}) =>
  new GoogleGenAI({ apiKey: played.userKey, httpOptions: { baseUrl: played.gateway.url, ...options } })

/** A request as it goes over the wire. */
async function post(address: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(played.gateway.url + address, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-goog-api-key': played.userKey, ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
}

const generate = (model: string, body: object, method = 'generateContent') =>
  post(`/v1beta/models/${model}:${method}`, body)

const hi = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] }
const flash = 'gemini-2.5-flash'
const changes = (headers: Headers): string[] => headers.get('x-params-changed')?.split(', ') ?? []

describe('Google’s own library', () => {
  it.each([undefined, 'v1beta', 'v1'])('asks plain and streamed, version %s', async (apiVersion) => {
    const { models } = google(apiVersion === undefined ? {} : { apiVersion })
    played.upstream.reply({ content: 'Hello.' })
    expect((await models.generateContent({ model: 'openai/gpt-4o', contents: 'hi' })).text).toBe('Hello.')
    expect(played.upstream.last().body).toMatchObject({ model: 'gpt-4o' })
    played.upstream.reply({ content: ['Hel', 'lo.'] })
    const said: (string | undefined)[] = []
    for await (const { text } of await models.generateContentStream({ model: flash, contents: 'hi' }))
      said.push(text)
    expect(said).toEqual(['Hel', 'lo.'])
  })

  it.each(['gpt-4o', flash, 'claude-haiku-4-5'])('chats with %s, a stream in between', async (model) => {
    const chat = google().chats.create({ model })
    played.upstream.reply({ content: 'One.' })
    await chat.sendMessage({ message: 'first' })
    played.upstream.reply({ content: ['Tw', 'o.'] })
    for await (const _ of await chat.sendMessageStream({ message: 'second' }));
    played.upstream.reply({ content: 'Three.' })
    expect((await chat.sendMessage({ message: 'third' })).text).toBe('Three.')
    const sent = played.upstream.last().rawBody
    for (const words of ['first', 'One.', 'second', 'third']) expect(sent).toContain(words)
    expect(chat.getHistory(true).map(({ role }) => role)).toEqual(
      expect.arrayContaining(['user', 'model', 'user', 'model', 'user', 'model']),
    )
  })

  it('counts tokens, embeds, and lists models', async () => {
    const { models } = google()
    const counted = await models.countTokens({ model: flash, contents: 'How many are there?' })
    expect(counted.totalTokens).toBeGreaterThan(3)
    for (const model of ['gemini-embedding-001', 'text-embedding-3-small']) {
      const config = { outputDimensionality: 8, taskType: 'RETRIEVAL_QUERY' }
      const { embeddings } = await models.embedContent({ model, contents: ['a', 'b'], config })
      expect(embeddings?.map(({ values }) => values?.length)).toEqual([8, 8])
      expect(embeddings?.[0]?.values).not.toEqual(embeddings?.[1]?.values)
    }
    expect(played.upstream.last().body).toMatchObject({ input: ['a', 'b'], dimensions: 8 })
    const names: string[] = []
    const paged = google({ apiVersion: 'v1beta' }).models
    for await (const { name } of await paged.list({ config: { pageSize: 3 } })) names.push(name!)
    const listed: string[] = []
    for await (const { name } of await models.list()) listed.push(name!)
    expect(listed).toEqual(names)
    expect(names.length).toBeGreaterThan(6)
    expect(new Set(names).size).toBe(names.length)
    expect(names.every((name) => name.startsWith('models/'))).toBe(true)
    const one = await models.get({ model: 'gpt-4o' })
    expect(one).toMatchObject({ name: 'models/gpt-4o', inputTokenLimit: expect.any(Number) })
    const ours = new OpenAI({ baseURL: `${played.gateway.url}/v1`, apiKey: played.userKey })
    expect((await ours.models.retrieve('gpt-4o')).owned_by).toBe('openai')
    expect((await ours.models.list()).data.length).toBe(names.length)
  })

  it('reads what went wrong', async () => {
    played.upstream.reply({ status: 429, retryAfter: 7 })
    const thrown = await google()
      .models.generateContent({ model: flash, contents: 'hi' })
      .catch((error: unknown) => error)
    expect(thrown).toMatchObject({ name: 'ApiError', status: 429 })
    const { error } = JSON.parse((thrown as Error).message)
    expect(error).toMatchObject({ code: 429, status: 'RESOURCE_EXHAUSTED' })
    expect(error.details).toContainEqual({
      '@type': 'type.googleapis.com/google.rpc.RetryInfo',
      retryDelay: '7s',
    })
  })
})

describe('a key in the address', () => {
  const secret = 'sy_live_in_the_address'
  const addresses = [
    ['POST', `/v1beta/models/${flash}:generateContent`],
    ['POST', `/v1beta/models/${flash}:streamGenerateContent?alt=sse`],
    ['POST', `/v1beta/models/${flash}:countTokens`],
    ['POST', '/v1/models/gemini-embedding-001:embedContent'],
    ['POST', '/v1beta/models/gemini-embedding-001:batchEmbedContents'],
    ['GET', '/v1beta/models'],
    ['GET', `/v1beta/models/${flash}`],
  ] as const

  it.each(addresses)('is refused, with and without one in the header: %s %s', async (method, address) => {
    for (const headers of [{}, { 'x-goog-api-key': played.userKey }]) {
      const sign = address.includes('?') ? '&' : '?'
      const response = await fetch(`${played.gateway.url}${address}${sign}key=${secret}`, {
        method,
        headers: headers as Record<string, string>,
        ...(method === 'POST' && { body: JSON.stringify(hi) }),
      })
      const text = await response.text()
      expect(response.status).toBe(400)
      expect(JSON.parse(text).error).toMatchObject({
        code: 400,
        status: 'INVALID_ARGUMENT',
        message: expect.stringContaining('x-goog-api-key'),
      })
      expect(text).not.toContain(secret)
    }
    expect(played.upstream.requests).toHaveLength(0)
    expect(played.gateway.logged.join('')).not.toContain(secret)
  })
})

describe('to Gemini', () => {
  const contents = [
    {
      role: 'user',
      parts: [{ fileData: { fileUri: 'https://youtu.be/x' }, videoMetadata: { fps: 2 } }, { text: 'Q1' }],
    },
    {
      role: 'model',
      parts: [
        { text: 'Hm.', thought: true },
        { text: 'I look.', thoughtSignature: 'c2lnMQ==' },
        { functionCall: { name: 'look', args: { x: null } }, thoughtSignature: 'c2lnMg==' },
        { functionCall: { id: 'own', name: 'look', args: {} } },
        { executableCode: { language: 'PYTHON', code: 'print(1)' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'look', response: { output: '{"a":1}' }, scheduling: 'SILENT' } },
        { functionResponse: { id: 'own', name: 'look', response: { a: [1] } } },
        { inlineData: { mimeType: 'audio/ogg', data: 'T2dn' } },
      ],
    },
  ]
  const whole = {
    contents,
    systemInstruction: { parts: [{ text: 'S1' }, { text: 'S2' }] },
    tools: [
      {
        functionDeclarations: [
          {
            name: 'look',
            description: 'Looks.',
            behavior: 'NON_BLOCKING',
            parameters: { type: 'OBJECT', properties: { x: { type: 'STRING', nullable: true } } },
          },
        ],
      },
      { googleMaps: { enableWidget: true } },
    ],
    toolConfig: {
      functionCallingConfig: { mode: 'VALIDATED' },
      retrievalConfig: { languageCode: 'de' },
    },
    generationConfig: {
      temperature: 0.5,
      topK: 3,
      candidateCount: 1,
      maxOutputTokens: 99,
      stopSequences: ['END'],
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { a: { type: 'INTEGER', format: 'int64' } } },
      thinkingConfig: { includeThoughts: true, thinkingBudget: 777 },
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
      speechConfig: { voiceConfig: {} },
    },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
    cachedContent: 'cachedContents/c1',
    labels: { team: 'a_b' },
  }

  it('a request arrives as it was said', async () => {
    const { status, headers } = await generate(flash, whole)
    expect(status).toBe(200)
    expect(played.upstream.last().body).toEqual(whole)
    expect(changes(headers)).toEqual([])
  })

  it('a request in the other spelling arrives in the wire’s own', async () => {
    const { status } = await generate(flash, {
      contents: { parts: { inline_data: { mime_type: 'image/png', data: 'AA==' } } },
      system_instruction: { parts: { text: 'S1' } },
      tools: {
        function_declarations: [{ name: 'go', parameters_json_schema: { my_key: 1, type: 'object' } }],
      },
      generation_config: { max_output_tokens: 5, thinking_config: { thinking_budget: 0 } },
    })
    expect(status).toBe(200)
    expect(played.upstream.last().body).toEqual({
      contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] }],
      systemInstruction: { parts: [{ text: 'S1' }] },
      tools: [
        { functionDeclarations: [{ name: 'go', parametersJsonSchema: { my_key: 1, type: 'object' } }] },
      ],
      generationConfig: { maxOutputTokens: 5, thinkingConfig: { thinkingBudget: 0 } },
    })
  })

  it('what modules change counts, and what that costs is named', async () => {
    await played.gateway.module('maskmode', { enabled: true, config: {} })
    await played.gateway.module('outputcap', { enabled: true, config: { default_max_tokens: 10 } })
    const told = structuredClone(whole)
    told.contents[0]!.parts[1] = { text: 'I am ada@example.com' } as never
    const { status, headers } = await generate(flash, told)
    expect(status).toBe(200)
    const { rawBody, body } = played.upstream.last()
    expect(rawBody).not.toContain('ada@example.com')
    expect(body).toMatchObject({
      tools: whole.tools,
      safetySettings: whole.safetySettings,
      generationConfig: { ...whole.generationConfig, maxOutputTokens: 10 },
    })
    expect(changes(headers)).toEqual(
      expect.arrayContaining([
        '-contents.parts.videoMetadata',
        '-contents.parts.functionResponse.scheduling',
      ]),
    )
    const parts = (body as typeof whole).contents.flatMap(({ parts }) => parts as Part[])
    expect(parts.map(({ thoughtSignature }) => thoughtSignature)).toEqual(
      expect.arrayContaining(['c2lnMQ==', 'c2lnMg==']),
    )
  })

  it('an answer passes byte for byte, plain and streamed', async () => {
    const body = `{ "candidates": [ {"content": {"parts": [{"text": "x", "novelty": 1e2}]}, "finishReason": "STOP"} ],\n "usageMetadata": {"promptTokenCount": 3} }`
    played.upstream.reply({ body })
    const plain = await generate(flash, hi)
    expect(plain.text).toBe(body)
    const events = [
      'data: {"candidates": [{"content": {"parts": [{"text": "a", "novelty": 1}],"role": "model"}}]}\r\n\r\n',
      'data: {"candidates": [{"content": {"parts": [{"text": "b"}]}, "finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}}\r\n\r\n',
    ]
    for (const splitBytes of [undefined, 1, 7]) {
      played.upstream.reply({ chunks: events, ...(splitBytes && { splitBytes }) })
      const streamed = await generate(flash, hi, 'streamGenerateContent?alt=sse')
      expect(streamed.headers.get('content-type')).toContain('text/event-stream')
      expect(streamed.text).toBe(events.join(''))
      expect((await traceOf(played.gateway, streamed)).usage).toMatchObject({
        input: 3,
        output: 2,
        source: 'provider',
      })
      played.upstream.reply({ chunks: events, ...(splitBytes && { splitBytes }) })
      const listed = await generate(flash, hi, 'streamGenerateContent')
      expect(listed.headers.get('content-type')).toBe('application/json')
      expect(listed.json()).toEqual(events.map((event) => JSON.parse(event.slice(6))))
    }
  })

  it('a guard keeps the order of what one event says', async () => {
    await played.gateway.module('secretscan', { enabled: true, config: {} })
    const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'
    const text = `${'before '.repeat(80)}${secret} after ${secret.slice(0, 9)}`
    const parts = [{ text: 'Hm. ', thought: true }, { text: text.slice(0, 300) }, { text: text.slice(300) }]
    const event = { candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP' }] }
    for (const form of ['streamGenerateContent?alt=sse', 'streamGenerateContent']) {
      played.upstream.reply({ chunks: [`data: ${JSON.stringify(event)}\r\n\r\n`], splitBytes: 5 })
      const answer = await generate(flash, hi, form)
      const events = form.endsWith('sse')
        ? answer.text.split('\n\n').flatMap((one) => (one ? [JSON.parse(one.replace('data: ', ''))] : []))
        : answer.json()
      const all = events.flatMap(({ candidates }: { candidates: { content: { parts: Part[] } }[] }) => {
        expect(candidates).toHaveLength(1)
        return candidates[0]!.content.parts
      })
      const told = all.map(({ text: said, thought }: Part) => (thought ? '' : said)).join('')
      expect(told).toBe(text.replace(secret, '[REDACTED:github_token]'))
      expect(events.at(-1).candidates[0].finishReason).toBe('STOP')
    }
  })
})

describe('to others', () => {
  const models = { openai: 'gpt-4o', anthropic: 'claude-haiku-4-5', cohere: 'command-a-03-2025' }

  it.each(Object.values(models))('%s is told what it can be told, and the rest is named', async (model) => {
    const { status, headers } = await generate(model, {
      contents: [{ role: 'user', parts: [{ text: 'Q1', videoMetadata: { fps: 1 } }] }],
      generationConfig: { maxOutputTokens: 50, speechConfig: {}, temperature: 0.5 },
      toolConfig: { retrievalConfig: {} },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      labels: { a: 'b' },
    })
    expect(status).toBe(200)
    expect(played.upstream.last().rawBody).not.toMatch(/safety|speech|retrieval|labels|videoMetadata/)
    expect(changes(headers)).toEqual(
      expect.arrayContaining([
        '-safetySettings',
        '-generationConfig.speechConfig',
        '-toolConfig.retrievalConfig',
        '-contents.parts.videoMetadata',
        '-labels',
      ]),
    )
  })

  it.each([...Object.values(models), 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'])(
    '%s is not asked without the contents that are cached elsewhere',
    async (model) => {
      const { status, json } = await generate(model, { ...hi, cachedContent: 'cachedContents/c1' })
      expect(status).toBe(400)
      expect(json().error.details).toContainEqual(
        expect.objectContaining({ fieldViolations: [expect.objectContaining({ field: 'cachedContent' })] }),
      )
      expect(played.upstream.requests).toHaveLength(0)
    },
  )

  it('calls without ids find their results, in the order of the calls', async () => {
    const call = (x: string) => ({ functionCall: { name: 'look', args: { x } } })
    const result = (output: string) => ({ functionResponse: { name: 'look', response: { output } } })
    const { status } = await generate('gpt-4o', {
      contents: [
        { role: 'user', parts: [{ text: 'Q1' }] },
        { role: 'model', parts: [call('a')] },
        { role: 'model', parts: [call('b')] },
        { role: 'function', parts: [result('for a'), result('for b')] },
      ],
      tools: [{ functionDeclarations: [{ name: 'look' }] }],
    })
    expect(status).toBe(200)
    interface Sent {
      messages: {
        tool_calls?: { id: string; function: { arguments: string } }[]
        tool_call_id?: string
        content: string
      }[]
    }
    const { messages } = played.upstream.last().body as Sent
    const [a, b] = messages[1]!.tool_calls!
    expect([a, b].map((one) => one!.function.arguments)).toEqual(['{"x":"a"}', '{"x":"b"}'])
    expect(messages.slice(2)).toMatchObject([
      { tool_call_id: a!.id, content: 'for a' },
      { tool_call_id: b!.id, content: 'for b' },
    ])
  })

  it('a schema of this wire is JSON Schema there', async () => {
    const responseSchema = {
      type: 'OBJECT',
      propertyOrdering: ['kind', 'at'],
      properties: {
        kind: { type: 'STRING', enum: ['a', 'b'], nullable: true },
        at: { type: 'ARRAY', minItems: '1', items: { any_of: [{ type: 'NUMBER' }, { type: 'NULL' }] } },
      },
      required: ['kind'],
    }
    await generate('gpt-4o', {
      ...hi,
      generationConfig: { responseMimeType: 'application/json', responseSchema },
    })
    expect(played.upstream.last().body).toMatchObject({
      response_format: {
        type: 'json_schema',
        json_schema: {
          schema: {
            type: 'object',
            properties: {
              kind: { type: ['string', 'null'], enum: ['a', 'b', null] },
              at: { type: 'array', minItems: 1, items: { anyOf: [{ type: 'number' }, { type: 'null' }] } },
            },
            required: ['kind'],
          },
        },
      },
    })
  })

  it.each([false, true])(
    'thoughts nobody asked to see go back to who had them; streamed: %s',
    async (stream) => {
      const model = 'claude-sonnet-4-5'
      const tools = [{ functionDeclarations: [{ name: 'look' }] }]
      const thinking = { thinkingConfig: { thinkingLevel: 'low' } }
      played.upstream.reply({
        reasoning: 'I must look.',
        toolCalls: [{ id: 'toolu_1', name: 'look', arguments: {} }],
      })
      const body = { ...hi, tools, generationConfig: thinking }
      const answer = await generate(model, body, stream ? 'streamGenerateContent' : 'generateContent')
      expect(answer.text).not.toContain('I must look')
      const events: { candidates: { content: { parts: Part[] } }[] }[] = [answer.json()].flat()
      const parts = events.flatMap(({ candidates }) => candidates[0]!.content.parts)
      played.upstream.reply({ content: 'Done.' })
      await generate(model, {
        ...body,
        contents: [
          ...hi.contents,
          { role: 'model', parts },
          { role: 'user', parts: [{ functionResponse: { name: 'look', id: 'toolu_1', response: {} } }] },
        ],
      })
      expect(played.upstream.last().body).toMatchObject({
        messages: [
          {},
          {
            content: [
              { type: 'thinking', thinking: 'I must look.', signature: expect.any(String) },
              { type: 'tool_use', id: 'toolu_1' },
            ],
          },
          {},
        ],
      })
    },
  )

  it('a call that was cut off is no call, and is told as far as it came', async () => {
    const script = { toolCalls: [{ name: 'look', arguments: '{"x":"half of i' }], finishReason: 'length' }
    for (const method of ['generateContent', 'streamGenerateContent']) {
      played.upstream.reply(script)
      const body = { ...hi, tools: [{ functionDeclarations: [{ name: 'look' }] }] }
      const { text, json } = await generate('gpt-4o', body, method)
      expect(text).not.toContain('functionCall')
      expect([json()].flat().at(-1).candidates[0]).toMatchObject({
        finishReason: 'MAX_TOKENS',
        finishMessage: expect.stringContaining('{"x":"half of i'),
      })
    }
  })

  it('a list of events that breaks ends in an error, and is JSON', async () => {
    played.upstream.reply({ content: ['Well', ' it', ' is'], cutAfter: 2, gapMs: 5 })
    const { json } = await generate('gpt-4o', hi, 'streamGenerateContent')
    const events = json()
    expect(events[0].candidates[0].content.parts).toEqual([{ text: 'Well' }])
    expect(events.at(-1).error).toMatchObject({ code: 502, status: 'UNAVAILABLE' })
  })
})

describe('embeddings', () => {
  const text = (words: string) => ({ content: { parts: [{ text: words }] } })

  it('of one text have a form of their own', async () => {
    const { json } = await generate('text-embedding-3-small', text('a'), 'embedContent')
    expect(json()).toMatchObject({ embedding: { values: expect.any(Array) } })
    expect(played.upstream.last().body).toMatchObject({ input: 'a' })
  })

  it.each([
    ['requests[1].taskType', [text('a'), { ...text('b'), taskType: 'CLUSTERING' }]],
    ['requests[0].model', [{ ...text('a'), model: 'models/other' }, text('b')]],
    [
      'requests[1].content.parts[0]',
      [text('a'), { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AA==' } }] } }],
    ],
  ])('that cannot be had in one are refused by name: %s', async (field, requests) => {
    const { status, json } = await generate('text-embedding-3-small', { requests }, 'batchEmbedContents')
    expect(status).toBe(400)
    expect(json().error.message).toContain(field)
  })
})

describe('at the door', () => {
  it('an address that is shut out is, whatever it asks of models', async () => {
    await played.gateway.module('ipfence', { enabled: true, config: { deny: ['127.0.0.1'] } })
    for (const method of ['generateContent', 'countTokens', 'embedContent'])
      expect((await generate(flash, hi, method)).status).toBe(403)
  })

  it.each([
    [
      'no key',
      `/v1beta/models/${flash}:generateContent`,
      hi,
      { 'x-goog-api-key': '' },
      401,
      'UNAUTHENTICATED',
    ],
    ['no model', '/v1beta/models/nobody-has-it:generateContent', hi, {}, 404, 'NOT_FOUND'],
    ['no contents', `/v1beta/models/${flash}:generateContent`, {}, {}, 400, 'INVALID_ARGUMENT'],
    [
      'no such form',
      `/v1beta/models/${flash}:streamGenerateContent?alt=media`,
      hi,
      {},
      400,
      'INVALID_ARGUMENT',
    ],
  ])('what is wrong is said in Google’s words: %s', async (_, address, body, headers, code, status) => {
    const answer = await post(address, body, headers as Record<string, string>)
    expect(answer.status).toBe(code)
    expect(answer.json().error).toMatchObject({ code, status })
  })

  it('an absent field is called missing', async () => {
    const answer = await post(`/v1beta/models/${flash}:generateContent`, {})
    expect(answer.json().error).toMatchObject({ message: 'contents: it is missing: expected array.' })
  })

  it('a path that is none of these takes no calls', async () => {
    const { status } = await post('/v1beta/models/{+model}:generateContent', hi)
    expect(status).toBe(404)
    // A model can be looked up there.
    expect((await post(`/v1beta/models/${flash}:tuneModel`, hi)).status).toBe(405)
    expect(played.upstream.requests).toHaveLength(0)
  })
})
