import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ModelRequest } from '#kernel'
import { compileGlobs } from '#kit'
import { families } from './families.ts'
import { normalise } from './normalise.ts'

const of = (model: string) => families.filter((family) => compileGlobs(family.models)(model))
const messages = [{ role: 'user' as const, content: 'hi' }]

/** Model, what is asked, what the model gets, what is said of it. */
const table: [model: string, asked: object, sent: object, changes: string[]][] = [
  ['gpt-4o', { max_tokens: 5, temperature: 0 }, { max_tokens: 5, temperature: 0 }, []],
  ['gpt-4o', { max_completion_tokens: 5 }, { max_completion_tokens: 5 }, []],
  ['gpt-4o', { stop: ['a', 'b', 'c', 'd', 'e'] }, { stop: ['a', 'b', 'c', 'd'] }, ['stop']],
  ['o1', { max_tokens: 5 }, { max_completion_tokens: 5 }, ['max_tokens->max_completion_tokens']],
  ['o1', { max_tokens: 5, max_completion_tokens: 7 }, { max_completion_tokens: 7 }, ['-max_tokens']],
  ['o3-mini', { temperature: 1, top_p: 1 }, { temperature: 1, top_p: 1 }, []],
  ['o3-mini', { temperature: 0.5 }, {}, ['-temperature']],
  ['o3', { stop: 'x', logprobs: true }, {}, ['-logprobs', '-stop']],
  ['gpt-5-mini', { presence_penalty: 0.5 }, {}, ['-presence_penalty']],
  [
    'deepseek-reasoner',
    { temperature: 0.5, max_completion_tokens: 3 },
    { max_tokens: 3 },
    ['max_completion_tokens->max_tokens', '-temperature'],
  ],
  [
    'claude-sonnet-4',
    { max_completion_tokens: 3, logit_bias: {} },
    { max_tokens: 3 },
    ['max_completion_tokens->max_tokens', '-logit_bias'],
  ],
  ['gemini-2.5-pro', { stop: ['1', '2', '3', '4', '5', '6'] }, { stop: ['1', '2', '3', '4', '5'] }, ['stop']],
  ['anything', { tool_choice: 'any' }, { tool_choice: 'required' }, ['tool_choice']],
  [
    'anything',
    { tool_choice: { type: 'tool', name: 'f' } },
    { tool_choice: { type: 'function', function: { name: 'f' } } },
    ['tool_choice'],
  ],
  [
    'anything',
    { tool_choice: { type: 'function', function: { name: 'f' } } },
    { tool_choice: { type: 'function', function: { name: 'f' } } },
    [],
  ],
  [
    'anything',
    { response_format: { type: 'json' } },
    { response_format: { type: 'json_object' } },
    ['response_format'],
  ],
  [
    'anything',
    { response_format: { type: 'json_schema', name: 'p', schema: { type: 'object' }, strict: true } },
    {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'p', schema: { type: 'object' }, strict: true },
      },
    },
    ['response_format'],
  ],
]

test.each(table)('%s %j', (model, asked, sent, changes) => {
  const result = normalise({ model, messages, ...asked } as ModelRequest, of(model))
  expect(result.request).toEqual({ model, messages, ...sent })
  expect(result.changes).toEqual(changes)
})

describe('roles', () => {
  const roles = (model: string, ...asked: string[]) => {
    const request = { model, messages: asked.map((role) => ({ role, content: 'x' })) } as ModelRequest
    return normalise(request, of(model)).request.messages!.map(({ role }) => role)
  }

  test('are those of the model', () => {
    expect(roles('o1', 'system', 'user')).toEqual(['developer', 'user'])
    expect(roles('mistral-large', 'developer', 'user')).toEqual(['system', 'user'])
    expect(roles('gpt-4o', 'developer', 'system', 'user')).toEqual(['developer', 'system', 'user'])
  })
})

test('doing it twice changes nothing more, and the original is left alone', () => {
  const models = fc.constantFrom(
    'o1',
    'o3-mini',
    'gpt-4o',
    'gpt-5',
    'claude-x',
    'gemini-x',
    'deepseek-reasoner',
    'other',
  )
  const fields = fc.record(
    {
      max_tokens: fc.nat(),
      max_completion_tokens: fc.nat(),
      temperature: fc.double({ noNaN: true }),
      top_p: fc.constantFrom(0.5, 1),
      stop: fc.array(fc.string(), { maxLength: 8 }),
      logprobs: fc.boolean(),
      tool_choice: fc.constantFrom('any', 'auto', { type: 'tool', name: 'f' }),
      response_format: fc.constantFrom(
        { type: 'json' },
        { type: 'text' },
        { type: 'json_schema', schema: {} },
      ),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(models, fields, (model, asked) => {
      const request = { model, messages, ...asked } as ModelRequest
      const before = structuredClone(request)
      const once = normalise(request, of(model))
      expect(request).toEqual(before)
      const twice = normalise(once.request, of(model))
      expect(twice.changes).toEqual([])
      expect(twice.request).toBe(once.request)
    }),
  )
})
