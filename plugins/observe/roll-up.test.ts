import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FigureLine, FigureSums } from '#kernel'
import { noUsage } from '../../kit/canonical/usage.ts'
import { createIds } from '../../kit/id.ts'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { runs } from '../../test/suite/runs.ts'
import { dayOf } from './cells.ts'
import { figuresOf } from './figures.ts'
import type { TraceRow } from './row.ts'
import { Traces } from './traces.ts'

const quarter = 900_000
const hourMs = 4 * quarter
const day = 96 * quarter
const now = Date.UTC(2026, 10, 22, 15)
const newId = createIds()

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

/** Traces of two months. The names of some projects and tags are beginnings of others, or look like cells. */
const rows = fc
  .record({
    at: fc.nat(63 * day).map((ago) => now - ago),
    source: fc.constantFrom('proxy', 'proxy', 'replay', 'plugin:judge', 'manual'),
    user_id: fc.constantFrom(undefined, 'usr_1', 'usr_2'),
    tenant: fc.constantFrom(undefined, 'acme'),
    key_id: fc.constantFrom('key_1', 'key_2'),
    project: fc.constantFrom('a', 'a/b', `a/${Math.floor(now / quarter)}`),
    tags: fc.constantFrom<Record<string, string>>({}, { team: 'x' }, { team: 'x/y', env: 'prod' }),
    own_key: fc.constantFrom(undefined, true as const),
    nano: fc.nat(1_000_000_007),
    unpriced: fc.constantFrom(undefined, undefined, 2),
    usage: fc
      .record({ input: fc.nat(999), output: fc.nat(999), cachedRead: fc.nat(99), reasoning: fc.nat(99) })
      .map((used) => ({ ...noUsage, ...used })),
  })
  .map(
    ({ nano, unpriced, own_key, tenant, ...row }) =>
      ({
        ...row,
        ...(own_key && { own_key }),
        ...(tenant && { tenant }),
        id: newId('tr_'),
        model: 'gpt-4o',
        provider: 'openai',
        status: 'ok',
        latency_us: 1,
        cost: { total_nano: nano, ...(unpriced && { unpriced }) },
      }) as unknown as TraceRow,
  )

function sumsOf(all: readonly TraceRow[]): FigureSums {
  const sum = (of: (row: TraceRow) => number): number => all.reduce((total, row) => total + of(row), 0)
  const unpriced = all.filter(({ cost }) => cost!.unpriced !== undefined).length
  return {
    requests: all.length,
    errors: 0,
    tokensIn: sum(({ usage }) => usage.input),
    tokensOut: sum(({ usage }) => usage.output),
    tokensCached: sum(({ usage }) => usage.cachedRead),
    tokensReasoning: sum(({ usage }) => usage.reasoning),
    costNano: sum(({ cost }) => cost!.total_nano),
    ownKeyNano: sum(({ cost, own_key }) => (own_key ? cost!.total_nano : 0)),
    ...(unpriced > 0 && { unpriced }),
  }
}

function groups(all: readonly TraceRow[], of: (row: TraceRow) => readonly (string | number | undefined)[]) {
  const lines = new Map<string | number, TraceRow[]>()
  for (const row of all)
    for (const value of of(row)) if (value !== undefined) lines.set(value, [...(lines.get(value) ?? []), row])
  return new Map(Array.from(lines, ([value, group]) => [value, sumsOf(group)]))
}

let stores = 0

test('figures are what all traces add up to but reported ones, by holder and quarter, by value and by day', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rows, { maxLength: 60 }),
      fc.nat(63 * 96).map((ago) => now - ago * quarter),
      async (all, from) => {
        stores += 1
        const traces = new Traces(engine.namespace(`figures-${stores}`), 1)
        for (const row of all) void traces.append(row)
        const figures = figuresOf(traces)
        const made = all.filter(({ source }) => source !== 'manual')
        const holders = {
          total: () => '',
          user: (row: TraceRow) => row.user_id,
          key: (row: TraceRow) => row.key_id,
          project: ({ project, tenant }: TraceRow) =>
            tenant === undefined ? project : JSON.stringify([tenant, project]),
          tenant: (row: TraceRow) => row.tenant,
        } as const
        for (const [dimension, of] of Object.entries(holders)) {
          for (const value of new Set(all.map(of))) {
            if (value === undefined) continue
            const later = made.filter((row) => of(row) === value && row.at >= from)
            expect(await figures.since(dimension as keyof typeof holders, value, from, now + 1)).toEqual(
              sumsOf(later),
            )
          }
          if (dimension === 'total' || dimension === 'project') continue
          expect(await figures.byValue(dimension as 'key', 0, dayOf(now))).toEqual(
            groups(made, (row) => [of(row)]),
          )
        }
        expect(await figures.byValue('project', 0, dayOf(now))).toEqual(
          groups(made, ({ project }) => [project]),
        )
        expect(await figures.byValue('tag', 0, dayOf(now))).toEqual(
          groups(made, ({ tags }) => Object.entries(tags).map(([name, value]) => `${name}=${value}`)),
        )
        const own = made.filter(({ user_id }) => user_id === 'usr_1')
        const told = (lines: readonly FigureLine[]) =>
          new Map(lines.map(({ at, value, sums }) => [`${at} ${value}`, sums]))
        for (const [user, calls] of [
          [undefined, made],
          ['usr_1', own],
        ] as const) {
          expect(told(await figures.days('model', 0, dayOf(now), user))).toEqual(
            groups(calls, ({ at }) => [`${Math.floor(at / day) * day} gpt-4o`]),
          )
          expect(told(await figures.days('total', 0, dayOf(now), user))).toEqual(
            groups(calls, ({ at }) => [`${Math.floor(at / day) * day} `]),
          )
        }
        const hour = Math.floor(from / hourMs) * hourMs
        expect(told(await figures.hours('key', hour, now + 1))).toEqual(
          groups(
            made.filter(({ at }) => at >= hour),
            ({ at, key_id }) => [`${Math.floor(at / hourMs) * hourMs} ${key_id}`],
          ),
        )
        const projects = new Map<string, number>()
        for (const { value, sums } of await figures.hours('project', hour, now + 1))
          projects.set(value, (projects.get(value) ?? 0) + sums.requests)
        expect(projects).toEqual(
          new Map(
            Array.from(
              groups(
                made.filter(({ at }) => at >= hour),
                ({ project }) => [project],
              ),
              ([project, { requests }]) => [project, requests],
            ),
          ),
        )
        expect(await figures.byValue('project', 0, dayOf(now), 'usr_1')).toEqual(
          groups(own, ({ project }) => [project]),
        )
        for (const user of [undefined, 'usr_1'])
          expect(await figures.byDay(0, dayOf(now), user)).toEqual(
            groups(
              made.filter(({ user_id }) => user === undefined || user_id === user),
              ({ at }) => [dayOf(at)],
            ),
          )
      },
    ),
    runs(15),
  )
})

test('quarters of an hour are kept for two months, sums by day for good', async () => {
  const traces = new Traces(engine.namespace('pruned-quarters'), 1)
  const [row] = fc.sample(rows, 1)
  for (const ago of [1, 62, 70])
    void traces.append({ ...row!, id: newId('tr_'), source: 'proxy', at: now - ago * day })
  const figures = figuresOf(traces)
  const age = { days: 1000, projects: {} }
  const since = async () => (await figures.since('total', '', now - 80 * day, now)).requests
  expect(await since()).toBe(3)
  await traces.prune({ traces: age, bodies: age }, now)
  expect(await since()).toBe(2)
  expect((await figures.byDay(0, dayOf(now))).size).toBe(3)
})
