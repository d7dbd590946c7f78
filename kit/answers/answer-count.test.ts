import { expect, test } from 'vitest'
import { answerCount } from './answer-count.ts'

test.each<[request: object, answers: number]>([
  [{ messages: [] }, 1],
  [{ messages: [], n: 3 }, 3],
  [{ messages: [], n: null }, 1],
  [{ prompt: 'one', best_of: 5 }, 5],
  [{ prompt: 'one', n: 2, best_of: 5 }, 5],
  [{ prompt: 'one', n: 2, best_of: null }, 2],
  [{ prompt: ['one', 'two', 'three'] }, 3],
  [{ prompt: ['one', 'two', 'three'], n: 2, best_of: 4 }, 12],
  [{ prompt: [1, 2, 3] }, 1],
  [{ prompt: [[1, 2, 3], [4]], n: 2 }, 4],
  [{ prompt: [], n: 2 }, 2],
])('%j makes %i answers', (request, answers) => {
  expect(answerCount({ model: 'm', ...request })).toBe(answers)
})
