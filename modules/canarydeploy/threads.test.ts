import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
const canary = 'gpt-4.1'
const base = '/api/modules/canarydeploy/rollouts'

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-canary-'))
  upstream = await startUpstream()
  const common = { model: 'gpt-4o-mini', target: canary, step_s: 0, sticky: 'call' }
  const rollouts = {
    bad: { ...common, steps: [50, 100], min_calls: 1000 },
    good: { ...common, model: 'gpt-4o', steps: [20, 60, 100], min_calls: 1_000_000 },
  }
  const settings = {
    admin_key: adminKey,
    server: { threads: 2 },
    auth: { admin_rpm: 100_000 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    modules: {
      canarydeploy: { enabled: true, config: { rollouts } },
      retrypilot: { enabled: false },
      fallbackrouter: { config: { failure_threshold: 1000 } },
    },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await startProcess({}, folder)
}, 60_000)

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** On a connection of its own: the system gives it to any of the threads. */
function send(
  method: string,
  at: string,
  body?: object,
): Promise<{ status: number; body: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const asked = request(gateway.url + at, { method, headers, agent: new Agent() }, async (response) => {
      const text = (await response.toArray()).join('')
      resolve({ status: response.statusCode!, body: JSON.parse(text) })
    })
    asked.on('error', reject)
    asked.end(body && JSON.stringify(body))
  })
}

const say = (model: string) =>
  send('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] })
const look = async (name: string) => (await send('GET', `${base}/${name}`)).body
const calls = async (n: number, model: string) => {
  for (let i = 0; i < n; i += 1) await say(model)
}
const toCanary = () =>
  upstream.requests.filter(({ body }) => (body as { model?: string }).model === canary).length

test('two threads agree that a canary is back, and so does the gateway after it was killed', async () => {
  upstream.reply({ model: canary }, { status: 500, times: Number.POSITIVE_INFINITY })
  for (let n = 0; (await look('bad')).status !== 'rolled_back'; n += 1) {
    expect(n).toBeLessThan(200)
    await say('gpt-4o-mini')
  }
  const { reason } = await look('bad')
  const failed = toCanary()
  await calls(60, 'gpt-4o-mini')
  expect(toCanary()).toBe(failed)
  expect((await send('POST', `${base}/good/promote`, { to: 'next' })).status).toBe(200)

  await gateway.end('SIGKILL')
  gateway = await startProcess({}, folder)
  expect(await look('bad')).toMatchObject({ status: 'rolled_back', percent: 0, reason })
  expect(await look('good')).toMatchObject({ status: 'running', percent: 60, run: 1 })
  await calls(60, 'gpt-4o-mini')
  expect(toCanary()).toBe(failed)
}, 120_000)

test('what an admin decides holds in all threads once it is answered', async () => {
  upstream.reset()
  expect((await send('POST', `${base}/good/promote`)).body).toMatchObject({
    status: 'completed',
    percent: 100,
  })
  await calls(40, 'gpt-4o')
  expect(toCanary()).toBe(40)
  expect((await send('POST', `${base}/good/rollback`, {})).status).toBe(200)
  await calls(40, 'gpt-4o')
  expect(toCanary()).toBe(40)
}, 60_000)
