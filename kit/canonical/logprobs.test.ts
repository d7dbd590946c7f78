import { expect, test } from 'vitest'
import { copyLogprobs, joinLogprobs } from './logprobs.ts'

test('what comes is added to each list, and what there is is not copied for it', () => {
  const joined = joinLogprobs({}, { content: [1], refusal: null })
  const { content } = joined
  expect(joinLogprobs(joined, { content: [2, 3], refusal: [4] })).toEqual({
    content: [1, 2, 3],
    refusal: [4],
  })
  expect(joined.content).toBe(content)
})

test('the lists that come stay as they are, and so do copies', () => {
  const first = { content: [1] }
  const joined = joinLogprobs({}, first)
  const early = copyLogprobs(joined)
  joinLogprobs(joined, { content: [2] })
  expect(first).toEqual({ content: [1] })
  expect(early).toEqual({ content: [1] })
})
