import { expect, test } from 'vitest'
import { openDefaults } from './request-defaults.ts'

test('defaults hold for what a request says nothing about, and a token limit has two names', () => {
  const request = { model: 'm', temperature: 0, max_tokens: 5 }
  expect(openDefaults(request, { temperature: 1, top_p: 0.5 })).toEqual({ top_p: 0.5 })
  expect(openDefaults(request, { max_completion_tokens: 9 })).toEqual({})
  expect(openDefaults({ model: 'm' }, { max_completion_tokens: 9 })).toEqual({ max_completion_tokens: 9 })
})
