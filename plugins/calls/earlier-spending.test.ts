import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openLevel } from '../../storage/level.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let folder: string
let upstream: Upstream
let gateway: TestGateway | undefined

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-earlier-'))
  upstream = await startUpstream()
})

afterEach(async () => {
  await gateway?.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

async function start(): Promise<TestGateway> {
  gateway = await startGateway({
    upstream,
    dataDir: path.join(folder, 'data'),
    plugins: ['test/fixtures/modules/asker'],
    config: { prices: { 'openai/gpt-4o-mini': { input_usd_per_m: 1000, output_usd_per_m: 1000 } } },
  })
  return gateway
}

/** Counts as an earlier version did. */
async function count(spent: Readonly<Record<string, number>>): Promise<void> {
  const engine = await openLevel(path.join(folder, 'data', 'db'))
  const counters = await engine.namespace('plugins').namespace('calls').counters('spent')
  for (const [name, nano] of Object.entries(spent)) counters.add(name, nano)
  await counters.flush()
  await engine.close()
}

/** How many questions the module has asked a model for this call. */
async function asked({ api }: TestGateway): Promise<number> {
  upstream.reset()
  upstream.reply({ usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 }, times: 2 })
  const messages = [{ role: 'user', content: 'Hello' }]
  await api('POST', '/v1/chat/completions', { model: 'gpt-4o-mini', user: 'ask', messages })
  return upstream.requests.length - 1
}

test('what an earlier version counted today counts in the budget, once, and over restarts', async () => {
  await (await start()).close()
  const now = Date.now()
  await count({ [`${dayOf(now)} asker`]: 20_000_000, [`${dayOf(now - 86_400_000)} asker`]: 50_000_000 })
  await (await start()).close()
  const again = await start()
  expect([await asked(again), await asked(again)]).toEqual([1, 1])
  expect(await asked(again)).toBe(0)
})
