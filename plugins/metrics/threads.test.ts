import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { Scrape } from '../../test/prometheus.ts'
import { shared } from '../../test/shared.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'

interface Running {
  readonly upstream: Upstream
  readonly gateway: GatewayProcess
  close(): Promise<void>
}

const running = shared<Running>(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-metrics-'))
  const upstream = await startUpstream()
  const settings = {
    admin_key: adminKey,
    server: { threads: 2 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    modules: { cachelayer: { enabled: false } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  const gateway = await startProcess({}, folder)
  return {
    upstream,
    gateway,
    async close() {
      await gateway.end('SIGKILL')
      await upstream.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
})

/** On a connection of its own: the system gives it to any of the threads. */
function send(method: string, at: string, body?: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const asked = request(
      running.gateway.url + at,
      { method, headers, agent: new Agent() },
      async (response) => resolve((await response.toArray()).join('')),
    )
    asked.on('error', reject).end(body && JSON.stringify(body))
  })
}

const scrape = async () => new Scrape(await send('GET', '/metrics'))
const ask = () =>
  send('POST', '/v1/chat/completions', {
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Hello' }],
  })

test('a scrape has the calls of both threads, whichever answers it, and never fewer than the one before', async () => {
  let last = 0
  for (let round = 1; round <= 3; round += 1) {
    await Promise.all(Array.from({ length: 20 }, ask))
    await expect
      .poll(async () => {
        const calls = (await scrape()).value('switchyard_calls_total', { model: 'gpt-4o-mini', status: 'ok' })
        expect(calls).toBeGreaterThanOrEqual(last)
        last = calls
        return calls
      })
      .toBe(20 * round)
  }
  const seen = await scrape()
  expect(seen.value('switchyard_call_duration_seconds')).toBe(60)
  expect(seen.value('switchyard_upstream_attempts_total', { result: 'ok' })).toBe(60)
  expect(seen.value('switchyard_threads')).toBe(2)
}, 60_000)

test('calls that run are counted in all threads', async () => {
  const gate = Promise.withResolvers<void>()
  const seen = running.upstream.requests.length
  running.upstream.reply({ gate: { opened: gate.promise }, times: 12 })
  const calls = Array.from({ length: 12 }, ask)
  await running.upstream.received(seen + 12)
  const inFlight = async () => (await scrape()).value('switchyard_calls_in_flight')
  await expect.poll(inFlight).toBe(12)
  gate.resolve()
  await Promise.all(calls)
  await expect.poll(inFlight).toBe(0)
}, 60_000)
