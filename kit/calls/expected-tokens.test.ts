import { expect, test } from 'vitest'
import type { Call } from '#kernel'
import { expectedTokens } from './expected-tokens.ts'

test('what a call may use are its texts, tokens that it brings, and as long an answer as it asks for', () => {
  const of = (request: object, operation = 'chat') => {
    const { input, output } = expectedTokens({ operation, request } as unknown as Call)
    return input + output
  }
  const texts = of({ model: 'm', input: 'a few words' }, 'embedding')
  expect(texts).toBeGreaterThan(0)
  expect(of({ model: 'm', input: [1, 2, 3], max_tokens: 99 }, 'embedding')).toBe(3)
  expect(of({ model: 'm', input: [[1, 2], [3]] }, 'embedding')).toBe(3)
  expect(of({ model: 'm', prompt: [1, 2] }, 'completion')).toBe(2 + 256)
  expect(of({ model: 'm', prompt: 'a few words', max_tokens: 10 }, 'completion')).toBe(texts + 10)
  expect(of({ model: 'm', messages: [], max_tokens: 10, max_completion_tokens: 20, n: 3 })).toBe(60)
  expect(of({ model: 'm', prompt: [[1, 2], [3]], max_tokens: 10, best_of: 4 }, 'completion')).toBe(3 + 80)
})
