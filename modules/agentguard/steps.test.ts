import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from '#kernel'
import { likeness, sketchOf } from './sketch.ts'
import { answeredOf, stepsOf, usesTools } from './steps.ts'

const called = (...args: string[]): Message => ({
  role: 'assistant',
  content: null,
  tool_calls: args.map((one, n) => ({
    id: `call_${n}`,
    type: 'function',
    function: { name: 'search', arguments: one },
  })),
})
const user = (content: string): Message => ({ role: 'user', content })
const result: Message = { role: 'tool', tool_call_id: 'call_0', content: 'Nothing.' }
const steps = (...messages: Message[]) => stepsOf({ model: 'm', messages })

test('steps are counted since the last message of the user, tool calls from the beginning', () => {
  const before = [user('a'), called('{}'), result, called('{}'), result]
  expect(steps(...before)).toMatchObject({ toolCalls: 2, depth: 2, repeats: 2 })
  expect(steps(...before, user('b'), called('{}'))).toMatchObject({ toolCalls: 3, depth: 1, repeats: 1 })
  expect(steps(...before).turn).not.toBe(steps(...before, user('b')).turn)
  expect(steps()).toMatchObject({ toolCalls: 0, depth: 0, repeats: 0 })
})

test('arguments are the same in any order and spacing, and in any form of call', () => {
  const of = (one: string): number => steps(user('a'), called('{"a":1,"b":[2]}'), called(one)).repeats
  expect([of('{ "b": [2], "a": 1 }'), of('{"a":1,"b":[3]}'), of('{"a":1,')]).toEqual([2, 1, 1])
  const broken = steps(user('a'), called('{"a":'), called('{"a":'))
  expect(broken.repeats).toBe(2)
  const old: Message = {
    role: 'assistant',
    content: null,
    function_call: { name: 'search', arguments: '{}' },
  }
  expect(steps(user('a'), old, called('{}')).repeats).toBe(2)
  const free = (input: string) =>
    ({ role: 'assistant', tool_calls: [{ id: 'x', custom: { name: 'shell', input } }] }) as unknown as Message
  expect(steps(user('a'), free('ls'), free('ls'), free('pwd')).repeats).toBe(2)
})

test('calls of agents offer tools, or have called some', () => {
  expect(usesTools({ model: 'm', messages: [user('a')] })).toBe(false)
  expect(usesTools({ model: 'm', tools: [] })).toBe(false)
  expect(usesTools({ model: 'm', tools: [{ type: 'function' }] })).toBe(true)
  expect(usesTools({ model: 'm', messages: [user('a'), called('{}')] })).toBe(true)
  expect(usesTools({ model: 'm', messages: [user('a'), result] })).toBe(true)
})

test('an answer adds its tool calls, or what its text is like', () => {
  const text = 'one two three four five six seven eight nine ten'
  const choice = (message: Message) => ({ choices: [{ index: 0, message, finish_reason: 'stop' as const }] })
  expect(answeredOf(choice(called('{}', '{}')))).toEqual({ tools: [expect.any(String), expect.any(String)] })
  expect(answeredOf(choice({ role: 'assistant', content: text }))).toEqual({
    tools: [],
    sketch: expect.any(Array),
  })
  expect(answeredOf(choice({ role: 'assistant', content: 'Yes.' }))).toEqual({ tools: [] })
  expect(answeredOf({})).toEqual({ tools: [] })
})

test('texts are as alike as they have sequences of words in common', () => {
  const words = fc.array(fc.stringMatching(/^[a-z]{3,8}$/), { minLength: 40, maxLength: 200 })
  fc.assert(
    fc.property(words, words, (a, b) => {
      const [one, other] = [sketchOf(a.join(' '))!, sketchOf(b.join(' '))!]
      expect(likeness(one, one)).toBe(1)
      expect(likeness(one, sketchOf(`${a.join(', ')}!`)!)).toBe(1)
      expect(likeness(one, other)).toBe(likeness(other, one))
      expect(likeness(one, other)).toBeLessThan(0.5)
    }),
  )
})
