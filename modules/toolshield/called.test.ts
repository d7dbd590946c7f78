import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '#kernel'
import { argumentsOf, calledIn } from './called.ts'

const given = (text: string) => ({ name: 'f', given: text, isText: false })

test('calls are read in all their forms', () => {
  const message = {
    role: 'assistant',
    tool_calls: [
      { id: '1', type: 'function', function: { name: 'a', arguments: '{}' } },
      { id: '2', type: 'custom', custom: { name: 'b', input: 'ls' } },
    ],
    function_call: { name: 'c', arguments: '{"x":1}' },
  } as unknown as Message
  const called = calledIn(message)
  expect(called.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
  expect(called.map(argumentsOf)).toEqual([{}, { input: 'ls' }, { x: 1 }])
})

test('arguments of any kind are read as they stand', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      expect(argumentsOf(given(text))).toEqual(JSON.parse(text))
    }),
  )
})

test.each(['{"path":"a","path":"/etc"}', '{"a":{"b:":1,"b:":2}}', '[1]', '"a"', 'null', '{"a":', '{} {}'])(
  '%s is not one JSON object',
  (text) => expect(() => argumentsOf(given(text))).toThrow(SyntaxError),
)

test('a tool without arguments may be called with none', () => expect(argumentsOf(given(' '))).toEqual({}))
