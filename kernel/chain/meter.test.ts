import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { defaultLimits } from '../../config/circuit-limits.ts'
import { HookFault } from '../../kit/work/hook-fault.ts'
import { Meter } from './meter.ts'
import { ModuleCircuit } from './module-circuit.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date', 'performance'], now: 1_000_000 }))
afterEach(() => void vi.useRealTimers())

const kinds = ({ events }: Meter): string[] => events.map(({ kind, detail }) => `${kind} ${detail}`)

test('runs are counted and timed by hook', () => {
  const meter = new Meter()
  meter.run('request', 2)
  meter.run('request', 3)
  meter.add('around', 5000)
  expect(meter.calls).toBe(3)
  expect([...meter.hooks]).toEqual([
    ['request', { calls: 2, totalMs: 5 }],
    ['around', { calls: 1, totalMs: 5000 }],
  ])
  expect(meter.events).toEqual([])
})

test.each([
  [0, 1],
  [0.0009, 1],
  [0.0014, 1.4],
  [0.0015, 2],
  [1, 1024],
  [1.5, 2048],
  [1_000_000, 11_863_283.2],
])('a run of %d ms lay below %d µs', (ms, us) => {
  const meter = new Meter()
  meter.add('request', ms)
  expect(meter.quantileUs(0.5)).toBe(us)
})

test('quantiles are those of all runs, and nothing has none', () => {
  const meter = new Meter()
  expect(meter.quantileUs(0.5)).toBe(0)
  for (let n = 0; n < 9; n++) meter.add('request', 0.1)
  meter.add('request', 100)
  expect([0, 0.5, 0.9, 0.95, 1].map((share) => meter.quantileUs(share))).toEqual([
    128, 128, 128, 131_072, 131_072,
  ])
})

test('a run over the budget is told and held against the module, unless it was under way when runs were pardoned', () => {
  const circuit = new ModuleCircuit({ ...defaultLimits, budget: 10, failures: 3 })
  const meter = new Meter(circuit)
  meter.run('request', 10)
  meter.pardonedAt = performance.now()
  vi.advanceTimersByTime(20)
  for (let n = 0; n < 3; n++) meter.run('request', 30)
  expect(kinds(meter)).toEqual([])
  meter.run('request', 15.4)
  expect(kinds(meter)).toEqual(['overrun request: 15 ms'])
  vi.advanceTimersByTime(20)
  meter.run('request', 41)
  meter.run('request', 10.1)
  expect(circuit.state).toBe('closed')
  meter.run('request', 11)
  expect(circuit.reason).toContain('took more than 10 ms, 3 failures')
})

test('a mistake that is held against the module already is told of each run, and held against it no more', () => {
  const meter = new Meter(new ModuleCircuit({ ...defaultLimits, failures: 2 }))
  const shared = Object.assign(new HookFault('a reason'), { isHeld: true })
  for (let n = 0; n < 9; n++) meter.fail('request', shared)
  meter.fail('request', new HookFault('another'))
  expect([meter.errors, meter.circuit.state]).toEqual([10, 'closed'])
  expect(kinds(meter)[1]).toBe('failed request: a reason')
  meter.fail('request', new HookFault('another'))
  expect(meter.circuit.state).toBe('open')
})

test('failures and refusals are counted and told, in the words of the kernel only', () => {
  const meter = new Meter()
  const thrown: unknown[] = []
  meter.onFailure = (hook, error) => thrown.push(hook, error)
  const error = new TypeError('with the secret of a call')
  meter.run('request', 1)
  meter.fail('request', error)
  meter.fail('reply', new HookFault('no answer'))
  meter.refuse('rate_limited')
  expect([meter.errors, meter.refusals]).toEqual([2, 1])
  expect(thrown).toEqual(['request', error, 'reply', expect.any(HookFault)])
  expect(meter.events).toEqual([
    { at: '1970-01-01T00:16:40.000Z', kind: 'refused', detail: 'rate_limited' },
    { at: '1970-01-01T00:16:40.000Z', kind: 'failed', detail: 'reply: no answer' },
    { at: '1970-01-01T00:16:40.000Z', kind: 'failed', detail: 'request: TypeError' },
  ])
})

test('one failure among many runs of a hook does not trip it, and one that always fails does', () => {
  const meter = new Meter()
  for (let n = 0; n < 20; n++) {
    meter.run('request', 1)
    if (n % 4 === 0) meter.fail('request', new Error())
  }
  expect(meter.circuit.state).toBe('closed')
  for (let n = 0; n < 5; n++) {
    meter.run('reply', 1)
    meter.fail('reply', new Error())
  }
  expect(meter.circuit.state).toBe('open')
})

test('the last 200 events are kept, newest first', () => {
  const meter = new Meter()
  for (let n = 0; n < 201; n++) meter.event('said', String(n))
  expect(meter.events).toHaveLength(200)
  expect([meter.events[0]!.detail, meter.events.at(-1)!.detail]).toEqual(['200', '1'])
})

test('two meters together have measured what both have, also over plain data', () => {
  const [one, two, both] = [new Meter(), new Meter(), new Meter()]
  for (const [meter, ms] of [
    [one, 0.1],
    [two, 100],
    [two, 200],
  ] as const) {
    for (const each of [meter, both]) {
      each.run('request', ms)
      each.event('said', `${ms}`)
    }
    vi.advanceTimersByTime(1000)
  }
  for (const each of [one, both]) each.run('reply', 1)
  for (const each of [two, both]) {
    each.fail('settled', new Error())
    each.refuse('no')
  }
  one.include(structuredClone(two.state))
  expect(one.quantileUs(0.6)).toBe(both.quantileUs(0.6))
  const { hooks, ...state } = one.state
  const { hooks: wanted, ...others } = both.state
  expect(state).toEqual(others)
  expect(wanted.map(([hook]) => hook)).toEqual(['request', 'reply'])
  expect(new Map(hooks)).toEqual(new Map(wanted))
})

test('of the events of two meters the last 200 are kept, in the order of their times', () => {
  const [one, two] = [new Meter(), new Meter()]
  for (let n = 0; n < 300; n++) {
    ;(n % 2 === 0 ? one : two).event('said', String(n))
    vi.advanceTimersByTime(1)
  }
  one.include(two.state)
  expect(one.events.map(({ detail }) => Number(detail))).toEqual(
    Array.from({ length: 200 }, (_, n) => 299 - n),
  )
})

test('after a reset nothing was measured', () => {
  const meter = new Meter()
  meter.run('request', 1)
  meter.fail('request', new Error())
  meter.refuse('no')
  meter.reset()
  expect(meter.state).toEqual(new Meter().state)
})
