import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  abstain,
  admit,
  type Circuit,
  type CircuitRules,
  fail,
  newCircuit,
  stateOf,
  succeed,
} from './circuit.ts'

const rules: CircuitRules = { threshold: 3, windowMs: 1000, openMs: 500 }

function opened(at = 0): Circuit {
  const circuit = newCircuit()
  for (let n = 0; n < rules.threshold; n += 1) fail(circuit, rules, at)
  return circuit
}

test('it opens with the failure that makes the number full', () => {
  const circuit = newCircuit()
  expect([0, 1, 2].map((now) => fail(circuit, rules, now))).toEqual([false, false, true])
  expect(stateOf(circuit, 2)).toBe('open')
  expect(admit(circuit, rules, 2)).toBe(500)
  expect(admit(circuit, rules, 402)).toBe(100)
})

test('failures outside the window do not count', () => {
  const circuit = newCircuit()
  expect([0, 600, 1200, 1800].map((now) => fail(circuit, rules, now))).toEqual([false, false, false, false])
  expect(fail(circuit, rules, 1801)).toBe(true)
})

test('an answer starts the count anew', () => {
  const circuit = newCircuit()
  fail(circuit, rules, 0)
  fail(circuit, rules, 1)
  expect(succeed(circuit)).toBe(false)
  expect([2, 3].map((now) => fail(circuit, rules, now))).toEqual([false, false])
  expect(stateOf(circuit, 3)).toBe('closed')
})

test('when its time is over one call may pass, and only one', () => {
  const circuit = opened()
  expect(stateOf(circuit, 500)).toBe('half_open')
  expect(admit(circuit, rules, 500)).toBe(0)
  expect(admit(circuit, rules, 500)).toBeGreaterThan(0)
  expect(stateOf(circuit, 501)).toBe('half_open')
})

test('the probe decides: an answer closes it, a failure opens it for as long again', () => {
  const good = opened()
  admit(good, rules, 500)
  expect(succeed(good)).toBe(true)
  expect([stateOf(good, 501), admit(good, rules, 501)]).toEqual(['closed', 0])

  const bad = opened()
  admit(bad, rules, 500)
  expect(fail(bad, rules, 600)).toBe(false)
  expect([stateOf(bad, 601), admit(bad, rules, 601)]).toEqual(['open', 499])
})

test('a probe that showed nothing lets the next call probe at once', () => {
  const circuit = opened()
  admit(circuit, rules, 500)
  abstain(circuit, 510)
  expect(admit(circuit, rules, 510)).toBe(0)
})

test('a probe that is never heard of is given up', () => {
  const circuit = opened()
  admit(circuit, rules, 500)
  expect(admit(circuit, rules, 999)).toBeGreaterThan(0)
  expect(admit(circuit, rules, 1000)).toBe(0)
})

test('failures of calls that were under way when it opened prolong nothing', () => {
  const circuit = opened()
  fail(circuit, rules, 400)
  expect(admit(circuit, rules, 400)).toBe(100)
})

test('whatever happens, it is never shut for longer than it says, and closed ones refuse nobody', () => {
  const event = fc.record({ gap: fc.nat(300), what: fc.constantFrom('call', 'fail', 'succeed', 'abstain') })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 100 }), (events) => {
      const circuit = newCircuit()
      let now = 0
      for (const { gap, what } of events) {
        now += gap
        if (what === 'fail') fail(circuit, rules, now)
        if (what === 'succeed') succeed(circuit)
        if (what === 'abstain') abstain(circuit, now)
        const before = stateOf(circuit, now)
        const wait = what === 'call' ? admit(circuit, rules, now) : 0
        expect(wait).toBeLessThanOrEqual(rules.openMs)
        if (before === 'closed') expect(wait).toBe(0)
        if (before === 'open' && what === 'call') expect(wait).toBeGreaterThan(0)
      }
      expect(admit(circuit, rules, now + rules.openMs)).toBe(0)
    }),
  )
})
