import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Trace } from '../../../kernel/call/trace.ts'
import { Changes } from './changes.ts'
import { callArguments } from './foreign-json.ts'

const read = (json: string) => {
  const trace = new Trace()
  return { input: callArguments(json, new Changes({ trace })), changes: trace.paramsChanged }
}

test('arguments that are an object are that, whatever is in them', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
      expect(read(JSON.stringify(input))).toEqual({ input: JSON.parse(JSON.stringify(input)), changes: [] })
    }),
  )
})

test('no arguments are none', () => {
  for (const json of ['', ' \n']) expect(read(json)).toEqual({ input: {}, changes: [] })
})

test('those that were cut off count as far as they came, and the change is told', () => {
  const changes = ['messages.tool_calls.arguments']
  expect(read('{"city": "Ber')).toEqual({ input: { city: 'Ber' }, changes })
  expect(read('{"a": 1, "b": [1, 2')).toEqual({ input: { a: 1, b: [1, 2] }, changes })
})

test('what is no object is not made one', () => {
  for (const json of ['[1]', '"text"', '12', 'go there'])
    expect(read(json)).toEqual({ input: undefined, changes: [] })
})
