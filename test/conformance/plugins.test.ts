import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { load } from '../../kernel/loader.ts'
import { discover } from '../../kernel/manifest.ts'
import { startGateway, type TestGateway } from '../harness.ts'
import { undescribed } from './schema.ts'
import { trackTimers } from './timers.ts'

const found = await discover(path.resolve('plugins'), 'builtin')

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway()
})

afterAll(() => gateway.close())

describe.each(found)('plugin $id', ({ id, entry, manifest, problem }) => {
  test('has a sound manifest', () => {
    expect(problem).toBeUndefined()
    expect(['area', 'provider']).toContain(manifest?.kind)
  })

  test('runs, or says why not', () => {
    const plugin = gateway.kernel.registry.get(id)
    expect({ state: gateway.kernel.registry.stateOf(plugin), problem: plugin.problem }).toEqual({
      state: manifest?.enabled ? 'active' : 'disabled',
      problem: undefined,
    })
  })

  test.runIf(entry)(
    'accepts no settings at all, refuses unknown ones, and describes the others',
    async () => {
      const { settings } = await load(entry!)
      expect(settings.safeParse({}).success).toBe(true)
      expect(settings.safeParse({ nobody_knows_this: 1 }).success).toBe(false)
      expect(undescribed(z.toJSONSchema(settings, { io: 'input' }))).toEqual([])
    },
  )

  test('goes and comes again, gives back its timers, and leaves nothing of itself behind', async () => {
    const { registry } = gateway.kernel
    const dependants = found.filter((other) => other.manifest?.requires.includes(id))
    if (dependants.length > 0) {
      await expect(registry.change(id, { enabled: false })).rejects.toThrow(dependants[0]!.id)
      return
    }
    const before = registry.generation
    const timers = trackTimers()
    await registry.change(id, { enabled: true })
    await registry.change(id, { enabled: false })
    expect(registry.generation.routes.filter(({ plugin }) => plugin === id)).toEqual([])
    for (let n = 0; n < 3; n += 1) {
      await registry.change(id, { enabled: true })
      await registry.change(id, { enabled: false })
    }
    await vi.waitFor(() => expect(timers.left()).toBe(0))
    timers.restore()
    if (manifest?.enabled) await registry.change(id, { enabled: true })
    const paths = (generation: typeof before): string[] =>
      generation.routes.map(({ method, path }) => `${method} ${path}`).sort()
    expect(paths(registry.generation)).toEqual(paths(before))
  })

  test.runIf(manifest?.kind === 'provider')('is reached by TLS, unless it is at home', () => {
    const { provider } = manifest as Extract<typeof manifest, { kind: 'provider' }>
    const url = new URL(provider?.base_url ?? 'https://none.example')
    const local = ['localhost', '127.0.0.1'].includes(url.hostname)
    expect(local ? 'http:' : 'https:').toBe(url.protocol)
  })
})
