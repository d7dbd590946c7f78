import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { translation } from '../../test/translation.ts'
import { generateBody } from '../../test/upstream/gemini/schema.ts'
import manifest from './manifest.json' with { type: 'json' }
import { geminiProtocol } from './protocol.ts'

const gemini = manifest as Parameters<typeof translation>[0]

/** What is sent for a request, and what is said of it. */
function encoded(fields: Record<string, unknown>, options: Record<string, unknown> = {}) {
  const { call, target } = translation(gemini, { model: 'gemini-2.5-flash', ...fields }, { options })
  const request = geminiProtocol.encode(call, target)
  if (request instanceof Promise) throw new Error('it takes no time')
  const body = JSON.parse(request.body!) as Record<string, unknown>
  return { body, url: request.url, changes: call.trace.paramsChanged }
}

const schema = { type: 'object', properties: { a: { type: 'string' } } }

describe('parameters', () => {
  it.each<[asked: object, config: object | undefined, changes: string[]]>([
    [{ max_tokens: 5 }, { maxOutputTokens: 5 }, []],
    [{ max_completion_tokens: 7, max_tokens: 5 }, { maxOutputTokens: 7 }, []],
    [{ temperature: 0, top_p: 0.5, top_k: 3, seed: 1 }, { temperature: 0, topP: 0.5, topK: 3, seed: 1 }, []],
    [{ stop: 'x' }, { stopSequences: ['x'] }, []],
    [{ stop: ['x', 'y'] }, { stopSequences: ['x', 'y'] }, []],
    [{ n: 3 }, { candidateCount: 3 }, []],
    [{ presence_penalty: 1, frequency_penalty: -1 }, { presencePenalty: 1, frequencyPenalty: -1 }, []],
    [{ logprobs: true, top_logprobs: 2 }, { responseLogprobs: true, logprobs: 2 }, []],
    [{ response_format: { type: 'text' } }, undefined, []],
    [{ response_format: { type: 'json_object' } }, { responseMimeType: 'application/json' }, []],
    [{ temperature: null, user: null, stop: null }, undefined, []],
    [{ user: 'u', store: true, logit_bias: { 1: 2 } }, undefined, ['-user', '-store', '-logit_bias']],
    [{ parallel_tool_calls: true, modalities: ['text'], logit_bias: {} }, undefined, []],
    [{ parallel_tool_calls: false }, undefined, ['-parallel_tool_calls']],
    [{ something_new: 1, constructor: 1 }, undefined, ['-something_new', '-constructor']],
    [{ stream: true, stream_options: { include_usage: true } }, undefined, []],
    [
      {
        model: 'gemini-2.0-flash',
        response_format: {
          type: 'json_schema',
          json_schema: { schema: { ...schema, additionalProperties: false } },
        },
      },
      {
        responseMimeType: 'application/json',
        responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      },
      ['-response_format.schema.additionalProperties'],
    ],
    [
      { extra_body: { google: { thinking_config: { thinking_budget: 5, include_thoughts: true } } } },
      { thinkingConfig: { thinkingBudget: 5, includeThoughts: true } },
      [],
    ],
  ])('%j', (asked, config, changes) => {
    const result = encoded(asked as Record<string, unknown>)
    expect(result.body.generationConfig).toEqual(config)
    expect(result.changes).toEqual(changes)
  })

  it('takes thoughts as Anthropic’s clients ask for them', () => {
    const asked = (fields: object) => {
      const { body, changes } = encoded({ ...fields })
      return [(body.generationConfig as { thinkingConfig?: object } | undefined)?.thinkingConfig, changes]
    }
    const enabled = (budget_tokens: number, more: object = {}) => ({
      thinking: { type: 'enabled', budget_tokens, ...more },
    })
    expect(asked({ thinking: { type: 'disabled' } })).toEqual([{ thinkingBudget: 0 }, []])
    expect(asked(enabled(2000))).toEqual([{ thinkingBudget: 2000, includeThoughts: true }, []])
    expect(asked(enabled(2000, { display: 'omitted' }))).toEqual([{ thinkingBudget: 2000 }, []])
    expect(asked(enabled(60_000))).toEqual([
      { thinkingBudget: 24_576, includeThoughts: true },
      ['thinking:60000->24576'],
    ])
    expect(asked({ thinking: { type: 'adaptive' } })).toEqual([
      { thinkingBudget: -1, includeThoughts: true },
      [],
    ])
    expect(asked({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } })).toEqual([
      { thinkingBudget: 1024, includeThoughts: true },
      [],
    ])
    expect(asked({ model: 'gemini-3-flash-preview', ...enabled(2000) })).toEqual([
      { thinkingLevel: 'low', includeThoughts: true },
      ['thinking:2000->low'],
    ])
    expect(asked({ model: 'gemini-2.0-flash', ...enabled(2000) })).toEqual([undefined, ['-thinking']])
    expect(asked({ model: 'gemini-2.0-flash', thinking: { type: 'disabled' } })).toEqual([undefined, []])
  })

  it.each<[model: string, effort: string, thinking: object | undefined, changes: string[]]>([
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }, []],
    ['gemini-2.5-flash', 'low', { thinkingBudget: 1024, includeThoughts: true }, []],
    ['gemini-2.5-flash', 'high', { thinkingBudget: 24576, includeThoughts: true }, []],
    [
      'gemini-2.5-flash',
      'xhigh',
      { thinkingBudget: 24576, includeThoughts: true },
      ['reasoning_effort:xhigh->24576'],
    ],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }, ['reasoning_effort:none->128']],
    ['gemini-3-pro-preview', 'low', { thinkingLevel: 'low', includeThoughts: true }, []],
    [
      'gemini-3-pro-preview',
      'medium',
      { thinkingLevel: 'high', includeThoughts: true },
      ['reasoning_effort:medium->high'],
    ],
    ['gemini-3.1-pro-preview', 'medium', { thinkingLevel: 'medium', includeThoughts: true }, []],
    [
      'gemini-3.1-pro-preview',
      'minimal',
      { thinkingLevel: 'low', includeThoughts: true },
      ['reasoning_effort:minimal->low'],
    ],
    ['gemini-3-flash-preview', 'medium', { thinkingLevel: 'medium', includeThoughts: true }, []],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'minimal' }, ['reasoning_effort:none->minimal']],
    ['gemini-2.0-flash', 'high', undefined, ['-reasoning_effort']],
  ])('%s thinks with an effort of %s', (model, reasoning_effort, thinking, changes) => {
    const result = encoded({ model, reasoning_effort })
    expect((result.body.generationConfig as { thinkingConfig?: object } | undefined)?.thinkingConfig).toEqual(
      thinking,
    )
    expect(result.changes).toEqual(changes)
  })

  it.each<[asked: object, param: string]>([
    [{ stop: ['1', '2', '3', '4', '5', '6'] }, 'stop'],
    [{ n: 9 }, 'n'],
    [{ functions: [] }, 'functions'],
    [{ audio: { voice: 'x' } }, 'audio'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
    [{ web_search_options: {} }, 'web_search_options'],
    [{ response_format: { type: 'grammar' } }, 'response_format.type'],
    [{ reasoning_effort: 'great' }, 'reasoning_effort'],
    [{ reasoning_effort: 'toString' }, 'reasoning_effort'],
    [{ tools: [{ type: 'custom', custom: {} }] }, 'tools[0].type'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: 'perhaps' }, 'tool_choice'],
    [{ messages: [{ role: 'function', name: 'f', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'tool', tool_call_id: 'x', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'user', content: [{ type: 'hologram' }] }] }, 'messages[0].content[0].type'],
    [
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://a.example/x.png' } }] },
        ],
      },
      'messages[0].content[0].image_url.url',
    ],
    [
      {
        model: 'gemini-2.0-flash',
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/x.png' } }] },
        ],
      },
      'messages[0].content[0].image_url.url',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
      'messages[0].content[0].file.file_id',
    ],
    [
      { messages: [{ role: 'system', content: [{ type: 'image_url', image_url: {} }] }] },
      'messages[0].content[0].type',
    ],
    [
      {
        messages: [
          {
            role: 'assistant',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '[1]' } }],
          },
        ],
      },
      'messages[0].tool_calls[0].function.arguments',
    ],
  ])('%j is refused, and the field is named', (asked, param) => {
    expect(() => encoded(asked as Record<string, unknown>)).toThrow(
      expect.objectContaining({ status: 400, param }),
    )
  })
})

