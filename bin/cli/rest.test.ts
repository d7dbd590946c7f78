import { getHeapStatistics } from 'node:v8'
import { expect, test } from 'vitest'
import { release, releaseAtRest, savesMemory } from './rest.ts'

const heap = (): number => getHeapStatistics().total_heap_size

/** Makes the heap larger by garbage that has become old; V8 keeps the room for it. */
function load(): number {
  const garbage = Array.from({ length: 500_000 }, (_, index) => ({ index, text: [index] }))
  return garbage.length && heap()
}

test('gives the room of garbage back', () => {
  release()
  const small = heap()
  const large = load()
  expect(large).toBeGreaterThan(small + 20 * 2 ** 20)
  release()
  expect(heap()).toBeLessThan(small + 10 * 2 ** 20)
})

test('does so when the process rests, and again after another load and a longer rest', async () => {
  const end = releaseAtRest({ everyMs: 200, restMs: 400 })
  try {
    for (const _ of ['after the start', 'after a load']) {
      const large = load()
      await expect.poll(heap, { timeout: 25_000 }).toBeLessThan(large - 20 * 2 ** 20)
    }
  } finally {
    end()
  }
})

test('memory counts for more than speed only where Node was told to let the heap grow by little', () => {
  expect(savesMemory(['--max-semi-space-size=32', '--heap-growing-percent=60'])).toBe(true)
  expect(savesMemory(['--max-semi-space-size=32', '--heap-growing-percent=200'])).toBe(false)
  expect(savesMemory([])).toBe(false)
})
