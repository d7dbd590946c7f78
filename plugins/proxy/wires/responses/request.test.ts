import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isGatewayError } from '#kernel'
import { runs } from '../../../../test/suite/runs.ts'
import { responseOf } from './answer.ts'
import type { Asked } from './asked.ts'
import { checked } from './checked.ts'
import { type Decoded, inputOf, requestOf } from './request.ts'
import { type Fields, responsesBody } from './schema.ts'
import { sealed } from './state.ts'

function decoded(fields: Fields): Decoded & { readonly changes: string[] } {
  const body = checked(responsesBody, { model: 'm', input: 'hi', ...fields })
  const changes: string[] = []
  return { ...requestOf(body, [], inputOf(body), (change) => changes.push(change)), changes }
}

const messagesOf = (input: readonly object[]) => decoded({ input }).request.messages

describe('a request', () => {
  it('of what Codex sends is carried whole', () => {
    const grammar = { type: 'grammar', syntax: 'lark', definition: 'start: "a"' }
    const { request, changes } = decoded({
      instructions: 'You are a coding agent.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Stay inside.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Fix it.' }] },
        {
          type: 'reasoning',
          summary: [{ type: 'summary_text', text: 'Look first.' }],
          encrypted_content: null,
        },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I will look.' }] },
        { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'c1' },
        {
          type: 'custom_tool_call',
          name: 'apply_patch',
          input: '*** Begin',
          call_id: 'c2',
          status: 'completed',
        },
        { type: 'function_call_output', call_id: 'c1', output: 'a.ts' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: 'Done' },
      ],
      tools: [
        {
          type: 'function',
          name: 'shell',
          description: 'Runs',
          strict: false,
          parameters: { type: 'object' },
        },
        { type: 'custom', name: 'apply_patch', description: 'Edits', format: grammar },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { effort: 'medium', summary: 'auto' },
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'k',
      text: { verbosity: 'low' },
    })
    expect(changes).toEqual([])
    expect(request).toEqual({
      model: 'm',
      stream: true,
      reasoning_effort: 'medium',
      verbosity: 'low',
      prompt_cache_key: 'k',
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [
        {
          type: 'function',
          function: { name: 'shell', description: 'Runs', strict: false, parameters: { type: 'object' } },
        },
        {
          type: 'function',
          function: {
            name: 'apply_patch',
            description: 'Edits',
            parameters: {
              type: 'object',
              properties: {
                input: {
                  type: 'string',
                  description: 'All of the input, as plain text in this lark grammar:\nstart: "a"',
                },
              },
              required: ['input'],
              additionalProperties: false,
            },
          },
        },
      ],
      messages: [
        { role: 'system', content: 'You are a coding agent.' },
        { role: 'developer', content: 'Stay inside.' },
        { role: 'user', content: 'Fix it.' },
        {
          role: 'assistant',
          content: 'I will look.',
          reasoning_content: 'Look first.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'shell', arguments: '{"command":["ls"]}' } },
            {
              id: 'c2',
              type: 'function',
              function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'a.ts' },
        { role: 'tool', tool_call_id: 'c2', content: 'Done' },
      ],
    })
  })

  it('takes tools to choose from, and formats of answers', () => {
    const tools = ['f', 'g'].map((name) => ({ type: 'function', name }))
    expect(decoded({ tools, tool_choice: { type: 'function', name: 'f' } }).request.tool_choice).toEqual({
      type: 'function',
      function: { name: 'f' },
    })
    const few = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'g' }] }
    expect(decoded({ tools, tool_choice: few }).request.tool_choice).toEqual({
      type: 'allowed_tools',
      allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'g' } }] },
    })
    const text = { format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true } }
    expect(decoded({ text }).request.response_format).toEqual({
      type: 'json_schema',
      json_schema: { name: 'n', schema: { type: 'object' }, strict: true },
    })
    expect(decoded({ text: { format: { type: 'json_object' } } }).request.response_format).toEqual({
      type: 'json_object',
    })
    expect(decoded({ text: { format: { type: 'text' } } }).request.response_format).toBeUndefined()
  })

  it('has the tools of namespaces, and those that items bring, as functions of their own', () => {
    const fn = (name: string) => ({ type: 'function', name })
    const { request, toolbox, places } = decoded({
      tools: [
        fn('top'),
        {
          type: 'namespace',
          name: 'crm',
          description: 'Customers',
          tools: [fn('find'), { type: 'custom', name: 'note' }],
        },
        {
          type: 'tool_search',
          execution: 'client',
          description: 'Finds tools',
          parameters: { type: 'object' },
        },
      ],
      tool_choice: {
        type: 'allowed_tools',
        mode: 'auto',
        tools: [
          { type: 'function', name: 'find', namespace: 'crm' },
          { type: 'custom', name: 'note', namespace: 'crm' },
        ],
      },
      input: [
        { type: 'additional_tools', role: 'developer', tools: [fn('more'), fn('top')] },
        { role: 'user', content: 'hi' },
        { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'mail' } },
        {
          type: 'tool_search_output',
          call_id: 'c1',
          execution: 'client',
          tools: [{ type: 'namespace', name: 'x'.repeat(60), description: '', tools: [fn('send')] }],
        },
        { type: 'function_call', call_id: 'c2', name: 'find', namespace: 'crm', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c2', output: 'none' },
        { type: 'custom_tool_call', call_id: 'c3', name: 'note', namespace: 'crm', input: 'n' },
        { type: 'custom_tool_call_output', call_id: 'c3', output: 'noted' },
      ],
    })
    const names = request.tools!.map((tool) => tool.function!.name)
    const [found] = names.slice(-1)
    expect(names).toEqual(['top', 'crm__find', 'crm__note', 'tool_search', 'more', found])
    expect(found).toMatch(/^x{50}_[0-9a-f]{12}$/)
    expect(places.tools).toEqual([
      'input.0.tools.1',
      'tools.1.tools.0',
      'tools.1.tools.1',
      'tools.2',
      'input.0.tools.0',
      'input.3.tools.0.tools.0',
    ])
    expect(toolbox.get(found!)).toEqual({ kind: 'function', name: 'send', namespace: 'x'.repeat(60) })
    expect(request.tool_choice).toMatchObject({
      allowed_tools: { tools: [{ function: { name: 'crm__find' } }, { function: { name: 'crm__note' } }] },
    })
    const call = (id: string, name: string, json: string) => ({
      role: 'assistant',
      tool_calls: [{ id, type: 'function', function: { name, arguments: json } }],
    })
    expect(request.messages).toMatchObject([
      { role: 'user', content: 'hi' },
      call('c1', 'tool_search', '{"query":"mail"}'),
      { role: 'tool', tool_call_id: 'c1', content: `{"found":["${found}"]}` },
      call('c2', 'crm__find', '{}'),
      { role: 'tool', tool_call_id: 'c2', content: 'none' },
      call('c3', 'crm__note', '{"input":"n"}'),
      { role: 'tool', tool_call_id: 'c3', content: 'noted' },
    ])
  })

  it('leaves out tools that only the service could run, where there are others, and what was done with them', () => {
    const { request, changes } = decoded({
      tools: [
        { type: 'web_search', external_web_access: true },
        { type: 'function', name: 'f' },
      ],
      input: [
        { role: 'user', content: 'hi' },
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
        { role: 'assistant', content: 'Found.' },
      ],
    })
    expect(request.tools).toEqual([{ type: 'function', function: { name: 'f' } }])
    expect(request.messages).toHaveLength(2)
    expect(changes).toEqual(['-tools.web_search', '-input.web_search_call'])
  })

  it('has what one agent says to another as words of the user, without what is encrypted for others', () => {
    const content = [
      { type: 'input_text', text: 'A task from /root:' },
      { type: 'encrypted_content', encrypted_content: 'Say hi.' },
      { type: 'encrypted_content', encrypted_content: 'gAAAAABsecret' },
    ]
    const { request, changes } = decoded({
      input: [{ type: 'agent_message', author: '/root', recipient: '/root/a', content }],
    })
    expect(request.messages).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'A task from /root:' },
          { type: 'text', text: 'Say hi.' },
        ],
      },
    ])
    expect(changes).toEqual(['-input.encrypted_content'])
  })

  it('refuses two tools that would be one', () => {
    const fn = (name: string) => ({ type: 'function', name })
    const tools = [fn('a__b'), { type: 'namespace', name: 'a', description: '', tools: [fn('b')] }]
    expect(() => decoded({ tools })).toThrow(/^tools\.1\.tools\.0\.name: another tool/)
  })

  it('names every part that is not carried, and carries what nobody here knows', () => {
    const { request, changes } = decoded({
      seed: 7,
      new_parameter: { a: 1 },
      max_tool_calls: 2,
      client_metadata: { a: 'b' },
      reasoning: { effort: 'low', context: 'all' },
      text: { new_part: true },
      tools: [{ type: 'function', name: 'f', defer_loading: true }],
      stream_options: { include_obfuscation: true },
    })
    expect(request).toMatchObject({ seed: 7, new_parameter: { a: 1 } })
    expect(request).not.toHaveProperty('client_metadata')
    expect(changes.toSorted()).toEqual([
      '-client_metadata',
      '-max_tool_calls',
      '-reasoning.context',
      '-stream_options.include_obfuscation',
      '-text.new_part',
      '-tools.defer_loading',
    ])
  })

  it('leaves out what others have sealed, and says so', () => {
    const input = [
      { type: 'reasoning', summary: [], encrypted_content: 'gAAAAA' },
      { role: 'assistant', content: 'hi' },
    ]
    const { request, changes } = decoded({ input })
    expect(request.messages).toEqual([{ role: 'assistant', content: 'hi' }])
    expect(changes).toEqual(['-input.encrypted_content'])
  })

  it('gives back what was answered as it was, whatever a provider had it carry', () => {
    const detail = { type: 'reasoning.text', format: 'x', index: 0, text: 'So.', signature: 's' }
    const message = {
      role: 'assistant' as const,
      content: 'Well.',
      reasoning_details: [detail],
      vendor_blocks: [{ index: 2, type: 'server_tool_use', id: 'v' }],
      tool_calls: [
        {
          id: 'c',
          type: 'function' as const,
          function: { name: 'f', arguments: '{"a":1}' },
          extra_content: { google: { thought_signature: 'g' } },
        },
      ],
    }
    const asked: Asked = {
      id: 'resp_1',
      createdAt: 0,
      model: 'm',
      repeated: {},
      places: { messages: [], tools: [] },
      toolbox: new Map(),
      keep: undefined,
    }
    const { output } = responseOf({ choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }, asked)
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'reasoning'])
    expect(messagesOf(output)).toEqual([message])
  })

  it('joins a text that came in two messages around a call', () => {
    const said = (text: string) => ({ role: 'assistant', content: [{ type: 'output_text', text }] })
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
    expect(messagesOf([said('Hel'), call, said('lo')])).toMatchObject([
      { content: 'Hello', tool_calls: [{ id: 'c' }] },
    ])
  })

  it('is decoded or refused with 400 and a field, whatever it is', () => {
    const names = [
      'type',
      'role',
      'content',
      'text',
      'call_id',
      'name',
      'arguments',
      'output',
      'summary',
      'input',
    ]
    const word = fc.constantFrom(
      'message',
      'user',
      'assistant',
      'function',
      'custom',
      'input_text',
      'reasoning',
      '',
    )
    const { node } = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        word,
        fc.constantFrom(null, true, 1),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names, 'tools', 'format', 'encrypted_content'), tie('node'), {
          maxKeys: 4,
        }),
      ),
    }))
    const fields = fc.dictionary(fc.constantFrom(...Object.keys(responsesBody.shape)), node, { maxKeys: 3 })
    fc.assert(
      fc.property(fields, (body) => {
        try {
          expect(decoded(body).request.messages!.length).toBeGreaterThan(0)
        } catch (error) {
          if (!isGatewayError(error)) throw error
          expect(error).toMatchObject({ status: 400, param: expect.any(String) })
        }
      }),
      runs(2000),
    )
  })

  it('whose sealed state is nonsense is taken without it', () => {
    for (const state of [
      { message: { reasoning_details: [null] } },
      { message: { reasoning_details: 'x' } },
      { calls: { c: 5 } },
      { message: 7 },
    ])
      expect(
        messagesOf([
          { type: 'reasoning', summary: [], encrypted_content: sealed(state as object) },
          { role: 'assistant', content: 'hi' },
        ]),
      ).toEqual([{ role: 'assistant', content: 'hi' }])
  })
})
