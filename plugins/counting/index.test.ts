import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Claim, type Context, Counting, type Held, type Limit, type Refusal, ThreadEnded } from '#kernel'
import { manifestSchema } from '../../gateway/discovery/manifest-schema.ts'
import { createLog } from '../../gateway/log.ts'
import { FirstRelay, ThreadRelay } from '../../gateway/threads/relay.ts'
import { Meter } from '../../kernel/chain/meter.ts'
import { Events } from '../../kernel/events.ts'
import { contextOf } from '../../kernel/plugin/context.ts'
import { Instance } from '../../kernel/plugin/instance.ts'
import { Memory } from '../../kernel/plugin/memory.ts'
import type { Relay } from '../../kernel/plugin/relay.ts'
import { Egress } from '../../network/egress.ts'
import { networkOf } from '../../network/network.ts'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import plugin from './index.ts'
import manifest from './manifest.json' with { type: 'json' }

/** The plugin as the threads of a process have it: each its own instance, with what the gateway relays between them. */

let folder: string
let engine: Engine
const started: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-counting-'))
  engine = await openLevel(folder)
})

afterAll(async () => {
  for (const stop of started) await stop()
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

/** A process on a store of its own, or on that of an earlier one. */
function processOn(store = engine.namespace(`after-${started.length}`)) {
  const events = new Events({ failed() {} })
  const first = new FirstRelay()
  const memory = new Memory()
  const relayOf = (thread: number): Relay =>
    thread === 1
      ? first
      : new ThreadRelay({
          tell(batch) {
            for (const one of batch)
              if ('key' in one) first.answer(one.key, structuredClone(one.data), thread)
          },
          ask: async (key, data) => structuredClone(await first.answer(key, structuredClone(data), thread)),
        })
  return {
    store,
    end: (thread: number) => events.emit(ThreadEnded, { thread }),
    /** What other plugins of a thread get. */
    async start(thread: number) {
      const instance = new Instance('counting')
      const context = contextOf(
        {
          events,
          store: { namespace: () => store },
          log: createLog({ level: 'silent' }),
          service: () => undefined,
          outbound: { network: networkOf(new Egress([])), secrets: {} },
          current: () => true,
          relay: relayOf(thread),
        },
        {
          manifest: manifestSchema.parse(manifest),
          memory: thread === 1 ? memory : new Memory(),
          meter: new Meter(),
        },
        instance,
        {},
      )
      await plugin.setup(context as Context<Record<string, never>>)
      const counting = instance.services.get(Counting) as Counting
      const stop = () => instance.scope.dispose()
      started.push(stop)
      return { counting, budget: counting.budget('b'), stop }
    },
  }
}

const hour: Limit = { kind: 'sliding', most: 10, windowMs: 3_600_000 }
const claimOf = (amount: number, limit: Limit = hour): Claim => ({ name: 'k', unit: 'u', limit, amount })
const held = (answer: Held | Refusal): Held => {
  if (!answer.granted) throw new Error('refused')
  return answer
}

test('what one thread reserves is taken for all, and settled from any of them, once', async () => {
  const { start } = processOn()
  const [one, two] = [await start(1), await start(2)]
  const far = held(await two.budget.reserve([claimOf(6)]))
  expect(one.budget.left([claimOf(1)])).toMatchObject([{ used: 6, remaining: 4 }])
  expect(await two.budget.left([claimOf(1)])).toMatchObject([{ used: 6, remaining: 4 }])
  expect(await one.budget.reserve([claimOf(5)])).toMatchObject({ granted: false, claim: 0 })
  expect(one.budget.settle(far, { u: 2 })).toBe(true)
  expect(await two.budget.settle(far, { u: 9 })).toBe(false)
  expect(await two.budget.left([claimOf(1)])).toMatchObject([{ used: 2 }])
  expect(await two.counting.budget('other').left([claimOf(1)])).toMatchObject([{ used: 0 }])
})

test('what a thread has not settled is given back when it ends, and it reserves no more', async () => {
  const { start, end } = processOn()
  const [one, two, three] = [await start(1), await start(2), await start(3)]
  await two.budget.reserve([claimOf(3)])
  await three.budget.reserve([claimOf(4)])
  end(2)
  expect(one.budget.left([claimOf(1)])).toMatchObject([{ used: 4 }])
  await expect(two.budget.reserve([claimOf(1)])).rejects.toThrow('ended')
})

test('a lease that is over is given back, from another thread too', async () => {
  const { start } = processOn()
  const [one, two] = [await start(1), await start(2)]
  await two.budget.reserve([claimOf(3)], { leaseMs: 1 })
  await expect.poll(() => one.budget.left([claimOf(1)])).toMatchObject([{ used: 0 }])
})

test('an instance that takes the place of another goes on with what that one held', async () => {
  const { start } = processOn()
  const before = await start(1)
  await before.budget.settle(held(await before.budget.reserve([claimOf(2)])), { u: 2 })
  await before.budget.flush()
  const open = held(await before.budget.reserve([claimOf(4)]))
  before.counting.windows('w', { windowMs: 60_000 }).add('a', 5)
  const after = await start(1)
  await before.stop()
  expect(after.budget.left([claimOf(1)])).toMatchObject([{ used: 6 }])
  expect(after.budget.settle(open, { u: 1 })).toBe(true)
  expect(after.budget.left([claimOf(1)])).toMatchObject([{ used: 3 }])
  expect(after.counting.windows('w', { windowMs: 60_000 }).read('a')).toEqual({ count: 1, sum: 5 })
})

test.each([
  ['a flush', ({ budget }: { budget: ReturnType<Counting['budget']> }) => budget.flush()],
  ['an orderly end', ({ stop }: { stop: () => Promise<unknown> }) => stop()],
])('another process goes on with what was settled before %s', async (_, keep) => {
  const before = processOn()
  const one = await before.start(1)
  await one.budget.settle(held(await one.budget.reserve([claimOf(7)])), { u: 3 })
  await one.budget.reserve([claimOf(5)])
  await keep(one)
  const after = await processOn(before.store).start(1)
  expect(after.budget.left([claimOf(1)])).toMatchObject([{ used: 3 }])
})

test('a flush that another thread asks for is over when all is on the disk', async () => {
  const before = processOn()
  const [one, two] = [await before.start(1), await before.start(2)]
  await one.budget.settle(held(await one.budget.reserve([claimOf(7)])), { u: 3 })
  await two.budget.flush()
  expect((await processOn(before.store).start(1)).budget.left([claimOf(1)])).toMatchObject([{ used: 3 }])
})

test('what was settled is on the disk soon, without a flush', async () => {
  const before = processOn()
  const one = await before.start(1)
  await one.budget.settle(held(await one.budget.reserve([claimOf(7)])), { u: 3 })
  const again = async () => (await processOn(before.store).start(1)).budget.left([claimOf(1)])
  await expect.poll(again, { timeout: 5_000 }).toMatchObject([{ used: 3 }])
})

test('a bucket flows back while time goes by', async () => {
  const { start } = processOn()
  const { budget } = await start(1)
  const flow = claimOf(5, { kind: 'bucket', most: 10, windowMs: 20, burst: 5 })
  await budget.reserve([flow])
  await expect.poll(() => budget.left([flow])).toMatchObject([{ used: 0 }])
})

test('what is added to shared windows in any thread is there in all, and what nothing was added to has no quantile', async () => {
  const { start } = processOn()
  const [one, two] = [await start(1), await start(2)]
  const options = { windowMs: 60_000, quantiles: true }
  const [near, far] = [one, two].map(({ counting }) => counting.sharedWindows('w', options))
  near!.add('a', 10)
  far!.add('a', 30)
  await expect.poll(() => near!.read('a')).toEqual({ count: 2, sum: 40 })
  expect(await far!.read('a')).toEqual({ count: 2, sum: 40 })
  for (const windows of [near!, far!]) {
    expect(await windows.quantile('a', 0.5)).toBeCloseTo(10, 0)
    expect(await windows.quantile('b', 0.5)).toBeUndefined()
    expect(await windows.groups()).toEqual(['a'])
  }
  near!.add('zero', 0)
  expect(near!.quantile('zero', 0.5)).toBe(0)
  expect(await far!.quantile('zero', 0.5)).toBe(0)
  expect(one.counting.sharedWindows('other', options).read('a')).toEqual({ count: 0, sum: 0 })
})

test('windows of a thread are its own', async () => {
  const { start } = processOn()
  const [one, two] = [await start(1), await start(2)]
  const options = { windowMs: 60_000 }
  one.counting.windows('w', options).add('a', 10)
  expect(two.counting.windows('w', options).read('a')).toEqual({ count: 0, sum: 0 })
})

test('while counting is switched off, other threads are told so', async () => {
  const { start } = processOn()
  const [one, two] = [await start(1), await start(2)]
  await one.stop()
  await expect(two.budget.reserve([claimOf(1)])).rejects.toThrow('switched off')
  await expect(two.budget.flush()).rejects.toThrow('switched off')
  await expect(two.counting.sharedWindows('w', { windowMs: 1000 }).groups()).rejects.toThrow('switched off')
})
