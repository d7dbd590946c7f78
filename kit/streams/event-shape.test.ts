import { expect, test } from 'vitest'
import { EventShape } from './event-shape.ts'

const event = (a: string, b: string): string => `event: x\ndata: {"a":"${a}","n":1,"b": "${b}"}\n\n`

test('the shape of an event is all of it but the texts of these fields', () => {
  const shape = EventShape.of(event('one', 'two'), ['a', 'b'])!
  expect(shape.with(['', '3'])).toBe(event('', '3'))
  const events = [event('é\\n', '\\"'), event('', '{}'), event('x', 'y')]
  const bytes = Buffer.from(events.join(''))
  expect(shape.textsOf(bytes)).toEqual(['é\nx', '"{}y'])
  expect(shape.split(bytes).map(String)).toEqual(events)
  expect(shape.endOf(events.join(''), events[0]!.length)).toBe(events[0]!.length + events[1]!.length)
  expect(shape.endOf(event('a', 'b').replace('"n":1', '"n":2'), 0)).toBe(-1)
  expect(() => shape.textsOf(Buffer.from(event('\\x', '')))).toThrow('not JSON')
})

test.each([
  ['a field that is missing', event('', ''), ['c']],
  ['a field that is there twice', event('', '').replace('"n":1', '"a":"x"'), ['a']],
  ['fields in another order', event('', ''), ['b', 'a']],
  ['a field that is no text', event('', ''), ['n']],
  ['a text that does not end', '{"a":"x\\"', ['a']],
  ['other characters than ASCII around', event('', '').replace('"n"', '"é"'), ['a']],
])('an event with %s has none', (_, text, fields) => {
  expect(EventShape.of(text, fields)).toBeUndefined()
})
