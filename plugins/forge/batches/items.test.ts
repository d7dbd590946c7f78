import { afterAll, expect, test } from 'vitest'
import { Schemas } from '#kit'
import { letsOthersIn } from '../../../test/lets-others-in.ts'
import { checkedItems, linesOf } from './items.ts'

const schemas = new Schemas()
afterAll(() => schemas.close())

const chat = '{"model": "m", "messages": [{"role": "user", "content": "Hello"}]}'

test('others have their turn while the lines of a long file are read and checked', async () => {
  const file = Buffer.from(`${chat}\n`.repeat(100_000))
  expect(await letsOthersIn(linesOf(file, 100_000))).toBe(true)
  const demands = {
    type: 'chat',
    model: undefined,
    schema: undefined,
    schemas,
    mostItems: 100_000,
    mostBytes: 1000,
    nameOf: (index: number) => `line ${index + 1}`,
  } as const
  const checking = checkedItems(await linesOf(file, 100_000), demands)
  expect(await letsOthersIn(checking)).toBe(true)
  expect(await checking).toHaveLength(100_000)
})

test('white space counts for nothing, and the number of a line for all before it', async () => {
  const file = Buffer.from(`\n \t\n\r\n${chat}\r\n\n  ${chat}\n${'\n'.repeat(1_000_000)}{`)
  await expect(linesOf(file, 10)).rejects.toMatchObject({ status: 400, param: 'line 1000007' })
  expect(await linesOf(file.subarray(0, -1), 10)).toEqual([JSON.parse(chat), JSON.parse(chat)])
})

test.each([
  ['more than 100000 values', `{"messages": [${'1,'.repeat(100_000)}1]}`],
  ['more than 128 levels deep', '['.repeat(200) + ']'.repeat(200)],
])('a line with %s is refused before it is read', async (what, line) => {
  const refusal = { status: 400, param: 'line 2', message: expect.stringContaining(what) }
  await expect(linesOf(Buffer.from(`${chat}\n${line}`), 10)).rejects.toMatchObject(refusal)
})
