import fc from 'fast-check'
import { expect, test } from 'vitest'
import { excessOfEvent, isTooDeep } from './foreign-json.ts'
import { findExcess } from './json-bounds.ts'

const bytes = (value: unknown, indent?: number): Buffer => Buffer.from(JSON.stringify(value, null, indent))
const endless = Number.POSITIVE_INFINITY

/** The counts of a walk over the parsed value; an empty object or list counts twice. */
function extent(value: unknown): { depth: number; nodes: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, nodes: 1 }
  const inner = Object.values(value).map(extent)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    nodes: 1 + (inner.length === 0 ? 1 : inner.reduce((sum, { nodes }) => sum + nodes, 0)),
  }
}

/** Texts of all lengths with what could be taken for structure in them. */
const tricky = fc
  .array(fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', 'x'.repeat(60), 'é', ' '), {
    maxLength: 40,
  })
  .map((parts) => parts.join(''))
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    fc.oneof(tricky, fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(tricky, tie('value'), { maxKeys: 4 }),
  ),
}))

test('the bounds hold exactly, whatever texts there are and however it is written', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (given, indent) => {
      const json = bytes(given, indent)
      const { depth, nodes } = extent(given)
      expect(findExcess(json, { depth, nodes })).toBeUndefined()
      if (depth > 0) expect(findExcess(json, { depth: depth - 1, nodes: endless })).toBe('depth')
      expect(findExcess(json, { depth: endless, nodes: nodes - 1 })).toBe('nodes')
    }),
  )
})

test('whatever bytes there are, there is an answer', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (any) => {
      expect([undefined, 'depth', 'nodes']).toContain(findExcess(any, { depth: 3, nodes: 5 }))
    }),
  )
})

test('answers of providers may have a thousand levels', () => {
  const nested = (levels: number): Buffer => Buffer.from('['.repeat(levels) + ']'.repeat(levels))
  expect(isTooDeep(nested(1_000))).toBe(false)
  expect(isTooDeep(nested(1_001))).toBe(true)
  expect(isTooDeep(bytes({ text: '['.repeat(100_000) }))).toBe(false)
})

test('an event of a stream may have a quarter of a million values, and an answer any number', () => {
  const list = (values: number): Buffer => Buffer.from(`[${'0,'.repeat(values - 2)}0]`)
  expect(excessOfEvent(list(250_000))).toBeUndefined()
  expect(excessOfEvent(list(250_001))).toBe('an event of too many values')
  expect(isTooDeep(list(250_001))).toBe(false)
})
