import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { expect, test } from 'vitest'
import { noUsage } from '../../kit/canonical/usage.ts'
import { newId } from '../../kit/id.ts'
import { LogKeys } from '../../storage/level/log-keys.ts'
import { checkRows, checkSums, openLevel } from '../../storage/level.ts'
import { startGateway } from '../../test/harness.ts'
import { dayOf } from './cells.ts'
import { fittedRow } from './fitted.ts'
import type { TraceRow } from './row.ts'
import { Traces } from './traces.ts'

const row = (): TraceRow => ({
  id: newId('tr_'),
  request_id: undefined,
  parent_id: undefined,
  session_id: undefined,
  run_id: undefined,
  at: Date.now(),
  source: 'proxy',
  operation: 'chat',
  wire: 'chat',
  user_id: 'usr_1',
  key_id: 'key_1',
  project: 'default',
  tags: {},
  model_requested: 'gpt-4o',
  model: 'gpt-4o',
  provider: 'openai',
  provider_model: 'gpt-4o',
  status: 'ok',
  status_code: 200,
  error: undefined,
  stream: false,
  latency_us: 1000,
  ttft_us: undefined,
  upstream_us: 900,
  usage: { ...noUsage, input: 7, output: 3, source: 'provider' },
  cost: undefined,
  saved_nano: undefined,
  saved_by_autopilot_nano: undefined,
  finish_reason: 'stop',
  cache: undefined,
  attempts: [],
  timings: [],
  notes: [],
  decisions: [],
  params_changed: [],
  facts: {},
  generation: undefined,
  bodies: 'off',
})

/** Rows as no version of today writes them. */
const odd: Record<string, unknown>[] = [
  { finish_reason: 7 },
  { usage: { ...noUsage, input: 1e300, source: 'provider' } },
  { at: 9e15 },
  { model: 7, tags: { a: 1 } },
  { latency_us: -1 },
  { tags: { team: 1 } },
  { params_changed: 'none' },
  { status: 'fine' },
]

test('what cannot be read is left out and counted, and the rest is shown', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'unreadable-'))
  const folder = path.join(dataDir, 'db')
  const engine = await openLevel(folder)
  const traces = new Traces(engine.namespace('plugins').namespace('observe'), 5)
  const good = row()
  const rows = odd.map((fields) => ({ ...row(), ...fields }) as TraceRow)
  for (const one of [good, ...rows]) void traces.append(one)
  await engine.close()
  const today = dayOf(Date.now())
  const keys = new LogKeys('plugins/observe/traces')
  const database = new Level<string, string>(folder)
  await database.put(keys.cell(`d/*/total/${today - 1}/`), '{"requests":1,"tokens_in":1e300}')
  await database.put(keys.cell(`d/*/provider/${today - 1}/openai`), '{"requests":null}')
  await database.put(keys.cell(`h/*/${Math.floor(Date.now() / 3_600_000) - 1}`), 'torn')
  await database.put('n/plugins/auth/usage!2026-11/usr_1/tokens_in', '1e300')
  await database.close()

  let gateway = await startGateway({ dataDir })
  const get = async (at: string) => {
    const { status, body } = await gateway.api('GET', `/api/observe/${at}`)
    expect(status, `${at} ${JSON.stringify(body)}`).toBe(200)
    return body
  }
  try {
    const page = await get('traces')
    expect(page.traces.map(({ id }: { id: string }) => id)).toEqual([good.id])
    expect(page).toMatchObject({ total: 1 + odd.length, has_more: false, unreadable: odd.length })
    expect(await get('traces?limit=1')).toMatchObject({ traces: [], has_more: true, unreadable: 1 })
    expect((await get(`traces/${good.id}`)).tokens_in).toBe(7)
    for (const { id } of rows) {
      for (const at of [`traces/${id}`, `traces/${id}/explain`])
        expect((await gateway.api('GET', `/api/observe/${at}`)).status).toBe(404)
    }
    expect(await get('overview')).toMatchObject({ unreadable: 2, total_requests: expect.any(Number) })
    expect(await get('costs')).toMatchObject({ unreadable: 2 })
    expect(await get('costs/daily')).toMatchObject({ unreadable: 1 })
    expect(await get('timeseries')).toMatchObject({ unreadable: 1 })
    expect(gateway.logged.join('')).toContain('left out of a listing')
    await gateway.close()

    const found = [
      { part: 'plugins/observe/traces', sums: 3 },
      { part: 'plugins/auth/usage', sums: 1 },
    ]
    expect(await checkSums(folder, { repair: false })).toEqual(found)
    expect(await checkSums(folder, { repair: true })).toEqual(found)
    expect(await checkSums(folder, { repair: true })).toEqual([])
    expect(await checkRows(folder, 'plugins/observe/traces', { fit: fittedRow })).toEqual({
      mended: 4,
      lost: odd.length - 4,
    })
    const kept: string[] = []
    const keep = async (some: readonly { line: string }[]): Promise<void> =>
      void kept.push(...some.map(({ line }) => line))
    await checkRows(folder, 'plugins/observe/traces', { fit: fittedRow, keep })
    expect(kept.map((line) => JSON.parse(line))).toEqual(JSON.parse(JSON.stringify(rows)))
    gateway = await startGateway({ dataDir })
    const mended = await get('traces')
    expect(mended).toMatchObject({ total: 5, has_more: false })
    expect(mended).not.toHaveProperty('unreadable')
    const shown = await Promise.all(rows.map(({ id }) => gateway.api('GET', `/api/observe/traces/${id}`)))
    expect(shown.filter(({ status }) => status === 200).map(({ body }) => body)).toMatchObject([
      { finish_reason: null, tokens_in: 7, model: 'gpt-4o' },
      { finish_reason: 'stop', tokens_in: 0 },
      { tags: {}, tokens_in: 7 },
      { params_dropped: [], params_renamed: [], tokens_in: 7 },
    ])
    for (const at of ['overview', 'costs', 'costs/daily', 'timeseries'])
      expect(await get(at)).not.toHaveProperty('unreadable')
    const { daily } = await get('costs/daily?days=2')
    expect(daily[0]).toMatchObject({ requests: 1, tokens_in: 0 })
  } finally {
    await gateway.close()
    await rm(dataDir, { recursive: true, force: true })
  }
})
