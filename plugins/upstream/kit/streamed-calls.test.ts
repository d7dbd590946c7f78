import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Assembler } from '../../../kit/canonical/assemble.ts'
import { argumentsText, StreamedCalls } from './streamed-calls.ts'

interface Call {
  readonly id: string
  readonly name: string
  readonly json: string
}

const call = fc.record({
  name: fc.constantFrom('look', 'go'),
  json: fc.oneof(
    fc.constant('{}'),
    fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
  ),
})
const calls: fc.Arbitrary<readonly Call[]> = fc
  .array(call, { minLength: 1, maxLength: 4 })
  .map((all) => all.map((one, i) => ({ id: `call_${i}`, ...one })))

/** The parts of calls one after another, their arguments cut every so many characters. */
const partsOf = (all: readonly Call[], length: number, numberOf: (i: number) => number) =>
  all.flatMap(({ id, name, json }, i) => [
    { index: numberOf(i), id, type: 'function' as const, function: { name, arguments: '' } },
    ...(json.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? []).map((piece) => ({
      index: numberOf(i),
      function: { arguments: piece },
    })),
  ])

function assembled(parts: readonly Parameters<StreamedCalls['take']>[0][]) {
  const reader = new StreamedCalls()
  const assembler = new Assembler()
  const add = (tool_calls: readonly { readonly index: number }[]): void =>
    assembler.add({ choices: [{ index: 0, delta: { tool_calls } }] })
  for (const part of parts) add([reader.take(part)])
  add(reader.end())
  return assembler.completion().choices?.[0]?.message?.tool_calls
}

const wanted = (all: readonly Call[]) =>
  all.map(({ id, name, json }) => ({ id, type: 'function', function: { name, arguments: json } }))

describe('the calls of a stream', () => {
  it('stay what they are where they are numbered, and need not be looked at once they have begun', () => {
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 9 }), (all, length) => {
        const reader = new StreamedCalls()
        for (const part of partsOf(all, length, (i) => i)) expect(reader.take(part)).toBe(part)
        expect(reader.isWatching).toBe(false)
        expect(reader.end()).toEqual([])
      }),
    )
  })

  it('are told apart by their ids, whatever their numbers', () => {
    fc.assert(
      fc.property(calls, fc.integer({ min: 1, max: 9 }), fc.nat(3), (all, length, number) => {
        expect(assembled(partsOf(all, length, (i) => i % (number + 1)))).toEqual(wanted(all))
      }),
    )
  })

  it('of free text keep their input', () => {
    const part = { index: 0, id: 'a', type: 'custom', custom: { name: 'patch', input: 'null' } }
    const reader = new StreamedCalls()
    expect(reader.take(part)).toBe(part)
    expect(reader.end()).toEqual([])
  })
})

it.each([
  [undefined, '{}'],
  [null, '{}'],
  ['', '{}'],
  [' null\n', '{}'],
  [{}, '{}'],
  [{ a: [1] }, '{"a":[1]}'],
  ['{"a":', '{"a":'],
  ['nullable', 'nullable'],
])('arguments %j are %s', (written, text) => {
  expect(argumentsText(written)).toBe(text)
})

it.each(['', 'null', '{"a":'])('arguments %j that were cut off stay what they are', (written) => {
  expect(argumentsText(written, { isCut: true })).toBe(written)
})

it('takes each of thousands of calls in about the time of each of a few', () => {
  const took = (calls: number): number => {
    const began = performance.now()
    const reader = new StreamedCalls()
    for (let index = 0; index < calls; index += 1) {
      reader.take({ index, id: `c${index}`, function: { name: 'f', arguments: '{}' } })
      expect(reader.isWatching).toBe(false)
    }
    return performance.now() - began
  }
  took(2000)
  expect(took(60_000)).toBeLessThan(90 * took(2000) + 500)
})
