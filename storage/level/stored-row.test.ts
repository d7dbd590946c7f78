import { expect, test } from 'vitest'
import { decodeRow, encodeRow, jsonOfVersion } from './stored-row.ts'

const entries = { owner: ['so0', 'so1'], none: [] }
const row = { text: 'two\nlines', n: 1 }

test('a row comes back with its version and its index entries', () => {
  const text = encodeRow(3, entries, row)
  expect(text.split('\n')).toEqual([JSON.stringify([3, entries]), JSON.stringify(row)])
  expect(decodeRow(text)).toEqual({ version: 3, entries, json: JSON.stringify(row) })
  expect(decodeRow('[1,{}]\nno JSON')).toEqual({ version: 1, entries: {}, json: 'no JSON' })
})

test.for([
  '',
  '\n',
  '{}\n{}',
  '[1,{}]',
  '[1,{}]x',
  '["1",{}]\n{}',
  '[1]\n{}',
  '[1,null]\n{}',
  '[1,"so0"]\n{}',
  '[1,{"owner":"so0"}]\n{}',
  '[1,{"owner":["so0"],"other":1}]\n{}',
  '{"0":1,"1":{}}\n{}',
  '[1,{"owner":\n{}',
  'null\n{}',
])('%j is no stored row', (text) => {
  expect(decodeRow(text)).toBeUndefined()
})

test('the JSON of a row is taken when its version is the one that is asked for', () => {
  const text = encodeRow(12, entries, row)
  expect(jsonOfVersion(text, 12)).toBe(JSON.stringify(row))
  for (const other of [1, 2, 120]) expect(jsonOfVersion(text, other)).toBeUndefined()
  expect(jsonOfVersion(` ${text}`, 12)).toBeUndefined()
})
