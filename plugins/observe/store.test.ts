import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noUsage } from '../../kit/canonical/usage.ts'
import { createIds } from '../../kit/id.ts'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { dayOf } from './cells.ts'
import type { TraceRow } from './row.ts'
import { type TraceFilter, Traces } from './traces.ts'

const day = 86_400_000
const newId = createIds()

const forAll = (days: number) => ({ days, projects: {} })

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-test-'))
  engine = await openLevel(path.join(folder, 'db'))
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

/** A row like a real one; `n` decides what differs. */
function sample(n: number, at: number): TraceRow {
  const latency_us = 100_000 + ((n * 7919) % 2_000_000)
  return {
    id: newId('tr_'),
    request_id: undefined,
    parent_id: undefined,
    session_id: n % 10 === 0 ? `session-${n % 500}` : undefined,
    run_id: undefined,
    at,
    source: 'proxy',
    operation: 'chat',
    wire: 'chat',
    user_id: `usr_${n % 50}`,
    key_id: `key_${n % 100}`,
    project: `project-${n % 20}`,
    tags: { team: `team-${n % 7}` },
    model_requested: `model-${n % 12}`,
    model: `model-${n % 12}`,
    provider: `provider-${n % 4}`,
    provider_model: `model-${n % 12}`,
    status: n % 97 === 0 ? 'error' : 'ok',
    status_code: 200,
    error: undefined,
    stream: n % 2 === 0,
    latency_us,
    ttft_us: 50_000,
    upstream_us: latency_us - 400,
    usage: { ...noUsage, input: 100 + (n % 900), output: 20 + (n % 300), source: 'provider' },
    cost: {
      total_nano: 15_000 + n,
      input_nano: 15_000,
      output_nano: n,
      cache_nano: 0,
      other_nano: 0,
      price_id: 'openai/gpt-4o-mini',
      source: 'catalogue',
    },
    saved_nano: undefined,
    saved_by_autopilot_nano: n % 10 === 0 ? 3 : undefined,
    finish_reason: 'stop',
    cache: undefined,
    attempts: [
      {
        n: 1,
        provider: `provider-${n % 4}`,
        model: `model-${n % 12}`,
        key_hint: 'abcd',
        status: 200,
        latency_us: latency_us - 400,
        error: undefined,
        reason_next: undefined,
      },
    ],
    timings: [
      ['idlekill', 'request', 3],
      ['outputcap', 'request', 2],
      ['streamsnap', 'stream', 40],
    ],
    notes: [],
    decisions: [],
    params_changed: [],
    facts: {},
    generation: 1,
    bodies: 'stored',
  }
}

test('what traces add up to outlives them and their bodies', async () => {
  const traces = new Traces(engine.namespace('pruned'), 250)
  const now = Date.now()
  for (let n = 0; n < 100; n++) void traces.append(sample(n, now - n * day), () => `{"request":{"n":${n}}}`)
  const cells = traces.cells(undefined)
  const total = async (name: string) => {
    const days = await cells.byDay(0, dayOf(now))
    return [...days.values()].reduce((sum, tally) => sum + tally.get(name), 0)
  }
  const before = [await total('requests'), await total('cost_nano'), await total('saved_by_autopilot_nano')]
  expect(before).toEqual([100, 100 * 15_000 + 4950, 30])
  const [oldest] = (await traces.list({}, { limit: 1, offset: 0 })).items

  await traces.prune({ traces: forAll(30), bodies: forAll(7) }, now)
  const left = await traces.list({}, { limit: 500, offset: 0 })
  expect(left.total).toBe(31)
  const bodies = await Promise.all(left.items.map(({ id }) => traces.bodies(id)))
  expect(bodies.filter((body) => body)).toHaveLength(8)
  expect(await traces.get(oldest!.id)).toBeUndefined()
  expect([await total('requests'), await total('cost_nano'), await total('saved_by_autopilot_nano')]).toEqual(
    before,
  )
  const minutes = async (daysAgo: number) =>
    (await cells.series(now - daysAgo * day - 60_000, now - daysAgo * day + 60_000, 60_000)).size
  expect([await minutes(20), await minutes(40)]).toEqual([1, 0])
})

test('projects have ages of their own, shorter and longer, which a sweep and the sweeps after it keep to', async () => {
  const traces = new Traces(engine.namespace('projects'), 250)
  const now = Date.now()
  for (let n = 0; n < 60; n++)
    for (const project of ['brief', 'usual', 'long'])
      await traces.append({ ...sample(n, now - n * day - 1), project }, () => '{"request":{}}')
  const ages = {
    traces: { days: 30, projects: { brief: 5, long: 50 } },
    bodies: { days: 10, projects: { brief: 2, long: 20 } },
  }
  const left = async () => {
    const counts = await Promise.all(
      ['brief', 'usual', 'long'].map(async (project) => {
        const { items } = await traces.list({ project }, { limit: 100 })
        const bodies = await Promise.all(items.map(({ id }) => traces.bodies(id)))
        return [items.length, bodies.filter((body) => body).length]
      }),
    )
    return counts.flat()
  }
  await traces.prune(ages, now)
  expect(await left()).toEqual([5, 2, 30, 10, 50, 20])
  await traces.prune(ages, now + 2 * day)
  expect(await left()).toEqual([3, 0, 28, 8, 48, 18])
  await traces.prune({ ...ages, traces: { days: 1, projects: { long: 7 } } }, now + 2 * day)
  expect(await left()).toEqual([0, 0, 0, 0, 5, 5])
})

