import { expect, test } from 'vitest'
import type { LogOptions } from '../index.ts'
import { factsBy, factsByName, queuedRow, sizeOf } from './queued-row.ts'

interface Call {
  readonly id: string
  readonly at: number
}

const options = {
  id: ({ id }) => id,
  time: ({ at }) => at,
  fields: { model: () => 'gpt', even: ({ at }) => at % 2 === 0 },
  numbers: { at: ({ at }) => at, cost: () => undefined },
  rollup({ at }, add) {
    add(['all'], { calls: 1 })
    add([`at${at}`, 'every'], { at })
  },
} satisfies LogOptions<Call>
const call = { id: 'a', at: 2 }
const facts = { id: 'a', time: 2, values: ['gpt', true], numbers: [2, Number.NaN] }

test('a queued row is its text, its body, what its functions made of it and the sums in their order', () => {
  const sums = [
    [['all'], { calls: 1 }],
    [['at2', 'every'], { at: 2 }],
  ]
  const row = queuedRow(options, call, 'body')
  expect(row).toEqual({ json: '{"id":"a","at":2}', body: 'body', facts, sums, options })
  expect(queuedRow({ id: options.id, time: options.time }, call, undefined)).toMatchObject({
    body: undefined,
    facts: { values: [], numbers: [] },
    sums: [],
  })
})

test('a row that is not JSON is refused', () => {
  const given = { id: () => 'a', time: () => 1 }
  for (const row of [undefined, () => 1, Symbol('row'), 1n])
    expect(() => queuedRow<unknown>(given, row, undefined)).toThrow(TypeError)
})

test('the size of a row is that of its text and its body', () => {
  expect(sizeOf(queuedRow(options, call, 'body'))).toBe(17 + 4)
  expect(sizeOf(queuedRow(options, call, undefined))).toBe(17)
})

test('facts are made again by newer options, and not by those that made them', () => {
  const row = queuedRow(options, call, undefined)
  expect(factsBy(options, row)).toBe(row.facts)
  const newer: LogOptions<Call> = { ...options, fields: { odd: ({ at }) => at % 2 === 1 } }
  expect(factsBy(newer, row)).toEqual({ ...facts, values: [false] })
})

test('facts from elsewhere go by their names, in the order of the newer options', () => {
  const row = { ...queuedRow(options, call, undefined), isForeign: true as const }
  const newer: LogOptions<Call> = {
    id: () => 'b',
    time: () => 3,
    fields: { even: () => 'not asked', added: () => 'not asked', model: () => 'not asked' },
    numbers: { cost: () => 1, added: () => 1, at: () => 1 },
  }
  expect(factsBy(newer, row)).toEqual({
    ...facts,
    values: [true, undefined, 'gpt'],
    numbers: [Number.NaN, Number.NaN, 2],
  })
  expect(factsByName({}, options, facts)).toEqual({ ...facts, values: [], numbers: [] })
  expect(factsByName(options, {}, { ...facts, values: [], numbers: [] })).toEqual({
    ...facts,
    values: [undefined, undefined],
    numbers: [Number.NaN, Number.NaN],
  })
})
