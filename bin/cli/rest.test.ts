import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { getHeapStatistics } from 'node:v8'
import { expect, test } from 'vitest'
import { release, releaseAtRest, savesMemory } from './rest.ts'

const heap = (): number => getHeapStatistics().total_heap_size

/** Makes the heap larger by garbage that has become old; V8 keeps the room for it. */
function load(objects = 800_000): number {
  const garbage = Array.from({ length: objects }, (_, index) => ({ index, text: [index] }))
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
  const end = releaseAtRest({ everyMs: 200, restMs: 400, loadMs: Number.POSITIVE_INFINITY })
  try {
    for (const _ of ['after the start', 'after a load']) {
      const large = load()
      await expect.poll(heap, { timeout: 25_000 }).toBeLessThan(large - 20 * 2 ** 20)
    }
  } finally {
    end()
  }
})

test('gives back what the first calls have left as soon as the process rests', async () => {
  const forever = Number.POSITIVE_INFINITY
  const end = releaseAtRest({ everyMs: 200, restMs: forever, loadMs: forever })
  try {
    for (const objects of [800_000, 200_000]) {
      const large = load(objects)
      await expect.poll(heap, { timeout: 25_000 }).toBeLessThan(large - 8 * 2 ** 20)
    }
  } finally {
    end()
  }
})

/** Collections that were asked for while a process rests that had a load. */
async function collections(loadMs: number): Promise<number> {
  let asked = 0
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as (PerformanceEntry & { detail: { flags: number } })[])
      if (entry.detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE) asked += 1
  })
  observer.observe({ entryTypes: ['gc'] })
  const end = releaseAtRest({ everyMs: 100, restMs: Number.POSITIVE_INFINITY, loadMs })
  try {
    load()
    await pause(1000)
    return asked
  } finally {
    end()
    observer.disconnect()
  }
}

test('keeps what is compiled for calls after a load, also where that was the first to come', async () => {
  expect(await collections(Number.POSITIVE_INFINITY)).toBeGreaterThan(0)
  expect(await collections(10)).toBe(0)
})

test('memory counts for more than speed only where Node was told to let the heap grow by little', () => {
  expect(savesMemory(['--max-semi-space-size=32', '--heap-growing-percent=60'])).toBe(true)
  expect(savesMemory(['--max-semi-space-size=32', '--heap-growing-percent=200'])).toBe(false)
  expect(savesMemory([])).toBe(false)
})

/** The MB of the young generation after a load before `growUnderLoad` and after one that follows it. */
const script = `
  import { getHeapSpaceStatistics } from 'node:v8'
  import { growUnderLoad } from ${JSON.stringify(new URL('./rest.ts', import.meta.url).href)}
  const load = () => {
    let kept = []
    for (let n = 0; n < 600_000; n++) kept = n % 20_000 === 0 ? [] : [...kept.slice(0, 0), { n, text: 'x' + n }]
    const garbage = Array.from({ length: 200_000 }, (_, n) => ({ n }))
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    return garbage.length && young.space_size / 2 ** 20
  }
  const before = load()
  growUnderLoad()
  // It grows in a collection that finds much alive, which one round need not have.
  let after = load()
  for (let round = 0; round < 30 && after < 32; round++) after = load()
  console.log(JSON.stringify([before, after]))`

test('with the flags of npm start the young generation grows with the first load, and not with the start', () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  const flags = String(scripts.start)
    .split(' ')
    .filter((word) => word.startsWith('--'))
  const said = execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  const [before, after] = JSON.parse(said) as [number, number]
  expect(before).toBeLessThanOrEqual(16)
  expect(after).toBeGreaterThanOrEqual(32)
})
