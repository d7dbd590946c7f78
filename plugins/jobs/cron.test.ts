import { expect, test } from 'vitest'
import type { CronOptions, Job, Store } from '#kernel'
import { type JobsProcess, Owner } from '../../test/jobs.ts'
import { JobsEngine } from '../../test/jobs-engine.ts'
import { cancel } from './changes.ts'
import { tidy } from './tidy.ts'

const jobsEngine = new JobsEngine()
const { newStore } = jobsEngine

const at = (text: string): number => Date.parse(text)

/** A clock that is set by hand, and what runs by it. */
class Wall {
  now: number
  readonly ran: string[] = []
  readonly store: Store
  process!: JobsProcess
  owner = new Owner()

  constructor(from: string, store = newStore()) {
    this.now = at(from)
    this.store = store
  }

  async start(): Promise<void> {
    this.process = await jobsEngine.open(this.store, { now: () => this.now })
  }

  cron(schedule: string, options?: CronOptions): void {
    const { jobs } = this.process
    const run = ({ input }: { input: { at: number } }) => {
      this.ran.push(new Date(input.at).toISOString())
    }
    jobs.cron(this.owner, 'tick', schedule, run, options)
  }

  async waiting(): Promise<string[]> {
    const { items } = await this.process.table.list({ kind: 'test.tick', status: 'waiting' }, {})
    return items.map(({ dueAt }) => new Date(dueAt!).toISOString())
  }

  /** Until the next run waits for this time, and nothing runs. */
  async settles(next: string): Promise<void> {
    await expect.poll(() => this.waiting(), { interval: 5 }).toEqual([new Date(at(next)).toISOString()])
    await expect.poll(() => this.process.state.runs.size, { interval: 5 }).toBe(0)
  }

  /** The clock goes on to this time. */
  async comes(time: string, next: string): Promise<void> {
    this.now = at(time)
    this.process.state.wake()
    await this.settles(next)
  }

  async stop(): Promise<void> {
    await Promise.all([this.owner.release(), this.process.close()])
    this.owner = new Owner()
  }
}

test('a schedule runs at its times, in its time zone, once each', async () => {
  const wall = new Wall('2026-03-27T12:00:00Z')
  await wall.start()
  wall.cron('30 2 * * *', { timezone: 'Europe/Berlin' })
  await wall.settles('2026-03-28T01:30:00Z')
  await wall.comes('2026-03-28T01:29:59.999Z', '2026-03-28T01:30:00Z')
  expect(wall.ran).toEqual([])
  // The 29th has no half past two: it is three o'clock then.
  await wall.comes('2026-03-28T01:30:00Z', '2026-03-29T01:00:00Z')
  await wall.comes('2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z')
  expect(wall.ran).toEqual(['2026-03-28T01:30:00.000Z', '2026-03-29T01:00:00.000Z'])
})

test('a time that comes twice in a night runs once', async () => {
  const wall = new Wall('2026-10-24T12:00:00Z')
  await wall.start()
  wall.cron('30 2 * * *', { timezone: 'Europe/Berlin' })
  await wall.settles('2026-10-25T00:30:00Z')
  await wall.comes('2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z')
  expect(wall.ran).toHaveLength(1)
})

test.for([
  { missed: 'once' as const, ran: ['2026-11-22T01:00:00.000Z', '2026-11-22T06:00:00.000Z'] },
  { missed: 'skip' as const, ran: ['2026-11-22T06:00:00.000Z'] },
])('what was missed while the gateway was down: $missed', async ({ missed, ran }) => {
  const before = new Wall('2026-11-22T00:30:00Z')
  await before.start()
  before.cron('0 * * * *', { missed })
  await before.settles('2026-11-22T01:00:00Z')
  await before.stop()

  const after = new Wall('2026-11-22T05:10:00Z', before.store)
  await after.start()
  after.cron('0 * * * *', { missed })
  await after.settles('2026-11-22T06:00:00Z')
  await after.comes('2026-11-22T06:00:30Z', '2026-11-22T07:00:00Z')
  expect(after.ran).toEqual(ran)
})

test('a run that began in time goes on after a crash, however late, where what is missed is skipped', async () => {
  const before = new Wall('2026-11-22T00:59:59Z')
  await before.start()
  const began = Promise.withResolvers<void>()
  const hang = async ({ step }: Pick<Job<unknown>, 'step'>) => {
    await step('begins', () => began.resolve())
    await new Promise(() => {})
  }
  before.process.jobs.cron(before.owner, 'tick', '0 * * * *', hang, { missed: 'skip' })
  await before.settles('2026-11-22T01:00:00Z')
  before.now = at('2026-11-22T01:00:00Z')
  before.process.state.wake()
  await began.promise
  await before.process.close()

  const after = new Wall('2026-11-22T01:30:00Z', before.store)
  await after.start()
  after.cron('0 * * * *', { missed: 'skip' })
  await after.settles('2026-11-22T02:00:00Z')
  await expect.poll(() => after.ran, { interval: 5 }).toEqual(['2026-11-22T01:00:00.000Z'])
})

test('another schedule takes the place of the one before, and may be taken back', async () => {
  const wall = new Wall('2026-11-22T00:30:00Z')
  await wall.start()
  wall.cron('0 4 * * *')
  await wall.settles('2026-11-22T04:00:00Z')
  for (const [schedule, next] of [
    ['0 5 * * *', '2026-11-22T05:00:00Z'],
    ['0 4 * * *', '2026-11-22T04:00:00Z'],
  ] as const) {
    await wall.owner.release()
    wall.cron(schedule)
    await wall.settles(next)
  }
  await wall.comes('2026-11-22T04:00:00Z', '2026-11-23T04:00:00Z')
  expect(wall.ran).toHaveLength(1)
})

test('a run that is cancelled beforehand is left out, and the next one comes', async () => {
  const wall = new Wall('2026-11-22T00:30:00Z')
  await wall.start()
  wall.cron('0 * * * *')
  await wall.settles('2026-11-22T01:00:00Z')
  const { table, state } = wall.process
  const [waiting] = (await table.list({ kind: 'test.tick' }, {})).items
  await table.change(waiting!.id, cancel)
  await tidy(state, table, wall.now)
  expect(await wall.waiting()).toEqual([])
  wall.now = at('2026-11-22T01:00:20Z')
  await tidy(state, table, wall.now)
  await wall.settles('2026-11-22T02:00:00Z')
  expect(wall.ran).toEqual([])
})

test('what is no schedule is refused when it is defined', async () => {
  const wall = new Wall('2026-11-22T00:30:00Z')
  await wall.start()
  expect(() => wall.cron('every day')).toThrow()
  expect(() => wall.cron('0 0 30 2 *')).toThrow(/never comes/)
  expect(() => wall.cron('0 * * * *', { timezone: 'Mars/Olympus' })).toThrow()
})
