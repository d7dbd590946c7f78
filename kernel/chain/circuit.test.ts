import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type CircuitLimits, defaultLimits } from '../../config/circuit-limits.ts'
import { manifestSchema } from '../../gateway/discovery/manifest-schema.ts'
import type { Manifest } from '../discovery/manifest.ts'
import { type CircuitChange, ModuleCircuit } from './module-circuit.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const limits: CircuitLimits = { failures: 3, window: 1000, open: 100, budget: 10, timeout: 50 }
const wait = (ms: number): unknown => vi.advanceTimersByTime(ms)

function circuitWith(changed: Partial<CircuitLimits> = {}) {
  const told: CircuitChange[] = []
  const circuit = new ModuleCircuit({ ...limits, ...changed }, (change) => told.push(change))
  let runs = 0
  const fail = (times: number): void => {
    for (let n = 0; n < times; n++) circuit.failed('request', ++runs, 'Error')
  }
  const admit = () => {
    const ends: ((whole: boolean) => void)[] = []
    const admitted = circuit.admits(performance.now(), (ended) => ends.push(ended))
    return { admitted, end: ends[0] }
  }
  return { circuit, told, fail, admit }
}

describe('a module is left out', () => {
  test('after so many failures of a hook within the window', () => {
    const { circuit, told, fail } = circuitWith()
    fail(2)
    expect([circuit.state, circuit.touched, circuit.waitMs]).toEqual(['closed', false, 0])
    wait(1000)
    fail(1)
    const reason = 'request: Error, 3 failures within 1 s'
    expect([circuit.state, circuit.touched, circuit.waitMs, circuit.reason]).toEqual([
      'open',
      true,
      100,
      reason,
    ])
    expect(told).toEqual([{ to: 'tripped', reason, openMs: 100 }])
    wait(60)
    expect(circuit.waitMs).toBe(40)
    wait(60)
    expect(circuit.waitMs).toBe(0)
  })

  test('not by failures that lie further apart, nor by those of different hooks', () => {
    const { circuit, fail } = circuitWith()
    fail(2)
    wait(1001)
    fail(2)
    circuit.failed('reply', 1, 'Error')
    expect(circuit.state).toBe('closed')
    fail(1)
    expect(circuit.state).toBe('open')
  })

  test('only when half of its runs in the window failed, those before it not counted', () => {
    const half = circuitWith().circuit
    for (const runs of [2, 4, 6]) half.failed('request', runs, 'Error')
    expect(half.state).toBe('open')
    const less = circuitWith().circuit
    for (const runs of [1, 4, 7]) less.failed('request', runs, 'Error')
    expect(less.state).toBe('closed')
    const later = circuitWith().circuit
    for (const runs of [1001, 1003, 1005]) later.failed('request', runs, 'Error')
    expect(later.state).toBe('open')
  })

  test('never, where no number of failures is set', () => {
    const { circuit, fail } = circuitWith({ failures: 0 })
    fail(100)
    expect(circuit.state).toBe('closed')
  })

  test('at once, when it is told so, and again only when its time is up', () => {
    const { circuit, told } = circuitWith()
    circuit.trip('a reason')
    circuit.trip('another')
    expect(told).toEqual([{ to: 'tripped', reason: 'a reason', openMs: 100 }])
    expect([circuit.state, circuit.reason]).toEqual(['open', 'a reason'])
    wait(100)
    circuit.trip('yet another')
    expect(told.slice(1)).toEqual([{ to: 'tripped', reason: 'yet another', openMs: 200 }])
  })
})

