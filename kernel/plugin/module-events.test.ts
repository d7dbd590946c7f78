import { expect, test } from 'vitest'
import { manifestSchema } from '../../gateway/discovery/manifest-schema.ts'
import { createLog } from '../../gateway/log.ts'
import { Meter } from '../chain/meter.ts'
import type { CircuitChange } from '../chain/module-circuit.ts'
import { Events } from '../events.ts'
import { announceChange, ModuleChanged, ModuleRestored, ModuleTripped } from './module-events.ts'

function announce(change: CircuitChange, failure?: 'open' | 'closed') {
  const lines: string[] = []
  const log = createLog({ level: 'info', stream: { write: (line: string) => void lines.push(line) } })
  const events = new Events({ failed() {} })
  const told: unknown[] = []
  events.on(ModuleTripped, (data) => told.push([ModuleTripped.name, data]))
  events.on(ModuleRestored, (data) => told.push([ModuleRestored.name, data]))
  const manifest = manifestSchema.parse({
    id: 'm',
    kind: failure ? 'module' : 'area',
    version: '1.0.0',
    title: 'M',
    description: 'Does something.',
    ...(failure && { stage: 'shape', failure }),
  })
  const meter = new Meter()
  announceChange('m', { manifest }, meter, change, { events, log })
  return { told, logged: lines.map((line) => JSON.parse(line)), ring: meter.events }
}

test.each([
  ['closed', 'calls are refused'],
  ['open', 'calls pass without it'],
  [undefined, 'calls pass without it'],
] as const)('a module (%s) that is left out is told of everywhere', (failure, effect) => {
  const { told, logged, ring } = announce({ to: 'tripped', reason: 'a reason', openMs: 1500 }, failure)
  expect(told).toEqual([['module.tripped', { name: 'm', reason: 'a reason', effect, open_s: 1.5 }]])
  expect(logged).toMatchObject([{ plugin: 'm', reason: 'a reason' }])
  expect(ring).toMatchObject([{ kind: 'tripped', detail: 'a reason' }])
})

test('so is one that is back', () => {
  const { told, logged, ring } = announce({ to: 'restored', by: 'probe' })
  expect(told).toEqual([['module.restored', { name: 'm', by: 'probe' }]])
  expect(logged).toMatchObject([{ plugin: 'm', by: 'probe' }])
  expect(ring).toMatchObject([{ kind: 'restored', detail: 'probe' }])
})

test('what subscribers are promised of an event is checked', () => {
  const changed = { name: 'm', enabled: true, state: 'ready', generation: 3 }
  const tripped = { name: 'm', reason: 'a reason', effect: 'calls are refused', open_s: 1 }
  const restored = { name: 'm', by: 'operator' }
  expect(ModuleChanged.name).toBe('module.changed')
  expect(ModuleChanged.schema.parse(changed)).toEqual(changed)
  expect(ModuleTripped.schema.parse(tripped)).toEqual(tripped)
  expect(ModuleRestored.schema.parse(restored)).toEqual(restored)
  expect(ModuleTripped.schema.safeParse({ ...tripped, effect: 'none' }).success).toBe(false)
  expect(ModuleRestored.schema.safeParse({ ...restored, by: 'chance' }).success).toBe(false)
})
