import { expect, test } from 'vitest'
import { answerTexts } from './answer-texts.ts'

test('the texts of an answer are counted once each, and nothing else', () => {
  const message = { role: 'assistant', content: 'one' } as const
  expect(answerTexts({ choices: [{ index: 0, message, finish_reason: 'stop' }] })).toEqual(['one'])
  expect(answerTexts(undefined)).toEqual([])
})
