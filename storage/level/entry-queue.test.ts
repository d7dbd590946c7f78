import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { EntryQueue, type Make } from './entry-queue.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const flushMs = 100
const entry =
  (name: string): Make<string> =>
  () =>
    name

/** A queue, what it writes in each turn, and a disk that may take less than it is given, or nothing. */
function opened() {
  const disk = {
    slices: [] as string[][],
    isOpen: true,
    refusal: undefined as Error | undefined,
    most: Number.POSITIVE_INFINITY,
    writing: 0,
    syncs: 0,
    failures: [] as unknown[],
  }
  const queue = new EntryQueue<string>({
    flushMs,
    async write(makes) {
      disk.writing += 1
      expect(disk.writing).toBe(1)
      await Promise.resolve()
      disk.writing -= 1
      if (disk.refusal) throw disk.refusal
      const taken = makes.slice(0, disk.most)
      disk.slices.push(taken.map((make) => make(undefined, 0)))
      return taken.length
    },
    async written() {
      disk.syncs += 1
    },
    isOpen: () => disk.isOpen,
    failed: (error) => disk.failures.push(error),
  })
  const push = (...names: string[]): boolean[] => names.map((name) => queue.push(entry(name)))
  return { queue, disk, push }
}

test('entries wait for more of their kind, are written together and then synced, again and again', async () => {
  const { queue, disk, push } = opened()
  expect(push('a')).toEqual([true])
  await vi.advanceTimersByTimeAsync(flushMs - 1)
  push('b')
  expect([disk.slices, queue.status]).toEqual([[], { depth: 2, dropped: 0 }])
  await vi.advanceTimersByTimeAsync(1)
  expect([disk.slices, disk.syncs, queue.status]).toEqual([[['a', 'b']], 1, { depth: 0, dropped: 0 }])
  push('c')
  await vi.advanceTimersByTimeAsync(flushMs)
  expect([disk.slices, disk.syncs]).toEqual([[['a', 'b'], ['c']], 2])
  expect([vi.getTimerCount(), disk.failures]).toEqual([0, []])
})

test('draining ends with what was pushed before it, and writes a bounded number at once', async () => {
  const { queue, disk, push } = opened()
  const names = Array.from({ length: 1001 }, (_, n) => `e${n}`)
  push(...names)
  const drained = [queue.drain(), queue.drain()]
  const late = Array.from({ length: 600 }, (_, n) => `late${n}`)
  push(...late)
  await Promise.all(drained)
  expect(disk.slices.map(({ length }) => length)).toEqual([500, 500, 500])
  expect(queue.status.depth).toBe(101)
  await queue.drain()
  await queue.drain()
  expect(disk.slices.flat()).toEqual([...names, ...late])
  expect(disk.slices).toHaveLength(4)
})

test('what is left of a write comes before what was pushed meanwhile', async () => {
  const { queue, disk, push } = opened()
  disk.most = 2
  push('a', 'b', 'c')
  const drained = queue.drain()
  push('d')
  await drained
  expect(disk.slices).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
})

test('entries that are refused wait in their order, are told of each time and are tried again', async () => {
  const { queue, disk, push } = opened()
  disk.refusal = new Error('full')
  push('a', 'b')
  await vi.advanceTimersByTimeAsync(flushMs)
  expect([disk.failures, queue.status]).toEqual([[disk.refusal], { depth: 2, dropped: 0 }])
  push('c')
  await vi.advanceTimersByTimeAsync(999)
  expect(disk.failures).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  expect([disk.failures.length, disk.syncs]).toEqual([2, 0])
  disk.refusal = undefined
  await vi.advanceTimersByTimeAsync(1000)
  expect([disk.slices, disk.syncs, vi.getTimerCount()]).toEqual([[['a', 'b', 'c']], 1, 0])
})

test('a drain that is refused rejects, and the next one tries again', async () => {
  const { queue, disk, push } = opened()
  disk.refusal = new Error('full')
  push('a')
  await expect(queue.drain()).rejects.toBe(disk.refusal)
  disk.refusal = undefined
  await queue.drain()
  expect([disk.slices, disk.failures]).toEqual([[['a']], []])
})

test('a closed queue takes nothing, and neither tells nor tries again what is refused', async () => {
  const { queue, disk, push } = opened()
  push('a')
  disk.isOpen = false
  disk.refusal = new Error('closed')
  expect(push('b')).toEqual([false])
  await vi.advanceTimersByTimeAsync(flushMs)
  expect([disk.failures, vi.getTimerCount()]).toEqual([[], 0])
  expect(queue.status).toEqual({ depth: 1, dropped: 1 })
})

test('a queue at rest writes what waits when it is asked, and not by itself', async () => {
  const { queue, disk, push } = opened()
  push('a')
  queue.rest()
  expect(vi.getTimerCount()).toBe(0)
  await queue.drain()
  expect(disk.slices).toEqual([['a']])
  push('b')
  await vi.advanceTimersByTimeAsync(flushMs)
  expect(disk.slices).toEqual([['a'], ['b']])
})

test('a queue has room for fifty thousand entries, and counts those that it drops', async () => {
  const { queue, push } = opened()
  const make = entry('a')
  for (let n = 1; n < 50_000; n++) queue.push(make)
  expect(push('last', 'too many', 'too many')).toEqual([true, false, false])
  queue.drop()
  expect(queue.status).toEqual({ depth: 50_000, dropped: 3 })
  await queue.drain()
  expect(push('room again')).toEqual([true])
  queue.rest()
})
