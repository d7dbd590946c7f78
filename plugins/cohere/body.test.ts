import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { translation } from '../../test/translation.ts'
import { chatBody } from '../../test/upstream/cohere/schema.ts'
import manifest from './manifest.json' with { type: 'json' }
import { cohereProtocol } from './protocol.ts'

const cohere = manifest as Parameters<typeof translation>[0]

/** What is sent for a request, and what is said of it. */
function encoded(fields: Record<string, unknown>) {
  const { call, target } = translation(cohere, { model: 'command-a-03-2025', ...fields })
  const request = cohereProtocol.encode(call, target)
  if (request instanceof Promise) throw new Error('it takes no time')
  const { model: _, messages, stream, ...parameters } = JSON.parse(request.body!) as Record<string, unknown>
  return { messages, stream, parameters, changes: call.trace.paramsChanged }
}

const f = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }
const g = { type: 'function', function: { name: 'g' } }
const sentG = { ...g, function: { ...g.function, parameters: { type: 'object', properties: {} } } }
const strict = { ...f, function: { ...f.function, strict: true } }

describe('parameters', () => {
  it.each<[asked: object, sent: object, changes: string[]]>([
    [{ max_tokens: 5 }, { max_tokens: 5 }, []],
    [{ max_completion_tokens: 7, max_tokens: 5 }, { max_tokens: 7 }, []],
    [{ temperature: 0, seed: 1, top_p: 0.5, top_k: 3 }, { temperature: 0, seed: 1, p: 0.5, k: 3 }, []],
    [{ top_p: 1 }, { p: 0.99 }, ['top_p:1->0.99']],
    [{ frequency_penalty: 2 }, { frequency_penalty: 1 }, ['frequency_penalty:2->1']],
    [{ presence_penalty: -1 }, { presence_penalty: 0 }, ['presence_penalty:-1->0']],
    [{ stop: 'x' }, { stop_sequences: ['x'] }, []],
    [{ n: 1, temperature: null, parallel_tool_calls: true }, {}, []],
    [{ logprobs: true, top_logprobs: 2 }, { logprobs: true }, ['-top_logprobs']],
    [{ user: 'u', logit_bias: { 1: 2 }, toString: 1 }, {}, ['-user', '-logit_bias', '-toString']],
    [{ response_format: { type: 'json_object' } }, { response_format: { type: 'json_object' } }, []],
    [{ safety_mode: 'OFF', documents: ['d'] }, { safety_mode: 'OFF', documents: ['d'] }, []],
    [{ reasoning_effort: 'high' }, {}, ['-reasoning_effort']],
    [
      { model: 'command-a-reasoning-08-2025', reasoning_effort: 'low' },
      { thinking: { type: 'enabled' } },
      ['reasoning_effort:low->enabled'],
    ],
    [
      { model: 'command-a-reasoning-08-2025', reasoning_effort: 'none' },
      { thinking: { type: 'disabled' } },
      [],
    ],
    [
      { model: 'command-a-reasoning-08-2025', thinking: { type: 'enabled', budget_tokens: 2000 } },
      { thinking: { type: 'enabled', token_budget: 2000 } },
      [],
    ],
    [{ thinking: { type: 'enabled', token_budget: 5 } }, {}, ['-thinking']],
    [{ tools: [f, g] }, { tools: [f, sentG] }, []],
    [{ tools: [f, g], tool_choice: 'required' }, { tools: [f, sentG], tool_choice: 'REQUIRED' }, []],
    [{ tools: [f, g], tool_choice: 'none' }, { tools: [f, sentG], tool_choice: 'NONE' }, []],
    [
      { tools: [f, g], tool_choice: { type: 'function', function: { name: 'g' } } },
      { tools: [sentG], tool_choice: 'REQUIRED' },
      [],
    ],
    [
      {
        tools: [f, g],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'auto', tools: [{ function: { name: 'f' } }] },
        },
      },
      { tools: [f] },
      [],
    ],
    [{ tools: [strict] }, { tools: [f], strict_tools: true }, []],
    [{ tools: [strict, g] }, { tools: [f, sentG] }, ['-tools.strict']],
    [{ tools: [{ type: 'web_search' }, g] }, { tools: [sentG] }, ['-tools.web_search']],
  ])('%j', (asked, sent, changes) => {
    const result = encoded(asked as Record<string, unknown>)
    expect(result.parameters).toEqual(sent)
    expect(result.changes).toEqual(changes)
  })

  it.each<[asked: object, param: string]>([
    [{ n: 2 }, 'n'],
    [{ stop: ['1', '2', '3', '4', '5', '6'] }, 'stop'],
    [{ functions: [] }, 'functions'],
    [{ modalities: ['audio'] }, 'modalities'],
    [{ response_format: { type: 'grammar' } }, 'response_format.type'],
    [{ tools: [{ type: 'custom' }] }, 'tools[0].type'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ tools: [f], tool_choice: { type: 'function', function: { name: 'h' } } }, 'tool_choice'],
    [{ messages: [{ role: 'function', name: 'f', content: 'x' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'tool', content: 'x' }] }, 'messages[0].tool_call_id'],
    [{ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages[0].content[0].type'],
  ])('%j is refused, and the field is named', (asked, param) => {
    expect(() => encoded(asked as Record<string, unknown>)).toThrow(
      expect.objectContaining({ status: 400, param }),
    )
  })
})

