import { describe, expect, test } from 'vitest'
import { noted, parseCollectionNote, parseEnd, parseHeader, parseLogNote } from './notes.ts'

const log = { chunkRows: 4, blockRows: 16, next: 7 }
const collection = { version: 2, indexes: ['owner'], failed: 0 }
const header = {
  block: 3,
  rows: 16,
  bodies: 2,
  minId: 'a',
  maxId: 'p',
  minTime: -1.5,
  maxTime: 10,
  fields: ['kind'],
}

const notes = {
  log: [parseLogNote, log],
  collection: [parseCollectionNote, collection],
  block: [parseHeader, header],
} as const

describe.each(Object.entries(notes))('the note of a %s', (_, [parse, note]) => {
  test('is what was written', () => {
    expect(parse(JSON.stringify(note))).toEqual(note)
  })

  test('is none without each of its fields, or with another kind of value in one', () => {
    for (const field of Object.keys(note)) {
      expect(parse(JSON.stringify({ ...note, [field]: undefined }))).toBeUndefined()
      expect(parse(JSON.stringify({ ...note, [field]: { not: 'this' } }))).toBeUndefined()
      expect(parse(JSON.stringify({ ...note, [field]: [1] }))).toBeUndefined()
    }
    for (const text of ['', 'null', '[]', '{', JSON.stringify(note).slice(0, -1)])
      expect(parse(text)).toBeUndefined()
  })
})

test('counts are whole and not negative', () => {
  for (const next of [-1, 0.5]) expect(parseLogNote(JSON.stringify({ ...log, next }))).toBeUndefined()
  expect(parseLogNote(JSON.stringify({ ...log, next: 0 }))).toEqual({ ...log, next: 0 })
  expect(parseCollectionNote(JSON.stringify({ ...collection, failed: -1 }))).toBeUndefined()
  for (const field of ['block', 'rows', 'bodies'])
    expect(parseHeader(JSON.stringify({ ...header, [field]: -1 }))).toBeUndefined()
})

test('a block of a log is one or more whole chunks of one row or more', () => {
  const format = (chunkRows: number, blockRows: number) =>
    parseLogNote(JSON.stringify({ ...log, chunkRows, blockRows })) !== undefined
  expect([format(1, 1), format(4, 4), format(4, 8)]).toEqual([true, true, true])
  expect([format(0, 4), format(4, 0), format(4, 6), format(8, 4)]).toEqual([false, false, false, false])
})

test('a block may note the numbers it indexes', () => {
  expect(parseHeader(JSON.stringify({ ...header, numbers: ['cost'] }))).toEqual({
    ...header,
    numbers: ['cost'],
  })
  expect(parseHeader(JSON.stringify({ ...header, numbers: [1] }))).toBeUndefined()
})

test('the end of a sequence is a number of up to 15 digits', () => {
  expect([parseEnd('0'), parseEnd('42'), parseEnd('9'.repeat(15))]).toEqual([0, 42, 999_999_999_999_999])
  for (const text of ['', '-1', '1.5', 'x1', '1x', ' 1', '1e3', '9'.repeat(16)])
    expect(parseEnd(text)).toBeUndefined()
})

test('a note that cannot be read is refused with its key and what mends it', () => {
  expect(noted('s/audit!n', '0', parseEnd)).toBe(0)
  expect(() => noted('s/audit!n', 'x', parseEnd)).toThrow(
    expect.objectContaining({
      code: 'STORE_DAMAGED',
      message: expect.stringMatching(/s\/audit!n.*doctor --repair/),
    }),
  )
})
