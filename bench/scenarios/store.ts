import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { Collection, Engine, Log } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { prose } from '../request.ts'
import { median, quantile } from '../statistics.ts'
import type { Row, Table } from '../table.ts'
import {
  bodyOf,
  HOUR_MS,
  MODELS,
  openTraces,
  START_MS,
  STEP_MS,
  type Trace,
  traceOf,
  USERS,
} from './traces.ts'

const REPEATS = 25
const BATCH = 500
/** Writes so many traces into a fresh store, then asks it what the lists and charts of a dashboard ask. */
export async function measureStore(count: number, report: (line: string) => void): Promise<Table[]> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-store-'))
  try {
    const engine = await openLevel(folder)
    try {
      const writes = [await writeTraces(engine, folder, count, report), ...(await writeRows(engine))]
      return [
        { title: `Store: writes (${count.toLocaleString('en')} traces)`, notes: [], rows: writes },
        {
          title: 'Store: queries on them',
          notes: [],
          rows: await queryTraces(openTraces(engine), count, report),
        },
      ]
    } finally {
      await engine.close()
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function writeTraces(
  engine: Engine,
  folder: string,
  count: number,
  report: (line: string) => void,
): Promise<Row> {
  const log = openTraces(engine)
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  for (let n = 0; n < count; n += 1) {
    log.append(traceOf(n), () => bodyOf(n))
    if (n % BATCH === BATCH - 1) await log.flush()
  }
  await log.flush()
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpu)
  report(`store: ${count} traces in ${seconds.toFixed(1)} s`)
  return {
    write: `log append, flushed every ${BATCH}`,
    per_second: count / seconds,
    cpu_us: (user + system) / count,
    disk_bytes_per_row: (await sizeOf(folder)) / count,
    dropped: log.status().dropped,
  }
}

const account = z.object({ name: z.string(), plan: z.string(), note: z.string() })

/** Acknowledged writes, each on disk when it resolves: one after another, and a hundred at a time. */
async function writeRows(engine: Engine): Promise<Row[]> {
  const accounts = engine.collection('accounts', { schema: account, indexes: { plan: (row) => row.plan } })
  return [
    await putRows(accounts, 'collection put, one at a time', 200, 1),
    await putRows(accounts, 'collection put, 100 at a time', 5000, 100),
  ]
}

async function putRows(
  accounts: Collection<z.infer<typeof account>>,
  write: string,
  count: number,
  together: number,
): Promise<Row> {
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  for (let n = 0; n < count; n += together) {
    const puts = Array.from({ length: together }, (_, index) =>
      accounts.put(`${write} ${n + index}`, { name: `n${n}`, plan: `p${n % 3}`, note: prose(200) }),
    )
    await Promise.all(puts)
  }
  const seconds = (performance.now() - startedAt) / 1000
  const { user, system } = process.cpuUsage(cpu)
  return {
    write,
    per_second: count / seconds,
    cpu_us: (user + system) / count,
    disk_bytes_per_row: Number.NaN,
    dropped: 0,
  }
}

async function queryTraces(log: Log<Trace>, count: number, report: (line: string) => void): Promise<Row[]> {
  const end = START_MS + count * STEP_MS
  const day = new Date(end - 24 * HOUR_MS).toISOString().slice(0, 13)
  const idOf = (n: number) => traceOf(Math.floor(n) % count).id
  const page = async (query: Parameters<Log<Trace>['list']>[0]) => {
    const { items, total } = await log.list({ limit: 50, ...query })
    return `${items.length} of ${total.toLocaleString('en')}`
  }
  const queries: [string, (repeat: number) => Promise<string>][] = [
    ['newest 50', () => page({})],
    ['newest 50 of a model', (repeat) => page({ where: { model: MODELS[repeat % MODELS.length]! } })],
    ['newest 50 of a user', (repeat) => page({ where: { user_id: `usr_${repeat % USERS}` } })],
    [
      'newest 50 of a user that failed',
      (repeat) => page({ where: { user_id: `usr_${(repeat * 10) % USERS}`, status: 'error' } }),
    ],
    ['of two models, in one project', () => page({ where: { model: MODELS.slice(0, 2), project: 'docs' } })],
    ['newest 50 that took long', (repeat) => page({ atLeast: { latency_ms: 700.5 + 10 * repeat } })],
    [
      'one hour in the middle',
      () => page({ from: end - (count / 2) * STEP_MS, to: end - (count / 2) * STEP_MS + HOUR_MS }),
    ],
    ['page at offset half of all', () => page({ offset: count / 2 })],
    ['one by id', async (repeat) => (await log.get(idOf(repeat * 7919)))?.id ?? 'missing'],
    ['its body', async (repeat) => `${(await log.body(idOf(repeat * 7919)))?.length ?? 0} bytes`],
    ['totals of the last day', async () => `${(await log.totals(day, '9')).cells.length} cells`],
  ]
  const rows: Row[] = []
  for (const [query, run] of queries) {
    const times: number[] = []
    let answer = ''
    for (let repeat = 0; repeat < REPEATS; repeat += 1) {
      const startedAt = performance.now()
      answer = await run(repeat)
      times.push(performance.now() - startedAt)
    }
    report(`store: ${query}: ${median(times).toFixed(2)} ms`)
    rows.push({ query, median_ms: median(times), slowest_ms: quantile(times, 1), answer })
  }
  return rows
}

async function sizeOf(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}
