import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { dataOf, parseChunk } from './parse.ts'

const parsed = (data: unknown) => parseChunk(`data: ${JSON.stringify(data)}\n\n`)
const chunk = (...choices: unknown[]) => ({ id: 'c1', choices })

test.each([
  [chunk({ index: 0, delta: { content: 'a' } })],
  [chunk({ index: 0 }, { index: 1, delta: {} })],
  [chunk({ index: 0, delta: { tool_calls: null } })],
  [chunk({ index: 0, delta: { tool_calls: [] } })],
  [chunk({ index: 0, delta: { tool_calls: [{ index: 0 }, { index: 1 }] } })],
  [chunk()],
])('%j means what it says', (data) => {
  expect(parsed(data)).toEqual(data)
})

test.each([
  [{ id: 'c1' }],
  [{ choices: null }],
  [{ choices: { index: 0 } }],
  [{ error: 'x', choices: 'none' }],
])('%j has no choices', (data) => {
  expect(parsed(data)).toEqual({ ...data, choices: [] })
})

test.each([[null], [7], ['text']])('%j is an event without choices', (data) => {
  expect(parsed(data).choices).toEqual([])
})

test.each([
  [chunk(null)],
  [chunk('text')],
  [chunk(7)],
  [chunk({ index: 0 }, null)],
  [chunk({ index: 0, delta: { tool_calls: {} } })],
  [chunk({ index: 0, delta: { tool_calls: 'none' } })],
  [chunk({ index: 0, delta: { tool_calls: [null] } })],
  [chunk({ index: 0, delta: { tool_calls: ['a'] } })],
  [chunk({ index: 0, delta: { tool_calls: [{ index: 0 }, null] } })],
  [chunk({ index: 0, delta: { tool_calls: null } }, { index: 1, delta: { tool_calls: [7] } })],
])('%j is invalid', (data) => {
  expect(() => parsed(data)).toThrow(expect.objectContaining({ code: 'provider_error' }))
  expect(() => parsed(data)).toThrow('invalid event')
})

test('what is not JSON is refused with the reason', () => {
  expect(() => parseChunk('data: {"choices":\n\n')).toThrow(
    expect.objectContaining({ code: 'provider_error', cause: expect.any(SyntaxError) }),
  )
})

test('the data lines of an event are joined, whatever ends its lines and whatever else is in it', () => {
  const line = fc.constantFrom(
    'data: a',
    'data:b',
    'data:',
    'data',
    'data:  c',
    ': data: d',
    'event: e',
    '',
    'é\u2028data: f',
  )
  const ending = fc.constantFrom('\n', '\r\n')
  fc.assert(
    fc.property(fc.array(fc.tuple(line, ending), { maxLength: 8 }), fc.boolean(), (lines, isCut) => {
      const text = lines.map(([said, end]) => said + end).join('')
      const data = lines.flatMap(([said]) =>
        said.startsWith('data:') ? said.slice(5).replace(/^ /, '') : [],
      )
      const shown = dataOf(isCut ? text.replace(/[\r\n]+$/, '') : text)
      // Space behind the one line of an event that is written as nearly all are means nothing to JSON.
      expect(shown.trimEnd()).toBe(data.join('\n').trimEnd())
    }),
    runs(500),
  )
})
