import { expect, test } from 'vitest'
import { demandNames, nameFor } from './names.ts'

const violation = { name: 'trust.violation', alias: 'trust_violation' }
const fired = { name: 'alert.fired', alias: undefined }

test.each([
  [['trust.violation'], 'trust.violation'],
  [['trust_violation'], 'trust_violation'],
  [['trust_violation', 'trust.violation'], 'trust.violation'],
  [['*'], 'trust.violation'],
  [['trust.*'], 'trust.violation'],
  [['trust_*'], 'trust_violation'],
  [['TRUST_?iolation'], 'trust_violation'],
  [['trust_*', 'trust.*'], 'trust.violation'],
  [['trust_violation', '*'], 'trust.violation'],
  [['alert.*'], undefined],
  [[], undefined],
])('an event with two names goes to who subscribed to %j as %s', (events, name) => {
  expect(nameFor(violation, events)).toBe(name)
})

test('each name and glob that is taken is one under which an event goes out', () => {
  for (const event of ['trust_*', 'alert.*', '*', 'trust_violation', 'alert.fired']) {
    demandNames([event], [violation, fired])
    expect([violation, fired].some((type) => nameFor(type, [event]) !== undefined)).toBe(true)
  }
  expect(() => demandNames(['trust-*'], [violation, fired])).toThrow('there is no event trust-*')
})
