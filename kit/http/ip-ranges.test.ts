import type { IncomingMessage } from 'node:http'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clientAddress } from '../../kernel/http/client.ts'
import { IpRanges, isIpRange } from './ip-ranges.ts'

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
  expect(new IpRanges(['192.0.2.1', range]).has(address)).toBe(holds)
})

test('an address is in a range exactly when their leading bits are equal', () => {
  const bits = (address: number, count: number) => (count === 0 ? 0 : address >>> (32 - count))
  const dotted = (address: number) => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.')
  const any = fc.nat({ max: 0xffffffff })
  const near = fc.tuple(any, fc.nat({ max: 31 })).map(([a, bit]) => [a, (a ^ (1 << bit)) >>> 0] as const)
  fc.assert(
    fc.property(fc.oneof(fc.tuple(any, any), near), fc.nat({ max: 32 }), ([network, address], count) => {
      const isIn = new IpRanges([`${dotted(network)}/${count}`]).has(dotted(address))
      expect(isIn).toBe(bits(network, count) === bits(address, count))
    }),
  )
})

test('a range is written in full', () => {
  expect(['10.0.0.0/8', '10.0.0.1', '::/0', 'fe80::1', '::ffff:10.0.0.1'].filter(isIpRange)).toHaveLength(5)
  expect(
    ['', '10', '10.0.0/8', '010.0.0.1', '10.0.0.0/33', '::/129', '10.0.0.0/', 'office', '1.2.3.4/8/8'].filter(
      isIpRange,
    ),
  ).toEqual([])
})

test('what is no address lies in no range', () => {
  const all = new IpRanges(['0.0.0.0/0', '::/0'])
  expect(['', 'localhost', '999.1.1.1', 'unix:'].filter((text) => all.has(text))).toEqual([])
})

test('a client behind trusted proxies is the right-most hop that is none of them', () => {
  const from = (remoteAddress: string, forwarded?: string) =>
    ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as never as IncomingMessage
  const trusted = new IpRanges(['10.0.0.0/8', '::ffff:192.0.2.0/120'])
  const hops = '203.0.113.9, 198.51.100.7, 10.0.0.2'
  expect(clientAddress(from('::ffff:10.0.0.1', hops), trusted)).toBe('198.51.100.7')
  expect(clientAddress(from('192.0.2.77', hops), trusted)).toBe('198.51.100.7')
  expect(clientAddress(from('198.51.100.1', hops), trusted)).toBe('198.51.100.1')
  expect(clientAddress(from('10.0.0.1', 'nonsense'), trusted)).toBe('10.0.0.1')
  for (const [hop, address] of [
    ['198.51.100.7:5555', '198.51.100.7'],
    ['[2001:db8::7]:5555', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
    ['[nonsense]:1', '10.0.0.1'],
  ])
    expect(clientAddress(from('10.0.0.1', `203.0.113.1, ${hop}`), trusted)).toBe(address)
  expect(clientAddress(from('10.0.0.1', hops), new IpRanges([]))).toBe('10.0.0.1')
})
