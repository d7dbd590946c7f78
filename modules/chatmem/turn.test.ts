import { expect, test } from 'vitest'
import type { Completion, Message } from '#kernel'
import { hasHistory, turnOf } from './turn.ts'

const asking = (...messages: Message[]): Message[] => messages
const answering = (content: string | null, finish_reason = 'stop'): Completion =>
  ({ choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }] }) as Completion

test('a turn is what the user said last, without instructions and history, and the answer', () => {
  const request = asking(
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'Before' },
    { role: 'assistant', content: 'Yes' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image_url', image_url: {} },
      ],
    },
    { role: 'user', content: 'and tell me' },
  )
  expect(turnOf(request, answering('A cat.'))).toEqual({ user: 'Look\n\nand tell me', assistant: 'A cat.' })
})

test('with tools the turn is what led to them and the words at their end', () => {
  const call = { id: 'call_1', type: 'function' as const, function: { name: 'look', arguments: '{}' } }
  const request = asking(
    { role: 'user', content: 'Look it up' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: 'secret result' },
  )
  expect(turnOf(request, answering('Found.'))).toEqual({ user: 'Look it up', assistant: 'Found.' })
})

test.each([
  ['no text is answered', answering(null)],
  ['an answer was filtered', answering('Half', 'content_filter')],
  ['an answer calls tools', answering('Let me see', 'tool_calls')],
  ['there is no answer', { choices: [] }],
])('nothing is remembered where %s', (_, body) => {
  expect(turnOf(asking({ role: 'user', content: 'Hello' }), body)).toBeUndefined()
})

test('what is very long is cut, and no character halved', () => {
  const said = turnOf(asking({ role: 'user', content: `${'x'.repeat(7999)}😀` }), answering('Yes.'))
  expect(said?.user).toBe('x'.repeat(7999))
})

test.each([
  [
    [
      { role: 'system', content: 'a' },
      { role: 'user', content: 'b' },
    ],
    false,
  ],
  [
    [
      { role: 'user', content: 'b' },
      { role: 'assistant', content: 'c' },
    ],
    true,
  ],
  [[{ role: 'tool', content: 'b', tool_call_id: 'x' }], true],
] as [Message[], boolean][])('a history is told by answers and results', (messages, is) => {
  expect(hasHistory(asking(...messages))).toBe(is)
})
