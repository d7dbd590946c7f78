import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
/** Kills; more by hand. */
const kills = Number(process.env.BILLSYNC_KILLS ?? 2)
const callsBetween = 40

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-billsync-'))
  upstream = await startUpstream()
  const config = {
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    modules: { billsync: { enabled: true, config: { markup_pct: 12.5 } } },
    auth: { admin_rpm: 1_000_000 },
    server: { threads: 2 },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(config))
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const start = () =>
  startProcess({
    SERVICE_CONFIG: path.join(folder, 'service.yaml'),
    SERVICE_DATA_DIR: path.join(folder, 'data'),
    SERVICE_ADMIN_KEY: adminKey,
  })

const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }

async function read(at: string): Promise<string> {
  const response = await fetch(gateway.url + at, { headers: { ...headers, connection: 'close' } })
  return response.text()
}

async function call(n: number): Promise<void> {
  const body = JSON.stringify({
    model: 'gpt-4o',
    stream: n % 2 === 0,
    messages: [{ role: 'user', content: `Hello ${n}` }],
  })
  const sent = { method: 'POST', headers: { ...headers, connection: 'close' }, body }
  await (await fetch(`${gateway.url}/v1/chat/completions`, sent)).text()
}

const traceTotal = async (): Promise<number> => JSON.parse(await read('/api/observe/traces?limit=1')).total

test('after kills between calls and their bills, each trace is billed once and none is missing', async () => {
  for (let kill = 0; kill < kills; kill += 1) {
    gateway = await start()
    const before = await traceTotal()
    const running = Promise.allSettled(Array.from({ length: callsBetween }, (_, n) => call(n)))
    // At other moments each time: with calls under way, or with traces that are written and not billed.
    if (kill % 2 === 0) await running
    await expect.poll(traceTotal).toBeGreaterThan(before)
    await gateway.end('SIGKILL')
    await running
  }
  gateway = await start()
  await call(0)
  const billed = async () =>
    (await read('/api/modules/billsync/ledger.jsonl'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  const total = await traceTotal()
  expect(total).toBeGreaterThan(callsBetween)
  await expect.poll(async () => (await billed()).length).toBeGreaterThanOrEqual(total)

  const entries = await billed()
  const traces = JSON.parse(await read('/api/observe/traces?limit=500')).traces as {
    id: string
    cost_usd: number
  }[]
  const ids = entries.map(({ trace_id }) => trace_id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(new Set(ids)).toEqual(new Set(traces.map(({ id }) => id)))
  expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, i) => i + 1))

  const nano = (usd: number): bigint => BigInt(Math.round(usd * 1e9))
  const cost = traces.reduce((sum, { cost_usd }) => sum + nano(cost_usd), 0n)
  const { bills } = JSON.parse(await read('/api/modules/billsync/bills'))
  expect(bills).toHaveLength(1)
  expect(nano(bills[0].cost_usd)).toBe(cost)
  expect(nano(bills[0].amount)).toBe((cost * 11_250n + 5000n) / 10_000n)
}, 120_000)