test('a follower meets each trace once, in the order of writing, also while some are added and old ones go', async () => {
  const traces = new Traces(engine.namespace('followed'), 10)
  const now = Date.now()
  // A call that lasted longer is written later, and began before the others.
  const times = Array.from({ length: 60 }, (_, n) => now - ((n * 37) % 60) * 1000)
  const rows = times.map((at, n) => sample(n, at))
  const met: string[] = []
  let after: string | undefined
  const follow = async (limit: number): Promise<number> => {
    const page = await traces.follow({ after, from: now - day }, limit)
    met.push(...page.traces.map(({ id }) => id))
    after = page.after
    return page.traces.length
  }
  expect([await follow(10), after]).toEqual([0, undefined])
  for (const row of rows.slice(0, 40)) await traces.append(row)
  expect([await follow(25), await follow(25), await follow(25)]).toEqual([25, 15, 0])
  await traces.append(sample(1, now - 2 * day))
  for (const row of rows.slice(40)) await traces.append(row)
  await traces.prune({ traces: forAll(1), bodies: forAll(1) }, now + 1000)
  while ((await follow(7)) > 0);
  expect(met).toEqual(rows.map(({ id }) => id))
})

test('models that a client makes up are summed up as one, and nothing is left out', async () => {
  const traces = new Traces(engine.namespace('made-up'), 250)
  const now = Date.now()
  for (let n = 0; n < 300; n++)
    void traces.append({ ...sample(n, now), user_id: 'usr_1', project: 'p', model: `made-up-${n}` })
  const [today, all] = [dayOf(now), traces.cells(undefined)]
  const models = await all.byValue('model', today, today)
  expect(models.size).toBe(201)
  expect(models.get('(other)')?.get('requests')).toBe(100)
  const requests = [...models.values()].reduce((sum, tally) => sum + tally.get('requests'), 0)
  expect(requests).toBe(300)
})

/** So many that to look at each takes far longer than a page may. `TRACES=100000` is the full form. */
const rows = Number(process.env.TRACES ?? 25_000)

describe(`with ${rows} traces`, () => {
  const days = 23
  const gapMs = (days * day) / rows
  const now = Date.now()
  let traces: Traces
  const measured: string[] = []

  beforeAll(async () => {
    traces = new Traces(engine.namespace('many'), 250)
    const samples = Array.from({ length: rows }, (_, n) => sample(n, now - (rows - n) * gapMs))
    let appending = 0
    const began = performance.now()
    for (let from = 0; from < rows; from += 5000) {
      const started = performance.now()
      for (const row of samples.slice(from, from + 5000)) void traces.append(row)
      appending += performance.now() - started
      await engine.flush()
    }
    const writing = performance.now() - began - appending
    measured.push(`append: ${per(appending)}`, `write: ${per(writing)}`)
  }, 120_000)

  afterAll(() => {
    console.info(measured.join('\n'))
  })

  const per = (ms: number): string => `${((ms * 1000) / rows).toFixed(1)} µs a trace`

  async function timed<T>(what: string, run: () => Promise<T>): Promise<T> {
    const times: number[] = []
    let result: T | undefined
    for (let n = 0; n < 5; n++) {
      const started = performance.now()
      result = await run()
      times.push(performance.now() - started)
    }
    const median = times.toSorted((a, b) => a - b)[2]!
    measured.push(`${what}: ${median.toFixed(1)} ms`)
    expect(median).toBeLessThan(200)
    return result!
  }

  const filters: [TraceFilter, number][] = [
    [{}, rows],
    [{ model: 'model-3' }, rows / 12],
    [{ user_id: 'usr_7' }, rows / 50],
    [{ user_id: 'usr_7', status: 'ok', provider: 'provider-3' }, ((rows / 100) * 96) / 97],
    [{ tag: 'team=team-2' }, rows / 7],
    [{ min_latency: 1500 }, rows * 0.3],
    [{ min_latency: 2080 }, rows / 100],
    [{ min_cost: (15_000 + 0.2 * rows) / 1e9 }, rows * 0.8],
    [{ from: now - day }, rows / days],
  ]

  test.each(filters)('the first page of %j comes at once, with its total', async (filter, about) => {
    const page = await timed(JSON.stringify(filter), () => traces.list(filter, { limit: 50, offset: 0 }))
    expect(page.items).toHaveLength(50)
    expect(Math.abs(page.total - about)).toBeLessThanOrEqual(about * 0.05)
  })

  test('a trace is found by its id', async () => {
    const [row] = (await traces.list({}, { limit: 1, offset: rows * 0.7 })).items
    expect(await timed('by id', () => traces.get(row!.id))).toEqual(row)
  })

  test('sums and series are read at once', async () => {
    const cells = traces.cells(undefined)
    const days = await timed('30 days of totals', () => cells.byDay(dayOf(now) - 29, dayOf(now)))
    expect([...days.values()].reduce((sum, tally) => sum + tally.get('requests'), 0)).toBe(rows)
    await timed('30 days by model', () => cells.byValue('model', dayOf(now) - 29, dayOf(now)))
    await timed('a day by minutes', () => cells.series(now - day, now, 60_000))
    await timed("a user's week by hours", () => traces.cells('usr_7').series(now - 7 * day, now, 3_600_000))
  })
})
