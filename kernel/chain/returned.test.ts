import { expect, test } from 'vitest'
import { HookFault } from '../../kit/work/hook-fault.ts'
import { callWith } from '../../test/chain.ts'
import { StreamReply, WholeReply } from '../call/reply.ts'
import {
  checkedBody,
  checkedFilter,
  checkedIndex,
  checkedReply,
  checkedSpans,
  checkedStep,
} from './returned.ts'

/** What hooks return is taken as it is, or a failure of theirs that says what was expected and what came. */

const run = (): undefined => undefined
const call = callWith()
const whole = WholeReply.of({ choices: [] })
const stream = new StreamReply('', (async function* () {})())

test('a step is a call of this trace, an answer, or nothing', () => {
  const next = call.with({ request: { ...call.request, user: 'u' } })
  for (const step of [call, next, whole, stream]) expect(checkedStep(step, call)).toBe(step)
  for (const step of [undefined, null]) expect(checkedStep(step, call)).toBeUndefined()
})

test.each<[unknown, string]>([
  ['yes', 'got a string'],
  [{}, 'got an object'],
  [[], 'got an array'],
  [callWith(), 'got an object'],
  [{ trace: call.trace }, 'got an object'],
  [{ trace: call.trace, request: {} }, 'got an object'],
  [{ trace: call.trace, request: { model: 7 } }, 'got an object'],
  [{ kind: 'stream' }, 'got an object'],
  [{ kind: 'stream', chunks: null }, 'got an object'],
  [{ kind: 'stream', chunks: 'text' }, 'got an object'],
  [{ kind: 'other', chunks: {} }, 'got an object'],
])('a step %# is none', (step, told) => {
  const failing = () => checkedStep(step, call)
  expect(failing).toThrow(HookFault)
  expect(failing).toThrow(`expected a call, an answer or nothing, ${told}`)
})

test('an answer is one, and nothing else is', () => {
  for (const reply of [whole, stream]) expect(checkedReply(reply)).toBe(reply)
  expect(() => checkedReply(undefined)).toThrow('expected an answer, got a undefined')
  expect(() => checkedReply(null)).toThrow('expected an answer, got null')
  expect(() => checkedReply({ kind: 'stream' })).toThrow(HookFault)
})

test('a body has a list of choices or none, and nothing leaves the one before', () => {
  const before = { choices: [] }
  for (const same of [undefined, null, before]) expect(checkedBody(same, before)).toBe(before)
  for (const body of [{}, { data: [] }, { choices: [] }, { choices: [{ index: 0 }] }])
    expect(checkedBody(body, before)).toBe(body)
  const later = Promise.resolve({ choices: [] })
  for (const odd of ['short', [], 7, later, { choices: {} }, { choices: [1] }, { choices: [{}, null] }])
    expect(() => checkedBody(odd, before)).toThrow('expected the body of an answer or nothing')
  const strange = 'strange' as never
  expect(checkedBody(strange, strange)).toBe(strange)
})

test('a filter can be pushed to, or is none', () => {
  const filter = { push: run }
  expect(checkedFilter(filter)).toBe(filter)
  for (const none of [undefined, null]) expect(checkedFilter(none)).toBeUndefined()
  for (const odd of ['filter', {}, [], { push: 'it' }, run])
    expect(() => checkedFilter(odd)).toThrow('expected a filter (push and end) or nothing')
})

test.each<[unknown, string]>([
  ['all of it', 'expected a list of findings, got a string'],
  [undefined, 'expected a list of findings, got a undefined'],
  [[null], 'expected findings with start, end and action'],
  [[{ start: 2, end: 4 }], 'expected findings with start, end and action'],
  [[{ start: 2, end: 4.5, action: 'note' }], 'expected findings with start, end and action'],
  [[{ start: 4, end: 4, action: 'note' }], 'a finding ends at 4, where it starts or before (4)'],
  [[{ start: 1, end: 4, action: 'note' }], 'a finding is at 1 to 4: expected findings between 2 and 9'],
  [[{ start: 4, end: 10, action: 'note' }], 'a finding is at 4 to 10: expected findings between 2 and 9'],
  [[{ start: 4, end: 5, action: 'replace', replacement: 7 }], 'expected a text as replacement, got a number'],
])('findings %# are none', (spans, told) => {
  const failing = () => checkedSpans(spans, 9, 2)
  expect(failing).toThrow(HookFault)
  expect(failing).toThrow(told)
})

test('findings from where it is looked to the end of the text are taken', () => {
  const spans = [
    { start: 2, end: 4, action: 'note' },
    { start: 4, end: 5, action: 'replace', replacement: '' },
    { start: 5, end: 9, action: 'block' },
  ]
  expect(checkedSpans(spans, 9, 2)).toBe(spans)
  expect(checkedSpans([], 9, 2)).toEqual([])
})

test('an index is a whole number or past all ends', () => {
  for (const index of [0, 7, -1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
    expect(checkedIndex(index)).toBe(index)
  for (const odd of [0.5, Number.NaN, 'here', undefined, null, {}])
    expect(() => checkedIndex(odd)).toThrow('expected an index')
})
