import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Job, JobQueue } from '#kernel'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { type JobsProcess, Owner, openJobs, openTable } from '../../test/jobs.ts'
import { runs } from '../../test/suite/runs.ts'

let folder: string
let engine: Engine
let parts = 0

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-jobs-law-'))
  engine = await openLevel(folder)
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true, force: true })
})

const steps = ['first', 'second', 'third'] as const
const input = z.strictObject({
  id: z.string(),
  failsAt: z.enum([...steps, 'never']),
  turns: z.number(),
  waits: z.boolean(),
})

type Input = z.infer<typeof input>

const ids = ['a', 'b', 'c', 'd', 'e', 'f']
const aCommand = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('add' as const),
      id: fc.constantFrom(...ids),
      failsAt: fc.constantFrom(...steps, 'never' as const),
      turns: fc.nat({ max: 4 }),
      waits: fc.boolean(),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ does: fc.constant('go on' as const), turns: fc.integer({ min: 1, max: 30 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constantFrom('kill' as const, 'restart' as const, 'reload' as const) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom('cancel' as const, 'tell' as const),
      id: fc.constantFrom(...ids),
    }),
  },
)

/** What has happened to jobs, whatever process it happened in. */
class World {
  readonly effects = new Map<string, number>()
  readonly memoised = new Set<string>()
  readonly again: string[] = []
  readonly results = new Map<string, string[]>()

  happen(what: string): void {
    if (this.memoised.has(what)) this.again.push(what)
    this.effects.set(what, (this.effects.get(what) ?? 0) + 1)
  }
}

const turns = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await new Promise(setImmediate)
}

/** A process that has jobs, until it dies: from then on nothing happens in it. */
class Life {
  readonly queue: JobQueue<Input>
  readonly #jobs: JobsProcess
  readonly #world: World
  #owner = new Owner()
  #isDead = false

  constructor(jobs: JobsProcess, world: World) {
    this.#jobs = jobs
    this.#world = world
    this.queue = this.#define()
  }

  async kill(): Promise<void> {
    this.#isDead = true
    await this.#jobs.close()
  }

  async end(): Promise<void> {
    await Promise.all([this.#owner.release(), this.#jobs.close()])
  }

  async reload(): Promise<void> {
    const old = this.#owner
    this.#owner = new Owner()
    this.#define()
    await old.release()
  }

  #define(): JobQueue<Input> {
    return this.#jobs.jobs.define(this.#owner, 'law', {
      input,
      concurrency: 3,
      lane: ({ id }) => (id < 'c' ? 'low' : 'high'),
      perLane: 2,
      delaysMs: [0, 0],
      run: (job) => this.#run(job),
    })
  }

  async #run({
    input: { id, failsAt, turns: count, waits },
    attempt,
    step,
    waitFor,
  }: Job<Input>): Promise<string> {
    const told = waits ? await waitFor('go') : undefined
    const values: string[] = []
    for (const name of steps) {
      const what = `${id} ${name}`
      const value = await step(name, async () => {
        await this.#lives(count)
        this.#world.happen(what)
        await this.#lives(count)
        if (failsAt === name && attempt === 1) throw new Error('as it was told')
        return `${name} of ${id}`
      })
      await this.#lives(0)
      this.#world.memoised.add(what)
      values.push(value)
    }
    return [...values, told ?? ''].join(', ')
  }

  /** Goes on after so many turns, unless the process has died. */
  async #lives(count: number): Promise<void> {
    await turns(count)
    if (this.#isDead) await new Promise(() => {})
  }
}

test('whatever is killed, restarted, reloaded and cancelled: each step happens, none again that is kept, and one result', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(aCommand, { maxLength: 25 }), async (commands) => {
      parts += 1
      const store = engine.namespace(`law-${parts}`)
      const world = new World()
      const added = new Map<string, Input>()
      const start = async () => new Life(await openJobs(store), world)
      let life = await start()
      const { jobs, contents } = openTable(store, Date.now)
      const unwatch = jobs.watch(({ row }) => {
        if (row?.endedAt === undefined) return
        const results = world.results.get(row.id) ?? []
        world.results.set(row.id, [
          ...results,
          JSON.stringify([row.status, contents.open(row.result) ?? null]),
        ])
      })
      const cancelled = new Set<string>()
      for (const command of commands) {
        switch (command.does) {
          case 'add': {
            const { does: _, ...given } = command
            if (!added.has(given.id)) added.set(given.id, given)
            await life.queue.add(given, { id: given.id })
            break
          }
          case 'go on':
            await turns(command.turns)
            break
          case 'cancel':
            if (await life.queue.cancel(command.id).catch(() => undefined)) cancelled.add(command.id)
            break
          case 'tell':
            await life.queue.signal(command.id, 'go', 'told').catch(() => {})
            break
          case 'reload':
            await life.reload()
            break
          default:
            await (command.does === 'kill' ? life.kill() : life.end())
            life = await start()
        }
      }
      for (const id of added.keys()) await life.queue.signal(id, 'go', 'told').catch(() => {})
      const { queue } = life
      await expect
        .poll(async () => (await queue.list()).items.filter(({ endedAt }) => endedAt === undefined), {
          interval: 1,
        })
        .toEqual([])
      await life.end()
      unwatch()

      expect(world.again).toEqual([])
      for (const [id, { waits }] of added) {
        const told = waits ? 'told' : ''
        const result = [...steps.map((name) => `${name} of ${id}`), told].join(', ')
        const expected = cancelled.has(id) ? ['cancelled', null] : ['completed', result]
        expect(new Set(world.results.get(`test.law:${id}`))).toEqual(new Set([JSON.stringify(expected)]))
        if (cancelled.has(id)) continue
        for (const name of steps) expect(world.effects.get(`${id} ${name}`)).toBeGreaterThanOrEqual(1)
      }
    }),
    runs(60),
  )
})
