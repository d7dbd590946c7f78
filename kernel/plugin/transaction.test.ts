import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { type SettingChange, storedSetting } from '../../config/setting.ts'
import { forbidden } from '../../kit/errors.ts'
import type { Engine } from '../../storage/index.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { moduleCode, writePlugin } from '../../test/plugin-folder.ts'
import { runs } from '../../test/suite/runs.ts'
import { kernelServices } from '../services.ts'
import { ModuleChanged } from './module-events.ts'
import type { Registry } from './registry.ts'
import type { Reloader } from './reloader.ts'

const plugins = ['one', 'two', 'three'] as const
const bindings = ['a', 'b'] as const
const actor = { ip: '192.0.2.1', principal: undefined }
/** Instances that have not given back what they hold, by the id of their plugin or binding. */
const held = new Map<string, number>()

let folder: string
let gateway: TestGateway
let registry: Registry
let reloader: Reloader

/** A module whose settings choose how it goes wrong: in setup, by a route that another has, by locking every user out. */
const code = (version: number, isBroken: boolean): string => `
${isBroken ? "throw new Error('told not to load')" : ''}
${moduleCode(`
  const held = globalThis.heldForTest
  const { fails, route, locks } = ctx.settings
  held.set(ctx.id, (held.get(ctx.id) ?? 0) + 1)
  ctx.own(() => held.set(ctx.id, held.get(ctx.id) - 1))
  if (route) ctx.route({ method: 'get', path: '/api/' + route, access: 'any', summary: 's', returns: 'text', handle: () => '' })
  if (fails) throw new Error('told to fail')
  return { admit() { if (locks) throw globalThis.forbiddenForTest('told to lock') }, request(call) { call.trace.header('x-version', '${version}') } }`)}`

/** Plugin `two` needs `one`. */
const write = (id: string, version: number, isBroken = false): Promise<string> =>
  writePlugin(folder, id, {
    manifest: { requires: id === 'two' ? ['one'] : [], permissions: ['routes'] },
    files: { 'index.js': code(version, isBroken) },
  })

beforeAll(async () => {
  Object.assign(globalThis, { heldForTest: held, forbiddenForTest: forbidden })
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-histories-'))
  for (const id of plugins) await write(id, 0)
  gateway = await startGateway({ config: { plugin_dirs: [folder] } })
  registry = gateway.kernel.registry
  reloader = gateway.kernel.container.resolve<Reloader>(kernelServices.reloader)
})

beforeEach(begin)

afterAll(async () => {
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
})

/** Every plugin as it was written first, switched on, with no settings and no bindings. */
async function begin(): Promise<void> {
  for (const id of plugins) {
    for (const { binding } of registry.find(id) ? registry.bindings(id) : [])
      await registry.unbind(id, binding!.name)
    await write(id, 0)
  }
  await reloader.rescan()
  const config = { fails: null, route: null, locks: null }
  for (const id of plugins) await registry.change(id, { enabled: true, config, mode: null, order: null })
}

const numbers = new WeakMap<object, number>()
let known = 0

/** A number for an object, to compare objects by which one they are. */
function which(object: object | undefined): number {
  if (object && !numbers.has(object)) numbers.set(object, ++known)
  return object ? numbers.get(object)! : 0
}

const records = () =>
  plugins.flatMap((id) => (registry.find(id) ? [registry.get(id), ...registry.bindings(id)] : []))

/** The state that must stay when a change fails. */
async function state() {
  const engine = gateway.kernel.container.resolve<Engine>(kernelServices.storage)
  const settings = engine.namespace('kernel').collection('settings', { schema: storedSetting })
  const { generation } = registry
  return {
    generation: [generation.number, which(generation), generation.leases],
    held: [...held].filter(([, count]) => count > 0).sort(),
    rows: (await settings.list()).items,
    records: records().map(({ id, setting, stored, instance, found }) => {
      return { id, setting, stored, instance: which(instance), found: which(found) }
    }),
  }
}

/** Every instance that is held runs, and every one that runs is held once. */
async function expectNothingLeft(): Promise<void> {
  const running = records()
  const wanted = running.flatMap(({ id, instance }) => (instance ? [[id, 1]] : []))
  const left = () => [...held].filter(([, count]) => count !== 0)
  await vi.waitFor(() => expect(new Map(left() as [])).toEqual(new Map(wanted as [])))
  const live = running.flatMap(({ instance }) => instance ?? [])
  const routes = registry.generation.routes.filter(({ plugin }) =>
    plugins.some((id) => plugin.startsWith(id)),
  )
  expect(new Set(routes)).toEqual(new Set(live.flatMap((instance) => instance.routes)))
  expect(routes).toHaveLength(new Set(routes).size)
}

const config = fc.record(
  {
    fails: fc.constantFrom(true, null, null),
    route: fc.constantFrom('here', 'there', null, null),
    locks: fc.constantFrom(true, null, null, null),
  },
  { requiredKeys: [] },
)
const change = fc.record(
  {
    enabled: fc.boolean(),
    config,
    order: fc.integer({ min: -2, max: 2 }),
    mode: fc.constantFrom('shadow', null),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<SettingChange>
const id = fc.constantFrom(...plugins)
const name = fc.constantFrom(...bindings)

type Step =
  | { readonly do: 'change'; readonly id: string; readonly change: SettingChange }
  | {
      readonly do: 'bind' | 'change a binding'
      readonly id: string
      readonly name: string
      readonly change: SettingChange
    }
  | { readonly do: 'unbind'; readonly id: string; readonly name: string }
  | {
      readonly do: 'reload' | 'rescan'
      readonly id: string
      readonly version: number
      readonly isBroken: boolean
    }
  | { readonly do: 'remove'; readonly id: string }

const newCode = { id, version: fc.integer({ min: 0, max: 3 }), isBroken: fc.boolean() }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('change' as const), id, change }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('bind' as const, 'change a binding' as const),
      id,
      name,
      change,
    }),
  },
  fc.record({ do: fc.constant('unbind' as const), id, name }),
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('reload' as const, 'rescan' as const), ...newCode }),
  },
  fc.record({ do: fc.constant('remove' as const), id }),
)

