import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Message } from '#kernel'
import { toolIdsOf } from './tool-ids.ts'

const id = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.string({ unit: fc.constantFrom('a', 'B', '1'), minLength: 9, maxLength: 9 }),
)

const conversation = (ids: readonly string[]): Message[] => [
  { role: 'user', content: 'hi' },
  {
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
  },
  ...ids.map((id): Message => ({ role: 'tool', tool_call_id: id, content: 'x' })),
]

const adapted = (ids: readonly string[]) => {
  const messages = conversation(ids)
  const change = toolIdsOf(messages, { length: 9, exact: true })
  const [, assistant, ...results] = change ? messages.map(change) : messages
  return {
    calls: assistant!.tool_calls!.map((call) => call.id),
    results: results.map(({ tool_call_id }) => tool_call_id),
  }
}

it('every id fits, a result still belongs to its call, and different calls stay different', () => {
  fc.assert(
    fc.property(fc.uniqueArray(id, { minLength: 1, maxLength: 8 }), (ids) => {
      const { calls, results } = adapted(ids)
      for (const call of calls) expect(call).toMatch(/^[A-Za-z0-9]{9}$/)
      expect(results).toEqual(calls)
      expect(new Set(calls).size).toBe(ids.length)
    }),
  )
})

it('an id that fits stays, and one that does not becomes the same at every turn', () => {
  expect(adapted(['abc123XYZ', 'call_1']).calls[0]).toBe('abc123XYZ')
  expect(adapted(['call_1']).calls[0]).toBe(adapted(['abc123XYZ', 'call_1']).calls[1])
  expect(toolIdsOf(conversation(['abc123XYZ']), { length: 9, exact: true })).toBeUndefined()
})

it('an id whose digest is somebody’s id already gets another', () => {
  const [digest] = adapted(['call_1']).calls
  const { calls } = adapted(['call_1', digest!])
  expect(calls[1]).toBe(digest)
  expect(calls[0]).not.toBe(digest)
})
