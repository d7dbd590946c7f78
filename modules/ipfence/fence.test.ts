import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileFence, isRange } from './fence.ts'

const verdict = (lists: { allow?: string[]; deny?: string[] }, address: string) =>
  compileFence({ allow: [], deny: [], ...lists })?.(address)

test('lists that are empty fence nothing', () => {
  expect(compileFence({ allow: [], deny: [] })).toBeUndefined()
})

test.each([
  ['10.0.0.0/8', '10.255.0.1', true],
  ['10.0.0.0/8', '11.0.0.1', false],
  ['10.1.2.3', '10.1.2.3', true],
  ['10.1.2.3/8', '10.200.0.1', true],
  ['0.0.0.0/0', '203.0.113.9', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['::1', '0:0:0:0:0:0:0:1', true],
  ['10.0.0.0/8', '::ffff:10.1.2.3', true],
  ['10.0.0.0/8', '::ffff:a01:203', true],
  ['::ffff:10.0.0.0/104', '10.1.2.3', true],
  ['::ffff:10.0.0.0/104', '::ffff:11.0.0.1', false],
  ['::ffff:10.1.2.3', '10.1.2.3', true],
])('%s holds %s: %s', (range, address, holds) => {
  expect(verdict({ deny: [range] }, address)).toBe(holds ? 'deny' : undefined)
  expect(verdict({ allow: [range] }, address)).toBe(holds ? undefined : 'allow')
})

test('what is denied is out even if it is allowed', () => {
  const lists = { allow: ['10.0.0.0/8'], deny: ['10.6.6.0/24'] }
  expect(verdict(lists, '10.6.7.1')).toBeUndefined()
  expect(verdict(lists, '10.6.6.1')).toBe('deny')
  expect(verdict(lists, '192.0.2.1')).toBe('allow')
})

test('what is not an address never passes', () => {
  for (const text of ['', 'localhost', '999.1.1.1', 'unix:']) {
    expect(verdict({ deny: ['192.0.2.1'] }, text)).toBe('deny')
  }
})

test('an address is in a range exactly when their leading bits are equal', () => {
  const bits = (address: number, count: number) => (count === 0 ? 0 : address >>> (32 - count))
  const dotted = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
  const any = fc.nat({ max: 0xffffffff })
  const near = fc.tuple(any, fc.nat({ max: 31 })).map(([a, bit]) => [a, (a ^ (1 << bit)) >>> 0] as const)
  fc.assert(
    fc.property(fc.oneof(fc.tuple(any, any), near), fc.nat({ max: 32 }), ([network, address], count) => {
      const isIn = verdict({ deny: [`${dotted(network)}/${count}`] }, dotted(address)) === 'deny'
      expect(isIn).toBe(bits(network, count) === bits(address, count))
    }),
  )
})

test('a range is written in full', () => {
  expect(['10.0.0.0/8', '10.0.0.1', '::/0', 'fe80::1', '::ffff:10.0.0.1'].filter(isRange)).toHaveLength(5)
  expect(
    ['', '10', '10.0.0/8', '010.0.0.1', '10.0.0.0/33', '::/129', '10.0.0.0/', 'office', '1.2.3.4/8/8'].filter(
      isRange,
    ),
  ).toEqual([])
})
