import { expect, test } from 'vitest'
import { Batches } from './batches.ts'

test('what comes together is written in batches, in its order, each with its result', async () => {
  const written: number[][] = []
  const batches = new Batches<number, string>(async (items) => {
    written.push([...items])
    return items.map((item) => `${item}`)
  })
  const results = await Promise.all(Array.from({ length: 20 }, (_, n) => batches.add(n)))
  expect(results).toEqual(Array.from({ length: 20 }, (_, n) => `${n}`))
  expect(written.flat()).toEqual(Array.from({ length: 20 }, (_, n) => n))
  expect(written.map(({ length }) => length)).toEqual([1, 8, 8, 3])
})

test('what cannot be written is refused to those of its batch alone', async () => {
  let isFull = true
  const batches = new Batches<number, number>(async (items) => {
    if (isFull) throw new Error('full')
    return items
  })
  await expect(batches.add(1)).rejects.toThrow('full')
  isFull = false
  expect(await batches.add(2)).toBe(2)
})
