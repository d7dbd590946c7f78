import { expect, test } from 'vitest'
import { collect } from '../conformance/harness.ts'
import { Gate } from './gate.ts'
import { readingOn } from './reading-on.ts'

const failure = (code?: string) => Object.assign(new Error('an error of the database'), code && { code })

const breaking = (error: unknown): AsyncIterable<number> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }),
})

async function* numbers(): AsyncGenerator<number> {
  yield* [1, 2, 3]
}

test('items are given one by one, as they come', async () => {
  expect(await collect(readingOn(new Gate(), numbers()))).toEqual([1, 2, 3])
})

test('reading ends when the gate is closed in between', async () => {
  const gate = new Gate()
  const items = readingOn(gate, numbers())
  expect(await items.next()).toEqual({ done: false, value: 1 })
  await gate.close()
  await expect(items.next()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})

test.for(['LEVEL_DATABASE_NOT_OPEN', 'LEVEL_ITERATOR_NOT_OPEN', 'LEVEL_SNAPSHOT_NOT_OPEN'])(
  '%s says that the store was closed, or that it was opened again',
  async (code) => {
    const again = failure(code)
    await expect(collect(readingOn(new Gate(), breaking(again)))).rejects.toMatchObject({
      code: 'STORE_FAILED',
      message: expect.stringContaining('Ask again'),
      cause: again,
    })
    const gate = new Gate()
    const isClosed = gate.close()
    await expect(collect(readingOn(gate, breaking(again)))).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await isClosed
  },
)

test('damage is told as damage, and other errors as they are', async () => {
  const read = (error: unknown) => collect(readingOn(new Gate(), breaking(error)))
  await expect(read(failure('LEVEL_CORRUPTION'))).rejects.toMatchObject({ code: 'STORE_DAMAGED' })
  for (const error of [failure(), failure('LEVEL_LOCKED'), 'no error', { code: 'LEVEL_DATABASE_NOT_OPEN' }])
    await expect(read(error)).rejects.toBe(error)
})