describe('messages', () => {
  it('of the system are instructions, wherever they stand', () => {
    const { body, changes } = encoded({
      messages: [
        { role: 'system', content: 'A' },
        { role: 'developer', content: [{ type: 'text', text: 'B' }] },
        { role: 'user', content: 'hi' },
        { role: 'system', content: 'C' },
      ],
    })
    expect(body).toEqual({
      systemInstruction: { parts: [{ text: 'A' }, { text: 'B' }, { text: 'C' }] },
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    })
    expect(changes).toEqual(['role:system->systemInstruction'])
  })

  it('of the system alone are said by the user', () => {
    const { body, changes } = encoded({ messages: [{ role: 'system', content: 'A' }] })
    expect(body).toEqual({ contents: [{ role: 'user', parts: [{ text: 'A' }] }] })
    expect(changes).toEqual(['role:system->user'])
  })

  it('of tools may show something or tell of a failure', () => {
    const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }
    const { body } = encoded({
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls: [call('a'), call('b')] },
        { role: 'tool', tool_call_id: 'a', content: [{ type: 'text', text: 'see' }, image] },
        { role: 'tool', tool_call_id: 'b', content: 'gone', is_error: true },
      ],
    })
    expect((body.contents as object[]).slice(2)).toEqual([
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'f', response: { output: 'see' } } },
          { functionResponse: { id: 'b', name: 'f', response: { error: 'gone' } } },
        ],
      },
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
    ])
  })

  it('of tools have what they show in them for the models that take it, as far as it may be there', () => {
    const shown = (type: string) => ({
      type: 'image_url',
      image_url: { url: `data:image/${type};base64,aGk=` },
    })
    const tool_calls = [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }]
    const { body } = encoded({
      model: 'gemini-3-pro-preview',
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', tool_calls },
        { role: 'tool', tool_call_id: 'a', content: [shown('png'), shown('heic')] },
      ],
    })
    const png = { inlineData: { mimeType: 'image/png', data: 'aGk=' } }
    expect((body.contents as object[]).slice(2)).toEqual([
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'a', name: 'f', response: { output: '' }, parts: [png] } }],
      },
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/heic', data: 'aGk=' } }] },
    ])
  })

  it('keep the signature of a text', () => {
    const said = { role: 'assistant', content: 'x', extra_content: { google: { thought_signature: 'c2ln' } } }
    const { body } = encoded({
      messages: [{ role: 'user', content: 'hi' }, said, { role: 'user', content: 'on' }],
    })
    expect(body.contents).toMatchObject([{}, { parts: [{ text: 'x', thoughtSignature: 'c2ln' }] }, {}])
  })
})

