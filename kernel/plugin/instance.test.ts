import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { manifestSchema } from '../../gateway/discovery/manifest-schema.ts'
import { createLog } from '../../gateway/log.ts'
import { onContained } from '../../kit/work/contain.ts'
import { Egress } from '../../network/egress.ts'
import { networkOf } from '../../network/network.ts'
import { openLevel } from '../../storage/level.ts'
import { Meter } from '../chain/meter.ts'
import { defineEvent, Events } from '../events.ts'
import { contextOf } from './context.ts'
import { goLive, Instance } from './instance.ts'
import { Memory } from './memory.ts'

const outbound = { network: networkOf(new Egress([])), secrets: {} }

const Happened = defineEvent('happened', z.number(), { description: 'Something happened.' })

const pluginOf = (id: string) => ({
  manifest: manifestSchema.parse({
    id,
    kind: 'area',
    version: '1.0.0',
    title: 'Area',
    description: 'Listens.',
  }),
  memory: new Memory(),
  meter: new Meter(),
})

test('what begins when an instance is live begins once, and a failure of it ends nothing else', () => {
  const instance = new Instance('begins')
  const parts = {
    events: new Events({ failed() {} }),
    store: { namespace: () => undefined as never },
    log: createLog({ level: 'silent' }),
    service: () => undefined,
    outbound,
    current: () => true,
  }
  const context = contextOf(parts, pluginOf('begins'), instance, {})
  const dormant = contextOf({ ...parts, isDormant: true }, pluginOf('begins'), instance, {})
  const begun: string[] = []
  const contained: string[] = []
  onTestFinished(onContained((origin) => contained.push(origin)))
  context.whenLive(() => begun.push('first'))
  context.whenLive(() => {
    throw new Error('cannot begin')
  })
  dormant.whenLive(() => begun.push('dormant'))
  context.whenLive(() => begun.push('last'))
  expect(begun).toEqual([])
  goLive(instance)
  goLive(instance)
  context.whenLive(() => begun.push('at once'))
  expect(begun).toEqual(['first', 'last', 'at once'])
  expect(contained).toEqual(['what begins with begins'])
})

test('of two instances of a plugin only the latest hears of an event', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  const store = await openLevel(path.join(folder, 'db'))
  const events = new Events({ failed() {} })
  const old = new Instance('listener')
  const next = new Instance('listener')
  let current: Instance = old
  const parts = {
    events,
    store,
    log: createLog({ level: 'silent' }),
    service: () => undefined,
    outbound,
    current: (instance: Instance) => instance === current,
  }
  const heard: string[] = []
  for (const instance of [old, next]) {
    const name = instance === old ? 'old' : 'new'
    const context = contextOf(parts, pluginOf('listener'), instance, {})
    context.on(Happened, (n) => heard.push(`${name} ${n}`))
    context.onAny((data) => heard.push(`${name} any ${data}`))
  }

  events.emit(Happened, 1)
  current = next
  events.emit(Happened, 2)
  await next.scope.dispose()
  events.emit(Happened, 3)

  expect(heard).toEqual(['old 1', 'old any 1', 'new 2', 'new any 2'])
  await store.close()
  await rm(folder, { recursive: true })
})