describe('a module that is left out', () => {
  test('is there for calls that began before, and for no others until its time is up', () => {
    const { circuit, fail, admit } = circuitWith()
    expect(admit().admitted).toBe(true)
    const before = performance.now() + 4
    wait(5)
    fail(3)
    expect(circuit.admits(before, () => {})).toBe(true)
    expect(admit()).toEqual({ admitted: false, end: undefined })
    wait(99)
    expect(admit().admitted).toBe(false)
    fail(5)
    expect(circuit.waitMs).toBe(1)
    wait(1)
    expect(admit().admitted).toBe(true)
    expect(circuit.state).toBe('half_open')
  })

  test('is tried by one call at a time, and by another when that one takes twice as long as it may', () => {
    const { fail, admit } = circuitWith()
    fail(3)
    wait(100)
    expect(admit().admitted).toBe(true)
    wait(99)
    expect(admit().admitted).toBe(false)
    wait(1)
    expect(admit().admitted).toBe(true)
  })

  test('comes back when the call came to its end, and only the call that tries it counts', () => {
    const { circuit, told, fail, admit } = circuitWith()
    fail(3)
    wait(100)
    const late = admit()
    wait(100)
    const probe = admit()
    late.end!(true)
    expect(circuit.state).toBe('half_open')
    probe.end!(true)
    expect([circuit.state, circuit.reason, circuit.waitMs]).toEqual(['closed', undefined, 0])
    expect(told.at(-1)).toEqual({ to: 'restored', by: 'probe' })
    fail(2)
    expect(circuit.state).toBe('closed')
  })

  test('is tried by the next call when the client of the first one left', () => {
    const { circuit, told, fail, admit } = circuitWith()
    fail(3)
    wait(100)
    admit().end!(false)
    expect(circuit.state).toBe('open')
    expect(admit().admitted).toBe(true)
    expect(told).toHaveLength(1)
  })

  test('stays away twice as long after each try that fails, up to twenty times as long', () => {
    const { circuit, told, fail, admit } = circuitWith()
    fail(3)
    for (const ms of [200, 400, 800, 1600, 2000, 2000]) {
      wait(circuit.waitMs)
      const { end } = admit()
      fail(1)
      expect([circuit.state, circuit.waitMs]).toEqual(['open', ms])
      end!(true)
      expect(circuit.state).toBe('open')
    }
    expect(told.at(-1)).toEqual({ to: 'tripped', reason: 'request: Error', openMs: 2000 })
  })

  test('stays away twice as long too when it fails after its time, or is told off while it is tried', () => {
    const failing = circuitWith()
    failing.fail(3)
    wait(100)
    failing.fail(1)
    expect(failing.circuit.waitMs).toBe(200)
    const told = circuitWith()
    told.fail(3)
    for (const ms of [200, 400, 800, 1600, 2000]) {
      wait(told.circuit.waitMs)
      told.admit()
      told.circuit.trip('a reason')
      expect(told.circuit.waitMs).toBe(ms)
    }
  })

  test('comes back by a run after its time was up, and by none before', () => {
    const { circuit, told, fail } = circuitWith()
    circuit.succeeded()
    expect(told).toEqual([])
    fail(3)
    wait(99)
    circuit.succeeded()
    expect(circuit.state).toBe('open')
    wait(1)
    circuit.succeeded()
    expect(circuit.state).toBe('closed')
    expect(told.at(-1)).toEqual({ to: 'restored', by: 'probe' })
  })
})

describe('a new instance', () => {
  const manifestOf = (more: object): Manifest =>
    manifestSchema.parse({
      id: 'm',
      kind: 'module',
      stage: 'shape',
      failure: 'open',
      version: '1.0.0',
      title: 'M',
      description: 'A module.',
      ...more,
    })

  test('starts afresh', () => {
    const { circuit, told, fail } = circuitWith()
    fail(2)
    circuit.renew(manifestOf({}))
    fail(2)
    expect([circuit.state, told]).toEqual(['closed', []])
    fail(1)
    circuit.renew(manifestOf({}))
    expect(circuit.state).toBe('closed')
    expect(told.at(-1)).toEqual({ to: 'restored', by: 'operator' })
  })

  test('has the limits of the operator, but for what its manifest says', () => {
    const { circuit } = circuitWith()
    circuit.renew(manifestOf({ budget_ms: 30, timeout_ms: 40 }))
    expect(circuit.limits).toEqual({ ...limits, budget: 30, timeout: 40 })
    circuit.renew(manifestOf({ budget_ms: 70 }))
    expect(circuit.limits).toEqual({ ...limits, budget: 70, timeout: 70 })
    circuit.renew(manifestOf({}))
    expect(circuit.limits).toEqual(limits)
    expect(new ModuleCircuit().limits).toEqual(defaultLimits)
  })
})
