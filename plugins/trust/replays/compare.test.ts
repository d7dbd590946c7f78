import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Completion } from '#kernel'
import { compare, isJson, type MatchMethod, matchMethods, methodFor } from './compare.ts'

const said = (content: string, toolCalls: readonly [name: string, args: string][] = []): Completion => ({
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: {
        role: 'assistant',
        content,
        ...(toolCalls.length > 0 && {
          tool_calls: toolCalls.map(([name, args], i) => ({
            id: `call_${i}`,
            type: 'function' as const,
            function: { name, arguments: args },
          })),
        }),
      },
    },
  ],
})

const score = (a: Completion, b: Completion, method: MatchMethod): number => compare(a, b, method).match_score

test.each<[MatchMethod, Completion, Completion, number]>([
  ['exact', said('a b'), said('a b'), 1],
  ['exact', said('a b'), said('a  b'), 0],
  ['exact', said('', [['f', '{"a":1,"b":2}']]), said('', [['f', '{"b": 2, "a": 1}']]), 1],
  ['json', said('{"a":1,"b":[2,3]}'), said('{"b": [2, 3], "a": 1}'), 1],
  ['json', said('{"a":1,"b":2}'), said('{"a":1,"b":3}'), 1 / 2],
  ['json', said('{"a":1}'), said('```json\n{"a": 1}\n```'), 1],
  ['json', said('[1]'), said('no list'), 0],
  ['semantic', said('The sky is blue.'), said('the sky is blue'), 1],
  ['semantic', said('The sky is blue.'), said('Grass grows'), 0],
])('by %s, %j and %j are alike by their share', (method, a, b, share) => {
  expect(score(a, b, method)).toBeCloseTo(share, 4)
})

test('an answer is as much like another as the other is like it, and wholly like itself', () => {
  const content = fc.oneof(fc.string({ maxLength: 30 }), fc.json({ maxDepth: 3 }))
  const answer = content.map((text) => said(text))
  fc.assert(
    fc.property(answer, answer, fc.constantFrom(...matchMethods), (a, b, method) => {
      expect(score(a, a, method)).toBe(1)
      expect(compare(a, a, method).differences).toEqual([])
      expect(score(a, b, method)).toBe(score(b, a, method))
      expect(score(a, b, method)).toBeGreaterThanOrEqual(0)
      expect(score(a, b, method)).toBeLessThanOrEqual(1)
    }),
  )
})

test('differences have places and shapes, and nothing that was said', () => {
  const { differences } = compare(said('{"name":"Ada","n":1}'), said('{"name":"Bob","n":1}'), 'json')
  expect(differences).toEqual([
    {
      path: 'choices[0].content.name',
      before: { type: 'text', size: 3 },
      after: { type: 'text', size: 3 },
    },
  ])
  expect(JSON.stringify(differences)).not.toMatch(/Ada|Bob/)
})

test('what is JSON, or calls tools alone, is compared as JSON', () => {
  expect([said('{"a":1}'), said('', [['f', '{}']])].map(methodFor)).toEqual(['json', 'json'])
  expect([said('Hello'), said('12'), said('')].map(methodFor)).toEqual(['semantic', 'semantic', 'semantic'])
  expect(isJson({ choices: [] })).toBe(false)
})
