import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Assembler } from '../canonical/assemble.ts'
import type { CompletionChunk } from '../canonical/forms.ts'
import { joinChunks } from './join.ts'

const text = fc.constantFrom('a', 'b', '')
const call = fc.record({ index: fc.nat(2), function: fc.record({ arguments: text }) })
const delta = fc.record(
  {
    role: fc.constant('assistant'),
    content: fc.oneof(text, fc.constant(null)),
    refusal: fc.oneof(text, fc.constant(null)),
    tool_calls: fc.array(call, { minLength: 1, maxLength: 2 }),
  },
  { requiredKeys: [] },
)
const choice = fc.record(
  { index: fc.nat(2), delta, finish_reason: fc.constantFrom(null, null, 'stop', 'length') },
  { requiredKeys: ['index', 'delta'] },
)
const chunk = fc.record(
  {
    id: fc.constant('c1'),
    object: fc.constant('chat.completion.chunk'),
    model: fc.constantFrom('m', 'm'),
    choices: fc.array(choice, { maxLength: 3 }),
  },
  { requiredKeys: ['id', 'choices'] },
) as unknown as fc.Arbitrary<CompletionChunk>

const answer = (chunks: readonly CompletionChunk[]) => {
  const assembler = new Assembler()
  for (const one of chunks) assembler.add(one)
  return assembler.completion()
}

test('one chunk says what several say, each choice once', () => {
  fc.assert(
    fc.property(fc.array(chunk, { minLength: 1, maxLength: 5 }), (chunks) => {
      const joined = joinChunks(chunks)
      expect(answer([joined])).toEqual(answer(chunks))
      const indexes = joined.choices.map(({ index }) => index)
      expect(new Set(indexes).size).toBe(indexes.length)
    }),
  )
})

test('what was said is not changed, and the last word on how it ended holds', () => {
  const first = { id: 'c1', choices: [{ index: 0, delta: { role: 'assistant', content: 'a' } }] }
  const last = { id: 'c1', choices: [{ index: 0, delta: { content: null }, finish_reason: 'stop' }] }
  const before = structuredClone([first, last])
  const joined = joinChunks([first, last] as CompletionChunk[])
  expect(joined.choices).toEqual([
    { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: 'stop' },
  ])
  expect([first, last]).toEqual(before)
  expect(joinChunks([first, first] as CompletionChunk[]).choices[0]).toEqual({
    index: 0,
    delta: { role: 'assistant', content: 'aa' },
  })
})
