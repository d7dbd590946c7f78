import { expect, test } from 'vitest'
import { checkedSchema, marked, valuesOf } from './checked-row.ts'

const checked = { row: { n: 1, more: 'default' }, values: { n: 1 } }

test('a row that is marked passes as the checked one, with its values, and shows no mark', () => {
  const row = marked({ n: 1 }, checked)
  expect(row).toEqual({ n: 1 })
  expect(Reflect.ownKeys(row as object).filter((key) => typeof key === 'string')).toEqual(['n'])
  expect(JSON.stringify(row)).toBe('{"n":1}')
  for (const isNeeded of [true, false]) expect(checkedSchema(isNeeded).parse(row)).toBe(checked.row)
  expect(valuesOf(row, 'n')).toBe(1)
  expect(valuesOf(checked.row, 'n')).toBe(1)
  expect(valuesOf(row, 'other')).toBeUndefined()
})

test('a row can be marked again, and then passes as the one checked last', () => {
  const row = marked({ n: 1 }, checked)
  const later = { row: { n: 2 }, values: { n: 2 } }
  expect(checkedSchema(true).parse(marked(row, later))).toBe(later.row)
  expect(valuesOf(row, 'n')).toBe(2)
})

test('what is not marked passes as it is where it cannot be marked, and there are no indexes', () => {
  for (const row of [null, 'text', 7, undefined, { n: 1 }]) {
    expect(checkedSchema(true).safeParse(row).error?.issues).toMatchObject([{ code: 'custom', path: [] }])
    expect(valuesOf(row, 'n')).toBeUndefined()
  }
  for (const row of [null, 'text', 7, undefined]) expect(checkedSchema(false).parse(row)).toBe(row)
  expect(checkedSchema(false).safeParse({ n: 1 }).success).toBe(false)
})

test('what is no object bears no mark', () => {
  for (const row of [null, 'text', undefined]) {
    expect(marked(row, { row, values: {} })).toBe(row)
    expect(checkedSchema(false).parse(row)).toBe(row)
  }
  expect(marked('text', checked)).toBe('text')
  expect(valuesOf(checked.row, 'n')).toBe(1)
})
