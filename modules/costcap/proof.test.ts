import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { writeDropins } from '../../test/dropins.ts'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/**
 * A user's cap against calls that all come at once, half of them streamed, a third left early, some failed by the provider,
 * over threads and kills. `COSTCAP_CALLS=10000` makes it a cap of $1.00, four threads and two kills.
 */
const calls = Number(process.env.COSTCAP_CALLS ?? 300)
const [threads, kills] = calls < 10_000 ? [2, 1] : [4, 2]
const callUsd = 0.003
const longestMs = calls < 10_000 ? 120_000 : 600_000
const capUsd = calls / 10_000

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
const messages = [{ role: 'user', content: 'Hello' }]
const words = Array.from({ length: 20 }, (_, n) => `word${n} `)

/** Keeps each event by its id, as it may be delivered again after a kill. */
const listener = {
  manifest: { kind: 'area', permissions: ['routes', 'store'] },
  setup: `
    const any = { safeParse: (data) => ({ success: true, data }) }
    const rows = ctx.store.collection('seen', { schema: any })
    ctx.onAny((data, { id, type }) =>
      /^(cost|spend)\\./.test(type.name) ? rows.put(id, { type: type.name, ...data }) : undefined)
    ctx.route({ method: 'get', path: '/api/listener', access: 'admin', summary: 's', returns: 'text',
      handle: async () => JSON.stringify((await rows.list({ limit: 500 })).items) })`,
}

let folder: string
let dropins: Awaited<ReturnType<typeof writeDropins>>
let upstream: Upstream
let gateway: GatewayProcess

const start = async (): Promise<void> => {
  gateway = await startProcess({}, folder)
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-costcap-'))
  dropins = await writeDropins({ listener })
  upstream = await startUpstream()
  const usage = { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 }
  const times = Number.POSITIVE_INFINITY
  upstream.reply({ text: '"user":"fails"' }, { status: 400, times })
  upstream.reply(
    { text: '"user":"leaves"' },
    { usage, content: words, firstByteDelayMs: 20, gapMs: 5, times },
  )
  upstream.reply({ usage, content: words, times })
  const settings = {
    admin_key: adminKey,
    server: { threads },
    auth: { admin_rpm: 1_000_000 },
    plugin_dirs: [dropins.folder],
    prices: { 'openai/gpt-4o-mini': { input_usd_per_m: 0, output_usd_per_m: 30 } },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    modules: { rateshield: { enabled: false } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  await start()
})

afterEach(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await dropins.remove()
  await rm(folder, { recursive: true, force: true })
})

/** Resolves with the status, 0 where the gateway was killed, or 499 where the client has left. */
function call(n: number, key: string): Promise<number> {
  const user = n % 3 === 0 ? 'leaves' : n % 20 === 1 ? 'fails' : 'stays'
  const stream = n % 2 === 0
  const body = JSON.stringify({ model: 'gpt-4o-mini', stream, user, max_tokens: 100, messages })
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  return new Promise((resolve) => {
    const sent = request(
      `${gateway.url}/v1/chat/completions`,
      { method: 'POST', headers, agent: new Agent() },
      (answer) => {
        answer.on('close', () => resolve(answer.complete ? answer.statusCode! : 499))
        answer.on('error', () => {})
        if (user === 'leaves' && answer.statusCode === 200) answer.once('data', () => sent.destroy())
        else answer.resume()
      },
    )
    sent.on('error', () => resolve(0))
    if (user === 'leaves' && !stream) setTimeout(() => sent.destroy(), n % 50)
    sent.end(body)
  })
}

async function api(method: string, at: string, body?: object) {
  const response = await fetch(gateway.url + at, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return JSON.parse(await response.text())
}

const nano = (usd: number): number => Math.round(usd * 1e9)

async function traced(userId: string): Promise<{ nano: number; statuses: Record<string, number> }> {
  const sums = { nano: 0, statuses: {} as Record<string, number> }
  let cursor = ''
  do {
    const page = await api('GET', `/api/observe/traces?limit=500&user_id=${userId}${cursor}`)
    for (const { cost_usd, status } of page.traces) {
      sums.nano += nano(cost_usd ?? 0)
      sums.statuses[status] = (sums.statuses[status] ?? 0) + 1
    }
    cursor = page.next_cursor === undefined ? '' : `&cursor=${page.next_cursor}`
  } while (cursor !== '')
  return sums
}

test(
  `${calls} calls of $${callUsd} against $${capUsd}, over ${threads} threads and ${kills} kill(s), spend no more, leave nothing reserved, and add up`,
  async () => {
    const { user_id, api_key } = await api('POST', '/api/auth/signup', {
      email: 'ada@example.com',
      name: 'Ada',
    })
    await api('PUT', `/api/users/${user_id}/spend/cap`, { daily_cap: capUsd })
    const spend = () => api('GET', `/api/users/${user_id}/spend`)
    const answered: Record<number, number> = {}
    const wave = Math.floor(calls / (kills + 1))
    for (let round = 0; round <= kills; round += 1) {
      const asked = upstream.requests.length
      const running = Array.from({ length: wave }, async (_, n) => {
        const status = await call(round * wave + n, api_key)
        answered[status] = (answered[status] ?? 0) + 1
      })
      if (round < kills) {
        // A kill when a quarter of the cap may have been spent in this round.
        await upstream.received(asked + Math.ceil(capUsd / callUsd / 4))
        await gateway.end('SIGKILL')
        await Promise.all(running)
        await start()
      } else await Promise.all(running)
    }
    const isSettled = () => expect.poll(async () => (await spend()).reserved_usd, { timeout: 30_000 }).toBe(0)
    await isSettled()
    let last = 0
    while (last !== 429) {
      last = await call(2, api_key)
      expect([200, 429]).toContain(last)
    }
    await isSettled()
    // What was refused while the one before it was not yet settled came before the cap was reached.
    expect(await call(2, api_key)).toBe(429)
    // Left early, killed, answered, failed by the provider or refused by the cap, and by nothing else.
    expect(Object.keys(answered).filter((status) => !/^(0|200|400|429|499)$/.test(status))).toEqual([])
    // Traces and figures are written after their calls, some at a time.
    await expect
      .poll(
        async () => {
          const [{ nano: traced_nano }, { today, month, cap }] = [await traced(user_id), await spend()]
          return [nano(today) - traced_nano, nano(month) - traced_nano, cap.remaining_daily < callUsd]
        },
        { timeout: 30_000 },
      )
      .toEqual([0, 0, true])
    const { today, cap } = await spend()
    const traces = await traced(user_id)
    expect(today).toBeLessThanOrEqual(capUsd + callUsd)
    expect(today).toBeGreaterThan(capUsd / 4)
    expect(cap.remaining_daily).toBeLessThan(callUsd)
    const told = async () => {
      const events: { type: string; percent?: number }[] = await api('GET', '/api/listener')
      return events.map(({ type, percent }) => `${type} ${percent ?? ''}`.trim()).sort()
    }
    // What a refusal tells is told after its answer.
    await expect
      .poll(told)
      .toEqual(['cost.threshold 100', 'cost.threshold 50', 'cost.threshold 80', 'spend.cap_exceeded'])
    if (process.env.COSTCAP_CALLS)
      console.log({ capUsd, today, answered, traces, sentUpstream: upstream.requests.length })
  },
  longestMs,
)
