import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type Collector, startCollector } from '../../test/collector.ts'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { shared } from '../../test/shared.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'

interface Running {
  readonly upstream: Upstream
  readonly collector: Collector
  readonly gateway: GatewayProcess
  close(): Promise<void>
}

const running = shared<Running>(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-spans-'))
  const [upstream, collector] = await Promise.all([startUpstream(), startCollector()])
  const settings = {
    admin_key: adminKey,
    server: { threads: 2 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=search',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_SERVICE_NAME: 'gateway-1',
  }
  const gateway = await startProcess(env, folder)
  return {
    upstream,
    collector,
    gateway,
    async close() {
      await gateway.end('SIGKILL')
      await Promise.all([upstream.close(), collector.close()])
      await rm(folder, { recursive: true, force: true })
    },
  }
})

/** On a connection of its own: the system gives it to any of the threads. */
function ask(traceparent: string): Promise<number | undefined> {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] })
  const headers = {
    authorization: `Bearer ${adminKey}`,
    'content-type': 'application/json',
    traceparent,
  }
  return new Promise((resolve, reject) => {
    const asked = request(
      `${running.gateway.url}/v1/chat/completions`,
      { method: 'POST', headers, agent: new Agent() },
      (response) => response.resume().on('end', () => resolve(response.statusCode)),
    )
    asked.on('error', reject).end(body)
  })
}

test('both threads send their spans, as the environment says, and the last ones when the gateway stops', async () => {
  const parents = Array.from({ length: 30 }, (_, n) => (n + 1).toString(16).padStart(16, '0'))
  const statuses = await Promise.all(parents.map((id) => ask(`00-${'a'.repeat(32)}-${id}-01`)))
  expect(statuses).toEqual(parents.map(() => 200))
  await running.gateway.end('SIGTERM')
  const { spans, requests } = running.collector
  const calls = spans.filter(({ kind }) => kind === 2)
  expect(calls.map(({ parentSpanId }) => parentSpanId).toSorted()).toEqual(parents)
  const ids = new Set(calls.map(({ spanId }) => spanId))
  expect(spans.filter(({ parentSpanId }) => ids.has(parentSpanId))).toHaveLength(30)
  expect(spans.every(({ resource }) => resource['service.name'] === 'gateway-1')).toBe(true)
  for (const headers of requests)
    expect(headers).toMatchObject({ 'x-tenant': 'search', 'content-encoding': 'gzip' })
}, 60_000)
