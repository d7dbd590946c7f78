import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { type Collector, startCollector } from '../../test/collector.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { shared } from '../../test/shared.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** OpenTelemetry's own variable for the time that a collector has. */
beforeAll(() => void vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '400'))
afterAll(() => void vi.unstubAllEnvs())

const running = shared<{
  upstream: Upstream
  collector: Collector
  gateway: TestGateway
  close(): Promise<void>
}>(async () => {
  const [upstream, collector] = await Promise.all([startUpstream(), startCollector()])
  const gateway = await startGateway({ upstream })
  return {
    upstream,
    collector,
    gateway,
    async close() {
      collector.answer('hang')
      await gateway.close()
      await Promise.all([upstream.close(), collector.close()])
    },
  }
})

afterEach(() => running.collector.answer(200))

const ask = () =>
  running.gateway.api('POST', '/v1/chat/completions', {
    model: 'gpt-4o',
    messages: [{ role: 'user', content: 'Hello' }],
  })

const queue = async () => (await running.gateway.api('GET', '/api/status')).body.queues.tracelink
const sendTo = (otlp_endpoint: string) => running.gateway.module('tracelink', { config: { otlp_endpoint } })

test('without an address nothing is queued, and calls join traces all the same', async () => {
  expect((await ask()).headers.get('traceresponse')).toMatch(/^00-/)
  expect(await queue()).toBeUndefined()
})

test('a collector that cannot be reached changes no call, and what it does not get is counted', async () => {
  await sendTo('http://127.0.0.1:1')
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
  await expect
    .poll(queue, { timeout: 60_000, interval: 500 })
    .toMatchObject({ depth: 0, bytes: 0, dropped: 40 })
  const told = running.gateway.logged.filter((line) => line.includes('takes no spans'))
  expect(told).toHaveLength(1)
  expect(told[0]).toContain('ECONNREFUSED')
})

test('a collector that refuses costs what it refused, and gets the next spans', async () => {
  await sendTo(running.collector.url)
  const before = (await queue()).dropped
  running.collector.answer(400)
  await ask()
  await expect.poll(queue, { timeout: 20_000 }).toMatchObject({ depth: 0, dropped: before + 2 })
  running.collector.answer(200)
  await ask()
  await expect.poll(() => running.collector.spans.length, { timeout: 20_000 }).toBe(2)
  expect((await queue()).dropped).toBe(before + 2)
})

test('a collector that hangs costs its spans, and no call', async () => {
  await sendTo(running.collector.url)
  const before = (await queue()).dropped
  running.collector.answer('hang')
  const answers = await Promise.all(Array.from({ length: 30 }, ask))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  await expect.poll(queue, { timeout: 20_000 }).toMatchObject({ depth: 0, bytes: 0, dropped: before + 60 })
})
