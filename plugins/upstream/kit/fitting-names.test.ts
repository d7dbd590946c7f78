import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { providerSpec } from '../../../contract/provider.ts'
import { WholeReply } from '../../../kernel/call/reply.ts'
import { Chunk } from '../../../kit/canonical/chunk.ts'
import type { Completion, ModelRequest } from '../../../kit/canonical/forms.ts'
import { ToolNames } from '../delivery/tool-names.ts'
import { fittingNames } from './fitting-names.ts'
import { withToolNames } from './named-tools.ts'

const patterns = [
  '^[a-zA-Z0-9_-]{1,64}$',
  '^[a-zA-Z0-9_-]{1,128}$',
  '^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$',
  '^[a-zA-Z_][a-zA-Z0-9_]{0,63}$',
]

const offering = (names: readonly string[]): ModelRequest => ({
  model: 'm',
  messages: [],
  tools: names.map((name) => ({ type: 'function', function: { name } })),
})

const sentBy = (names: readonly string[], pattern: string): string[] => {
  const request = offering(names)
  const sent = withToolNames(request, fittingNames(request, new RegExp(pattern)).sent)
  return sent.tools!.map((tool) => tool.function!.name)
}

const answer = (name: string): Completion => ({
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: '{}' } }],
      },
      finish_reason: 'tool_calls',
    },
  ],
})

const anyName = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.stringMatching(/^[a-z0-9_.:-]{1,90}$/),
  fc.constantFrom('a.b', 'a_b', 'a b', '2nd', '-', '', '__proto__', 'x'.repeat(64), 'x'.repeat(65)),
)

describe.each(patterns)('names for a provider that takes %s', (pattern) => {
  const taken = new RegExp(pattern)

  test('every name goes out as one that is taken, different names as different ones, and comes back', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyName, { minLength: 1, maxLength: 12 }), (names) => {
        const sent = sentBy(names, pattern)
        for (const name of sent) expect(name).toMatch(taken)
        expect(new Set(sent).size).toBe(names.length)
        const back = new ToolNames(fittingNames(offering(names), taken))
        for (const [i, name] of sent.entries()) {
          const { choices } = back.reply(WholeReply.of(answer(name))).body
          expect(choices![0]!.message!.tool_calls![0]!.function.name).toBe(names[i])
        }
      }),
    )
  })

  test('a name goes out the same whatever stands beside it, and whenever', () => {
    fc.assert(
      fc.property(anyName, fc.array(anyName), (name, others) => {
        const few = [...new Set([name, ...others])]
        expect(sentBy(few, pattern)[0]).toBe(sentBy([name], pattern)[0])
      }),
    )
  })
})

test('names that are taken stay', () => {
  expect(fittingNames(offering(['weather', 'x'.repeat(64)]), new RegExp(patterns[0]!)).changed).toBe(false)
})

test('a tool that is called as another would be sent keeps its name, and the other gets one more', () => {
  const taken = sentBy(['fs.read'], patterns[0]!)[0]!
  const [first, second] = sentBy(['fs.read', taken], patterns[0]!)
  expect(second).toBe(taken)
  expect(first).toMatch(/^fs_read_[0-9a-f]{12}$/)
  expect(first).not.toBe(taken)
})

test('is changed wherever a request names tools, the tools of older clients and of free text among them', () => {
  const tool = { name: 'fs.read', description: 'Reads fs.read' }
  const request: ModelRequest = {
    model: 'm',
    tools: [
      { type: 'function', function: tool },
      { type: 'custom', custom: { name: 'sh.run', format: { type: 'text' } } },
    ],
    functions: [tool],
    function_call: { name: 'fs.read' },
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: {
        mode: 'auto',
        tools: [
          { type: 'function', function: { name: 'fs.read' } },
          { type: 'custom', custom: { name: 'sh.run' } },
        ],
      },
    },
    messages: [
      { role: 'user', content: 'fs.read', name: 'a.b' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'fs.gone', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', name: 'fs.gone', content: 'fs.read' },
      { role: 'assistant', content: null, function_call: { name: 'fs.read', arguments: '{}' } },
      { role: 'function', name: 'fs.read', content: 'read' },
    ],
  }
  const names = fittingNames(request, new RegExp(patterns[0]!))
  const [read, gone, run] = ['fs.read', 'fs.gone', 'sh.run'].map((name) => names.renamed.get(name)!)
  const sent = withToolNames(request, names.sent)
  expect(sent).toEqual({
    ...request,
    tools: [
      { type: 'function', function: { ...tool, name: read } },
      { type: 'custom', custom: { name: run, format: { type: 'text' } } },
    ],
    functions: [{ ...tool, name: read }],
    function_call: { name: read },
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: {
        mode: 'auto',
        tools: [
          { type: 'function', function: { name: read } },
          { type: 'custom', custom: { name: run } },
        ],
      },
    },
    messages: [
      request.messages![0],
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: gone, arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', name: gone, content: 'fs.read' },
      { role: 'assistant', content: null, function_call: { name: read, arguments: '{}' } },
      { role: 'function', name: read, content: 'read' },
    ],
  })
  const chunk = Chunk.of({
    choices: [{ index: 0, delta: { function_call: { name: read! }, content: 'x' }, finish_reason: null }],
  })
  expect(new ToolNames(names).chunk(chunk).data.choices[0]!.delta).toEqual({
    function_call: { name: 'fs.read' },
    content: 'x',
  })
})

test('a pattern that short names do not match is refused, and so is one that is none', () => {
  const spec = (tool_names: string) => providerSpec.safeParse({ protocol: 'openai', tool_names }).success
  expect([...patterns, '.'].map(spec)).toEqual([true, true, true, true, true])
  expect(['^[a-z]{1,20}$', '^[a-z'].map(spec)).toEqual([false, false])
})
