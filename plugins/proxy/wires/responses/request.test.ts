import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isGatewayError, type ModelRequest } from '#kernel'
import { responseOf } from './answer.ts'
import { checked } from './checked.ts'
import { inputOf, requestOf } from './request.ts'
import { type Fields, responsesBody } from './schema.ts'
import { sealed } from './state.ts'

function decoded(fields: Fields): { request: ModelRequest; changes: string[] } {
  const body = checked(responsesBody, { model: 'm', input: 'hi', ...fields })
  const changes: string[] = []
  const { request } = requestOf(body, [], inputOf(body), (change) => changes.push(change))
  return { request, changes }
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
          type: 'custom',
          custom: {
            name: 'apply_patch',
            description: 'Edits',
            format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } },
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
            { id: 'c2', type: 'custom', custom: { name: 'apply_patch', input: '*** Begin' } },
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
    const asked = { id: 'resp_1', createdAt: 0, model: 'm', repeated: {}, places: [], keep: undefined }
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
      { numRuns: 2000 },
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
