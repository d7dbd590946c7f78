import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
/** Kills; more by hand. */
const kills = Number(process.env.SAFETY_KILLS ?? 2)
const callsBetween = 40

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-safety-'))
  upstream = await startUpstream()
  const config = {
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    modules: { maskmode: { enabled: true, config: { mode: 'redact', entities: ['email', 'ip'] } } },
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

const headers = {
  authorization: `Bearer ${adminKey}`,
  'content-type': 'application/json',
  connection: 'close',
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes
async function read(at: string): Promise<any> {
  return (await fetch(gateway.url + at, { headers })).json()
}

/** Every third call has nothing to find, and others two things. */
async function call(n: number): Promise<void> {
  const content = n % 3 === 0 ? `Hello ${n}` : `I am ada${n}@example.com at 198.51.100.${n}`
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
  await (await fetch(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, body })).text()
}

test('over kills and two threads, an event exists for each finding of a trace, and no other', async () => {
  for (let kill = 0; kill < kills; kill += 1) {
    gateway = await start()
    const before = (await read('/api/observe/safety?limit=1')).total
    const running = Promise.allSettled(Array.from({ length: callsBetween }, (_, n) => call(n)))
    // At other moments each time: with calls under way, or with traces that are written and not followed.
    if (kill % 2 === 0) await running
    await expect.poll(async () => (await read('/api/observe/safety?limit=1')).total).toBeGreaterThan(before)
    await gateway.end('SIGKILL')
    await running
  }
  gateway = await start()
  await call(1)
  const events: { id: string; trace_id: string; category: string }[] = []
  for (let cursor = ''; ; ) {
    const page = await read(`/api/observe/safety?limit=500${cursor}`)
    events.push(...page.events)
    if (page.next_cursor === undefined) break
    cursor = `&cursor=${page.next_cursor}`
  }
  const { traces, total } = await read('/api/observe/traces?limit=500')
  expect(total).toBeLessThanOrEqual(500)
  const found = (traces as { id: string; guardrails: { label: string }[] }[]).flatMap(({ id, guardrails }) =>
    guardrails.map(({ label }) => `${id} ${label}`),
  )
  expect(found.length).toBeGreaterThan(callsBetween)
  expect(events.map(({ trace_id, category }) => `${trace_id} ${category}`).sort()).toEqual(found.sort())
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  expect((await read('/api/observe/safety/summary')).total).toBe(events.length)
}, 120_000)