describe('tools', () => {
  const tools = [
    {
      type: 'function',
      function: { name: 'f', parameters: { ...schema, additionalProperties: false }, strict: true },
    },
    { type: 'function', function: { name: 'g', parameters: { type: 'object', properties: {} } } },
    { type: 'google_search' },
  ]

  it('are declared with their schemas as they are, for models that take them', () => {
    const { body, changes } = encoded({ tools })
    expect(body.tools).toEqual([
      {
        functionDeclarations: [
          { name: 'f', parametersJsonSchema: { ...schema, additionalProperties: false } },
          { name: 'g' },
        ],
      },
      { googleSearch: {} },
    ])
    expect(changes).toEqual(['-tools.strict'])
  })

  it('are declared with what older models know of schemas', () => {
    const { body, changes } = encoded({ model: 'gemini-2.0-flash', tools })
    expect(body.tools).toMatchObject([
      {
        functionDeclarations: [{ parameters: { type: 'OBJECT', properties: { a: { type: 'STRING' } } } }, {}],
      },
      {},
    ])
    expect(changes).toContain('-tools.parameters.additionalProperties')
  })

  it.each<[choice: unknown, config: object]>([
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'f' } },
      { mode: 'ANY', allowedFunctionNames: ['f'] },
    ],
    [
      {
        type: 'allowed_tools',
        allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'g' } }] },
      },
      { mode: 'VALIDATED', allowedFunctionNames: ['g'] },
    ],
  ])('are chosen by %j', (tool_choice, functionCallingConfig) => {
    expect(encoded({ tools, tool_choice }).body.toolConfig).toEqual({ functionCallingConfig })
  })
})

describe('options', () => {
  const setting = { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }
  const other = { ...setting, threshold: 'BLOCK_ONLY_HIGH' }

  it('say what to block, unless the request does', () => {
    const options = { safety_settings: [setting] }
    expect(encoded({}, options).body.safetySettings).toEqual([setting])
    expect(encoded({ safety_settings: [other] }, options).body.safetySettings).toEqual([other])
  })

  it('that do not exist are told to the operator', () => {
    expect(() => encoded({}, { safety: [] })).toThrow(/providers\.gemini\.options/)
  })
})

it('whatever a client of OpenAI may ask is taken by the real service, or refused by name', () => {
  const part = fc.oneof(
    fc.record({ type: fc.constant('text'), text: fc.string() }),
    fc.constant({ type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }),
  )
  const content = fc.oneof(fc.string(), fc.array(part, { minLength: 1, maxLength: 3 }))
  const message = fc.oneof(
    fc.record({ role: fc.constantFrom('system', 'developer'), content: fc.string() }),
    fc.record({ role: fc.constant('user'), content }),
    fc.record({ role: fc.constant('assistant'), content: fc.oneof(fc.string(), fc.constant(null)) }),
  )
  const fields = fc.record(
    {
      model: fc.constantFrom('gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview'),
      messages: fc.array(message, { minLength: 1, maxLength: 6 }),
      temperature: fc.constantFrom(0, 1, null),
      max_tokens: fc.integer({ min: 1, max: 100 }),
      stop: fc.oneof(fc.string(), fc.array(fc.string(), { maxLength: 6 })),
      n: fc.integer({ min: 1, max: 10 }),
      reasoning_effort: fc.constantFrom('none', 'low', 'medium', 'high'),
      user: fc.string(),
      response_format: fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
    },
    { requiredKeys: ['model', 'messages'] },
  )
  fc.assert(
    fc.property(fields, (asked) => {
      try {
        expect(generateBody.safeParse(encoded(asked).body).error).toBeUndefined()
      } catch (error) {
        expect(error).toMatchObject({ status: 400, param: expect.any(String) })
      }
    }),
  )
})
