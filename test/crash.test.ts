import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type GatewayProcess, startProcess } from './process.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

const adminKey = 'sy_admin_crash_0123456789'
let upstream: Upstream
let folder: string
let gateway: GatewayProcess

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-crash-'))
  gateway = await start()
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const start = (): Promise<GatewayProcess> =>
  startProcess({
    SERVICE_DATA_DIR: path.join(folder, 'data'),
    SERVICE_ADMIN_KEY: adminKey,
    OPENAI_API_KEY: 'sk-test',
    OPENAI_BASE_URL: upstream.baseUrl(),
  })

async function api(url: string, method: string, at: string, body?: unknown, key = adminKey) {
  const response = await fetch(url + at, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

const call = (url: string, key: string, stream: boolean) =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      stream,
      messages: [{ role: 'user', content: 'under load' }],
    }),
  })

interface Acknowledged {
  readonly users: { user_id: string; api_key: string }[]
  readonly modules: Map<string, number>
}

/** Signs users up, reconfigures and calls, until the process dies; adds to `done` what is acknowledged. */
async function load(url: string, ended: { now: boolean }, round: number, done: Acknowledged): Promise<void> {
  const forever = async (step: (n: number) => Promise<void>): Promise<void> => {
    for (let n = 0; !ended.now; n += 1) await step(n).catch(() => {})
  }
  const signUps = Array.from({ length: 4 }, (_, lane) =>
    forever(async (n) => {
      const email = `user-${round}-${lane}-${n}@example.com`
      const { status, body } = await api(url, 'POST', '/api/auth/signup', { email, name: 'x' }, '')
      if (status === 201) done.users.push(body)
    }),
  )
  const toggles = forever(async (n) => {
    const config = { default_max_tokens: 1000 + n }
    const { status } = await api(url, 'PUT', '/api/proxy/modules/outputcap', { enabled: true, config })
    if (status === 200) done.modules.set('outputcap', 1000 + n)
    await new Promise((resolve) => setTimeout(resolve, 600))
  })
  const calls = Array.from({ length: 8 }, (_, lane) =>
    forever(async () => void (await (await call(url, adminKey, lane % 2 === 0)).text())),
  )
  await Promise.all([...signUps, toggles, ...calls])
}

test('killed under load, three times over, it loses nothing that it acknowledged', async () => {
  for (let round = 0; round < 3; round += 1) {
    const ended = { now: false }
    const done: Acknowledged = { users: [], modules: new Map() }
    const { users, modules } = done
    const running = load(gateway.url, ended, round, done)
    await expect.poll(() => users.length, { timeout: 30_000 }).toBeGreaterThan(5)
    await gateway.end('SIGKILL')
    ended.now = true
    await running

    gateway = await start()
    for (const { user_id, api_key } of users) {
      const me = await api(gateway.url, 'GET', '/api/auth/me', undefined, api_key)
      expect(me.status).toBe(200)
      expect(me.body).toMatchObject({ user_id })
    }
    const capped = await api(gateway.url, 'GET', '/api/proxy/modules/outputcap')
    expect(capped.body.config.default_max_tokens).toBeGreaterThanOrEqual(modules.get('outputcap') ?? 0)

    const listed = await api(gateway.url, 'GET', '/api/auth/users?limit=500')
    expect(listed.body.users).toHaveLength(Math.min(500, listed.body.total))
    await consistentTraces(gateway.url)
  }
}, 90_000)

/** Counts, pages and sums of the traces tell one story. */
async function consistentTraces(url: string): Promise<void> {
  const first = await api(url, 'GET', '/api/observe/traces?limit=500')
  let seen = 0
  let cost = 0
  for (let offset = 0; offset < first.body.total; offset += 500) {
    const { body } = await api(url, 'GET', `/api/observe/traces?limit=500&offset=${offset}`)
    seen += body.traces.length
    for (const trace of body.traces) cost += trace.cost_usd ?? 0
  }
  expect(seen).toBe(first.body.total)
  const costs = await api(url, 'GET', '/api/observe/costs?days=2')
  expect(costs.body.total_usd).toBeCloseTo(cost, 9)
}

test('what was flushed is there after a kill, and a call in flight is not half there', async () => {
  const answer = await call(gateway.url, adminKey, false)
  const id = answer.headers.get('x-trace-id')
  await answer.text()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  upstream.reset()
  upstream.reply({ hang: true })
  const hanging = call(gateway.url, adminKey, false).catch(() => {})
  await expect.poll(() => upstream.requests.length).toBe(1)
  await gateway.end('SIGKILL')
  await hanging

  gateway = await start()
  const trace = await api(gateway.url, 'GET', `/api/observe/traces/${id}`)
  expect(trace.status).toBe(200)
  expect(trace.body).toMatchObject({ id, status: 'ok' })
  expect(await gateway.end('SIGTERM')).toBe(0)
})
