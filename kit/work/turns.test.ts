import { expect, test } from 'vitest'
import { takingTurns } from './turns.ts'

test('long work lets timers run in between', async () => {
  const rest = takingTurns()
  let hasRun = false
  setTimeout(() => {
    hasRun = true
  }, 0)
  while (!hasRun) await rest()
  expect(hasRun).toBe(true)
})

test('work asks for no turn at once', () => {
  expect(takingTurns()()).toBeUndefined()
})
