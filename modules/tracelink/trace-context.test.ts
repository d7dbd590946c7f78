import type { IncomingHttpHeaders } from 'node:http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { Ids } from './ids.ts'
import { joinTrace as join, traceparent } from './trace-context.ts'

const ids = new Ids()
const joinTrace = (headers: IncomingHttpHeaders, ratio: number) => join(headers, ratio, ids)

const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const parent = '00f067aa0ba902b7'

const hexOf = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).filter((id) => !/^0+$/.test(id))

test('what one gateway sends, another one joins: same trace, same flags, its span as the parent', () => {
  fc.assert(
    fc.property(hexOf(32), hexOf(16), fc.integer({ min: 0, max: 255 }), (traceId, parentId, flags) => {
      const header = `00-${traceId}-${parentId}-${flags.toString(16).padStart(2, '0')}`
      const first = joinTrace({ traceparent: header }, 0)
      expect(first).toMatchObject({ traceId, parentId, isSampled: (flags & 1) === 1 })
      const second = joinTrace({ traceparent: traceparent(first, first.spanId) }, 0)
      expect(second).toMatchObject({ traceId, parentId: first.spanId, isSampled: first.isSampled })
      expect(traceparent(first, first.spanId)).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[0-3]$/)
    }),
    runs(300),
  )
})

test('any header gives a valid trace', () => {
  const header = fc.oneof(fc.string(), fc.constant(`00-${trace}-${parent}-01`), fc.array(fc.string()))
  fc.assert(
    fc.property(header, header, (first, second) => {
      const headers = { traceparent: first as string, tracestate: second as string }
      const context = joinTrace(headers, 0.5)
      expect(traceparent(context, ids.span())).toMatch(
        /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-0[0-3]$/,
      )
      if (context.state !== undefined) expect(context.state.length).toBeLessThanOrEqual(512)
    }),
    runs(300),
  )
})

test.each([
  ['nothing', undefined],
  ['no hyphens', `00${trace}${parent}01`],
  ['capitals', `00-${trace.toUpperCase()}-${parent}-01`],
  ['a trace of zeros', `00-${'0'.repeat(32)}-${parent}-01`],
  ['a parent of zeros', `00-${trace}-${'0'.repeat(16)}-01`],
  ['version ff', `ff-${trace}-${parent}-01`],
  ['more fields than version 00 has', `00-${trace}-${parent}-01-more`],
  ['a short trace', `00-${trace.slice(1)}-${parent}-01`],
  ['flags that are no number', `00-${trace}-${parent}-0g`],
  ['a field too few', `00-${trace}-${parent}`],
  ['the header twice', `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`],
  ['something behind it', `01-${trace}-${parent}-01.what`],
])('%s begins a new trace, without the state', (_, header) => {
  const context = joinTrace({ traceparent: header, tracestate: 'a=1' }, 1)
  expect(context).toMatchObject({ parentId: undefined, isSampled: true, state: undefined })
  expect(context.traceId).not.toBe(trace)
})

test('a later version is read as far as this one goes', () => {
  expect(joinTrace({ traceparent: `cc-${trace}-${parent}-01-what-the-future-brings` }, 0)).toMatchObject({
    traceId: trace,
    parentId: parent,
    isSampled: true,
  })
})

const stateOf = (tracestate: unknown) =>
  joinTrace({ traceparent: `00-${trace}-${parent}-01`, tracestate: tracestate as string }, 0).state

test.each([
  ['as it came', 'foo=1,bar=2', 'foo=1,bar=2'],
  ['without blanks and empty entries', ' foo=1 ,,\tbar=2,', 'foo=1,bar=2'],
  ['from several headers', ['foo=1', 'bar=2'], 'foo=1,bar=2'],
  ['with tenants', 't61@rojo=00f0,a/b_c-d*e=!~', 't61@rojo=00f0,a/b_c-d*e=!~'],
])('a state is passed on %s', (_, state, expected) => {
  expect(stateOf(state)).toBe(expected)
})

test.each([
  ['an entry without a value', 'foo'],
  ['an empty value', 'foo='],
  ['a capital in a key', 'Foo=1'],
  ['a key twice', 'foo=1,foo=2'],
  ['a control character', 'foo=1\u0001'],
  ['a letter beyond ASCII', 'foo=ü'],
  ['a key that is too long', `${'z'.repeat(257)}=1`],
  ['a value that is too long', `foo=${'v'.repeat(257)}`],
  ['33 entries', Array.from({ length: 33 }, (_, n) => `k${n}=1`).join(',')],
])('a state with %s is left out, and the trace goes on', (_, state) => {
  expect(stateOf(state)).toBeUndefined()
})

test('a state that is too long loses long entries first, then the last ones', () => {
  const long = `long=${'v'.repeat(200)}`
  const short = Array.from({ length: 10 }, (_, n) => `k${n}=${'v'.repeat(60)}`)
  const state = stateOf([...short.slice(0, 2), long, ...short.slice(2)].join(','))!
  expect(state.length).toBeLessThanOrEqual(512)
  expect(state).toBe(short.slice(0, 8).join(','))
})

test('ids have their length and do not come twice', () => {
  const traces = Array.from({ length: 2000 }, () => ids.trace())
  const spans = Array.from({ length: 2000 }, () => ids.span())
  expect(traces.every((id) => /^[0-9a-f]{32}$/.test(id))).toBe(true)
  expect(spans.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true)
  expect(new Set([...traces, ...spans]).size).toBe(4000)
})
