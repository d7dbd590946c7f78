import { expect, test } from 'vitest'
import { StartPace } from './start-pace.ts'

test('the first begins at once, and the others in their order, no two in one moment', async () => {
  const pace = new StartPace(5)
  expect(pace.turn()).toBeUndefined()
  const began: { readonly n: number; readonly at: number }[] = []
  const start = performance.now()
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      await pace.turn()
      began.push({ n, at: performance.now() - start })
    }),
  )
  expect(began.map(({ n }) => n)).toEqual(Array.from({ length: 20 }, (_, n) => n))
  // Timers count whole milliseconds, and may be late, never early.
  for (const { n, at } of began) expect(at).toBeGreaterThan(5 * n - 2)
})

test('after a pause one begins at once again', async () => {
  const pace = new StartPace(1)
  expect(pace.turn()).toBeUndefined()
  await new Promise((done) => setTimeout(done, 5))
  expect(pace.turn()).toBeUndefined()
})