it('messages are those that Cohere knows', () => {
  const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '' } }]
  const { messages, changes } = encoded({
    messages: [
      { role: 'developer', content: 'A' },
      { role: 'user', content: 'hi', name: 'ada' },
      { role: 'assistant', content: 'I look.', tool_calls: calls },
      { role: 'tool', tool_call_id: 'c', content: [{ type: 'document', document: { data: 'd' } }] },
      { role: 'assistant', content: '', tool_calls: null },
      { role: 'assistant', content: 'So.', reasoning_content: 'Hm.' },
      { role: 'user', content: 'on' },
    ],
  })
  expect(messages).toEqual([
    { role: 'system', content: 'A' },
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      tool_plan: 'I look.',
      tool_calls: [{ ...calls[0], function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: [{ type: 'document', document: { data: 'd' } }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'So.' },
      ],
    },
    { role: 'user', content: 'on' },
  ])
  expect(changes).toEqual(['role:developer->system', '-messages.name'])
})

it('whatever a client of OpenAI may ask is taken by the real service, or refused by name', () => {
  const message = fc.oneof(
    fc.record({ role: fc.constantFrom('system', 'developer', 'user'), content: fc.string() }),
    fc.record({ role: fc.constant('assistant'), content: fc.oneof(fc.string(), fc.constant(null)) }),
  )
  const fields = fc.record(
    {
      messages: fc.array(message, { maxLength: 6 }).map((some) => [...some, { role: 'user', content: 'hi' }]),
      temperature: fc.constantFrom(0, 1, 2, null),
      top_p: fc.constantFrom(0, 0.5, 1),
      frequency_penalty: fc.integer({ min: -2, max: 2 }),
      stop: fc.oneof(fc.string(), fc.array(fc.string(), { maxLength: 6 })),
      n: fc.integer({ min: 1, max: 2 }),
      user: fc.string(),
      tools: fc.constantFrom([f], [f, g]),
      tool_choice: fc.constantFrom('auto', 'none', 'required'),
    },
    { requiredKeys: ['messages'] },
  )
  fc.assert(
    fc.property(fields, (asked) => {
      try {
        const { messages, stream, parameters } = encoded(asked)
        const sent = { model: 'm', messages, stream, ...parameters }
        expect(chatBody.safeParse(sent).error).toBeUndefined()
      } catch (error) {
        expect(error).toMatchObject({ status: 400, param: expect.any(String) })
      }
    }),
  )
})
