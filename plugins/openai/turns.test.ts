import { expect, test } from 'vitest'
import type { Message } from '#kernel'
import { withTurns } from './turns.ts'

function carried(messages: readonly Message[], wants: readonly string[] = []) {
  const changes: string[] = []
  const request = withTurns({ model: 'm', messages }, wants, (change) => changes.push(change))
  return { messages: request.messages, changes }
}

const call = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{}' } }

test('a provider gets the reasoning that it wants back, and not what others gave', () => {
  const said = {
    role: 'assistant' as const,
    content: 'a',
    reasoning_content: 'So.',
    reasoning_details: [{ type: 'x' }],
    tool_calls: [{ ...call, extra_content: { google: {} } }],
  }
  const plain = { role: 'assistant', content: 'a', tool_calls: [call] }
  expect(carried([said])).toEqual({
    messages: [plain],
    changes: [
      '-messages.reasoning_content',
      '-messages.reasoning_details',
      '-messages.tool_calls.extra_content',
    ],
  })
  expect(carried([said], ['reasoning_content']).messages).toEqual([{ ...plain, reasoning_content: 'So.' }])
})

test('what results of tools show follows them in one message of the user, after the last of them', () => {
  const picture = { type: 'image_url', image_url: { url: 'u' } }
  const result = (id: string, content: Message['content']): Message => ({
    role: 'tool',
    tool_call_id: id,
    content: content ?? null,
  })
  const { messages } = carried([
    result('a', [{ type: 'text', text: 'one' }, picture]),
    result('b', 'two'),
    result('c', [picture]),
    { role: 'user', content: 'And?' },
  ])
  expect(messages).toEqual([
    result('a', 'one'),
    result('b', 'two'),
    result('c', ''),
    { role: 'user', content: [picture, picture] },
    { role: 'user', content: 'And?' },
  ])
})

test('calls of custom tools stay what they are', () => {
  const custom = { id: 'c', type: 'custom', custom: { name: 'f', input: 'x' } }
  const said = { role: 'assistant', content: null, tool_calls: [custom] } as unknown as Message
  expect(carried([said])).toEqual({ messages: [said], changes: [] })
})

test('a file that is only named by its address is refused', () => {
  const file = { type: 'file', file: { file_url: 'https://example.com/a.pdf' } }
  expect(() => carried([{ role: 'user', content: [file] }])).toThrow(/send the file itself/)
})