/** Makes one change; gives how many generations it must have been. */
async function take(one: Step): Promise<number> {
  if (one.do === 'change') await registry.change(one.id, one.change, actor)
  else if (one.do === 'bind') await registry.bind(one.id, one.name, one.change, actor)
  else if (one.do === 'change a binding') await registry.change(`${one.id}/${one.name}`, one.change, actor)
  else if (one.do === 'unbind') await registry.unbind(one.id, one.name, actor)
  else if (one.do === 'remove') await registry.remove(one.id)
  else if ('version' in one) {
    await write(one.id, one.version, one.isBroken)
    if (one.do === 'reload') return (await reloader.reload(one.id)).reloaded ? 1 : 0
    const { added, changed, failed } = await reloader.rescan(new Set([one.id]))
    if (failed[0]) throw new Error(failed[0].problem)
    return added.length + changed.length
  }
  return 1
}

test('after each change everything runs on it, or everything is as it was', async () => {
  let refused = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (history) => {
      await begin()
      for (const one of history) {
        const before = await state()
        const ran = registry.find(one.id)?.instance !== undefined
        try {
          const generations = await take(one)
          expect(registry.generation.number).toBe(before.generation[0]! + generations)
        } catch (error) {
          if (error instanceof Error && error.name === 'AssertionError') throw error
          refused += 1
          // Where nothing ran, code that cannot run is taken with its problem.
          if (ran || (one.do !== 'reload' && one.do !== 'rescan')) expect(await state()).toEqual(before)
        }
        await expectNothingLeft()
      }
    }),
    runs(40),
  )
  expect(refused).toBeGreaterThan(20)
})

/** The settings made at runtime, without their times. */
async function settingsNow() {
  const { rows } = await state()
  return rows.map(({ updated_at: _, ...said }) => JSON.stringify(said)).sort()
}

/** Rolls back as an admin does; resolves with the number of the generation, and rejects with the refusal. */
async function rolledBackTo(generation: number): Promise<number> {
  const { status, body } = await gateway.api('POST', '/api/config/rollback', { generation })
  if (status !== 200) throw new Error(body.error.message)
  return body.generation
}

test('a rollback leads to the settings of its generation, whatever was changed since, or changes nothing', async () => {
  let rolledBack = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 2, maxLength: 8 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 3 }),
      async (history, picks) => {
        await begin()
        const seen = new Map([[registry.generation.number, await settingsNow()]])
        for (const one of history) {
          await take(one).catch(() => {})
          seen.set(registry.generation.number, await settingsNow())
        }
        for (const pick of picks) {
          const [to, then] = [...seen][pick % seen.size]!
          const before = await state()
          try {
            const number = await rolledBackTo(to)
            rolledBack += 1
            expect(await settingsNow()).toEqual(then)
            expect([number, registry.generation.number]).toEqual(Array(2).fill(before.generation[0]! + 1))
          } catch (error) {
            if (error instanceof Error && error.name === 'AssertionError') throw error
            expect(await state()).toEqual(before)
          }
          await expectNothingLeft()
        }
      },
    ),
    runs(25),
  )
  expect(rolledBack).toBeGreaterThan(10)
})

test('a hundred changes at once are a hundred generations, in the order in which they were asked for', async () => {
  const before = registry.generation.number
  const told: number[] = []
  const stop = gateway.kernel.events.on(ModuleChanged, ({ generation }) => told.push(generation))
  const answered: number[] = []
  await Promise.all(
    Array.from({ length: 100 }, async (_, n) => {
      const { setting } = await registry.change('three', { enabled: n % 2 === 1, order: n })
      answered.push(setting!.order)
    }),
  )
  stop()
  expect(answered).toEqual(Array.from({ length: 100 }, (_, n) => n))
  expect(told).toEqual(Array.from({ length: 100 }, (_, n) => before + 1 + n))
  expect(registry.get('three')).toMatchObject({ setting: { order: 99, enabled: true } })
  await expectNothingLeft()
})

test('of changes at once that fail here and there, none is lost and none is half made', async () => {
  const before = registry.generation.number
  const changes = Array.from({ length: 40 }, (_, n) =>
    registry.change(n % 2 === 0 ? 'one' : 'three', {
      order: n,
      config: { fails: n % 5 === 0 ? true : null },
    }),
  )
  const results = await Promise.allSettled(changes)
  expect(results.map(({ status }) => status)).toEqual(
    results.map((_, n) => (n % 5 === 0 ? 'rejected' : 'fulfilled')),
  )
  expect(registry.generation.number).toBe(before + 32)
  expect([registry.get('one').setting?.order, registry.get('three').setting?.order]).toEqual([38, 39])
  await expectNothingLeft()
})

test('what waited for a plugin starts with it, in one generation', async () => {
  await registry.change('two', { enabled: false })
  await registry.change('one', { enabled: false })
  await registry.change('two', { enabled: true })
  expect(registry.stateOf(registry.get('two'))).toBe('waiting')
  const before = registry.generation.number
  await registry.change('one', { enabled: true })
  expect(registry.stateOf(registry.get('two'))).toBe('active')
  expect(registry.generation.number).toBe(before + 1)
})
