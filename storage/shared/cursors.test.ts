import { expect, test } from 'vitest'
import { Cursors } from './cursors.ts'

/** As many numbers as are asked for, and whether their reading was ended. */
function counted(length: number) {
  const reading = { ended: false }
  const items = (async function* () {
    try {
      for (let n = 0; n < length; n++) yield n
    } finally {
      reading.ended = true
    }
  })()
  return { items, reading }
}

test('a listing comes in batches of a hundred, to its end', async () => {
  const cursors = new Cursors()
  const first = await cursors.open(counted(201).items)
  expect(first).toMatchObject({ isOver: false })
  expect(first.items).toEqual(Array.from({ length: 100 }, (_, n) => n))
  const second = await cursors.more(first.cursor)
  expect([second.items.length, second.items[0], second.isOver]).toEqual([100, 100, false])
  const third = await cursors.more(first.cursor)
  expect(third).toEqual({ cursor: first.cursor, items: [200], isOver: true })
  expect(await cursors.more(first.cursor)).toEqual({ cursor: first.cursor, items: [], isOver: true })
})

test('listings that are read at the same time are told apart', async () => {
  const cursors = new Cursors()
  const [one, two] = [await cursors.open(counted(150).items), await cursors.open(counted(120).items)]
  expect((await cursors.more(one.cursor)).items).toHaveLength(50)
  expect((await cursors.more(two.cursor)).items).toHaveLength(20)
})

test('a listing that is closed reads no more', async () => {
  const cursors = new Cursors()
  const [one, two, three] = [counted(150), counted(150), counted(150)]
  const { cursor } = await cursors.open(one.items)
  await cursors.open(two.items)
  await cursors.open(three.items)
  await cursors.close(cursor)
  expect([one.reading.ended, two.reading.ended]).toEqual([true, false])
  expect(await cursors.more(cursor)).toEqual({ cursor, items: [], isOver: true })
  await cursors.close(cursor)
  await cursors.closeAll()
  expect([two.reading.ended, three.reading.ended]).toEqual([true, true])
})

test('a listing that fails says so once, and is closed', async () => {
  const cursors = new Cursors()
  const failing = cursors.open(
    (async function* () {
      yield 1
      throw new Error('out of order')
    })(),
  )
  await expect(failing).rejects.toThrow('out of order')
  expect(await cursors.more(1)).toEqual({ cursor: 1, items: [], isOver: true })
})

test('a listing that cannot be ended early is closed all the same', async () => {
  const cursors = new Cursors()
  const endless: AsyncIterable<number> = {
    [Symbol.asyncIterator]: () => ({ next: async () => ({ done: false, value: 1 }) }),
  }
  const { cursor } = await cursors.open(endless)
  await cursors.close(cursor)
  expect((await cursors.more(cursor)).isOver).toBe(true)
})

test('a listing that has ended, or has failed, is not ended once more', async () => {
  const cursors = new Cursors()
  const ended: string[] = []
  const listing = (name: string, next: () => Promise<IteratorResult<unknown>>): AsyncIterable<unknown> => ({
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        ended.push(name)
        return { done: true, value: undefined }
      },
    }),
  })
  await cursors.open(listing('over', async () => ({ done: true, value: undefined })))
  await cursors.open(listing('failed', () => Promise.reject(new Error('out of order')))).catch(() => {})
  await cursors.open(listing('read', async () => ({ done: false, value: 1 })))
  await cursors.closeAll()
  expect(ended).toEqual(['read'])
})
