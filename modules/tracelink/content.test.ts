import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '#kernel'
import { runs } from '../../test/suite/runs.ts'
import { inputMessages, outputMessages } from './content.ts'

const parsed = (json: string | undefined) => JSON.parse(json!)

test('a conversation with tools and images is described by its parts, without the images', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,SECRETPIXELS' } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'A cat.' },
  ] satisfies Message[]
  const json = inputMessages({ model: 'gpt-4o', messages })
  expect(parsed(json)).toEqual([
    { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
    { role: 'user', parts: [{ type: 'text', content: 'What is this?' }, { type: 'image_url' }] },
    {
      role: 'assistant',
      parts: [{ type: 'tool_call', id: 'call_1', name: 'look', arguments: '{"at":1}' }],
    },
    { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_1', response: 'A cat.' }] },
  ])
  expect(json).not.toContain('SECRETPIXELS')
})

test('prompts and inputs are a message each, and tokens are none', () => {
  const user = (content: string) => ({ role: 'user', parts: [{ type: 'text', content }] })
  expect(parsed(inputMessages({ model: 'm', prompt: 'Once' }))).toEqual([user('Once')])
  expect(parsed(inputMessages({ model: 'm', input: ['a', 'b'] }))).toEqual([user('a'), user('b')])
  expect(inputMessages({ model: 'm', input: [1, 2, 3] })).toBeUndefined()
})

test('an answer has its reasoning, refusal and reason for its end', () => {
  const choices = [
    {
      index: 0,
      message: { role: 'assistant' as const, content: 'Hi', reasoning_content: 'Hm', refusal: 'No' },
      finish_reason: 'stop' as const,
    },
    { index: 1, text: 'legacy', finish_reason: null },
  ]
  expect(parsed(outputMessages({ choices }))).toEqual([
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', content: 'Hm' },
        { type: 'text', content: 'Hi' },
        { type: 'text', content: 'No' },
      ],
      finish_reason: 'stop',
    },
    { role: 'assistant', parts: [{ type: 'text', content: 'legacy' }] },
  ])
  expect(outputMessages({ choices: [] })).toBeUndefined()
})

test('however much is said, what a span gets is bounded, and can be parsed', () => {
  const text = fc.oneof(
    fc.string(),
    fc.nat(50_000).map((length) => 'x'.repeat(length)),
  )
  const message = fc.record({
    role: fc.constantFrom('user' as const, 'tool' as const, 'assistant' as const),
    content: fc.oneof(text, fc.array(fc.record({ type: text, text }), { maxLength: 50 })),
    tool_call_id: text,
    tool_calls: fc.array(
      fc.record({
        id: text,
        type: fc.constant('function' as const),
        function: fc.record({ name: text, arguments: text }),
      }),
      { maxLength: 5 },
    ),
  })
  fc.assert(
    fc.property(fc.array(message, { maxLength: 300 }), (messages) => {
      const texts = JSON.stringify(parsed(inputMessages({ model: 'm', messages })))
      // An escape takes up to six characters.
      expect(texts.length).toBeLessThanOrEqual(6 * 32_768 + 1000)
    }),
    runs(50),
  )
  const many = Array.from({ length: 100_000 }, () => ({ role: 'user' as const, content: '' }))
  expect(inputMessages({ model: 'm', messages: many })!.length).toBeLessThan(64_000)
})
