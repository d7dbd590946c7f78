import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../../test/suite/runs.ts'
import { chatWire } from './chat.ts'
import { completionsWire } from './completions.ts'
import { embeddingsWire } from './embeddings.ts'
import { formCheck } from './form-check.ts'

const anything = fc.oneof(
  fc.constantFrom(null, true, '', 'user', 'x'.repeat(300), -1, 0, 1.5, 129, 2 ** 53, 1e300, Infinity, [], {}),
  fc.jsonValue(),
)

/** A value that is right, now and then another one. */
const mostly = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 20, arbitrary: right }, { weight: 1, arbitrary: anything })

const part = mostly(fc.record({ type: mostly(fc.constant('text')), text: mostly(fc.string()) }))
const toolCall = mostly(
  fc.record({
    id: mostly(fc.string()),
    function: mostly(fc.record({ name: mostly(fc.string()), arguments: mostly(fc.string()) })),
  }),
)
const message = mostly(
  fc.record(
    {
      role: mostly(fc.constantFrom('system', 'user', 'assistant', 'tool')),
      content: mostly(fc.oneof(fc.string(), fc.constant(null), fc.array(part))),
      tool_calls: mostly(fc.array(toolCall)),
      tool_call_id: mostly(fc.string()),
    },
    { requiredKeys: ['role'] },
  ),
)
const tool = mostly(
  fc.record({
    type: mostly(fc.constant('function')),
    function: mostly(fc.record({ name: mostly(fc.string()), parameters: anything })),
  }),
)
const body = fc.record(
  {
    model: mostly(fc.constantFrom('gpt-4o-mini', 'm')),
    messages: mostly(fc.array(message, { minLength: 1, maxLength: 3 })),
    prompt: mostly(fc.oneof(fc.string(), fc.array(fc.string()))),
    input: mostly(fc.oneof(fc.string(), fc.array(fc.string()), fc.array(fc.nat()))),
    stream: mostly(fc.boolean()),
    stream_options: mostly(fc.record({ include_usage: mostly(fc.boolean()) })),
    max_tokens: mostly(fc.nat()),
    max_completion_tokens: mostly(fc.nat()),
    temperature: mostly(fc.double({ noNaN: true })),
    n: mostly(fc.integer({ min: 1, max: 128 })),
    dimensions: mostly(fc.nat()),
    tools: mostly(fc.array(tool)),
    response_format: mostly(fc.record({ type: mostly(fc.string()) })),
    seed: anything,
  },
  { requiredKeys: ['model', 'messages', 'prompt', 'input'] },
)

test.each([chatWire, completionsWire, embeddingsWire].map((wire) => [wire.id, wire] as const))(
  'what passes at the door of %s is what its schema takes',
  (_, wire) => {
    const faultOf = formCheck(wire.body)
    let passed = 0
    fc.assert(
      fc.property(mostly(body), (value) => {
        const takes = wire.body.safeParse(value).success
        expect(faultOf(value) === undefined).toBe(takes)
        if (takes) passed += 1
      }),
      runs(2000),
    )
    expect(passed).toBeGreaterThan(30)
  },
)

test.each([
  [chatWire, { model: 'm', messages: Array(90_000).fill(7) }, 'messages.0'],
  [
    chatWire,
    { model: 'm', messages: [{ role: 'user', content: Array(90_000).fill({}) }] },
    'messages.0.content',
  ],
  [embeddingsWire, { model: 'm', input: Array(400_000).fill({}) }, 'input'],
] as const)('a body of many wrong values is refused without looking at all of them', (wire, body, at) => {
  const asking = {} as Parameters<typeof wire.decode>[1]
  const before = process.cpuUsage()
  expect(() => wire.decode(body, asking, { params: {}, query: '' })).toThrow(new RegExp(`^${at}[.:]`))
  const { user, system } = process.cpuUsage(before)
  // Listing what is wrong with each takes ten times as long.
  expect((user + system) / 1000).toBeLessThan(150)
})
