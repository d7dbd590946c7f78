import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const opened: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close()
})

async function start(config: Record<string, unknown>): Promise<{ gateway: TestGateway; upstream: Upstream }> {
  const upstream = await startUpstream()
  const gateway = await startGateway({ upstream, config })
  opened.push(upstream, gateway)
  return { gateway, upstream }
}

const bodyOf = (stream: boolean): string =>
  JSON.stringify({ model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'Hello' }] })

const call = ({ url, adminKey }: TestGateway, stream = false): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: bodyOf(stream),
  })

/** Asks over a connection that is kept alive; `reused` says whether it was there already. */
function ask(
  url: string,
  agent: Agent,
): Promise<{ status: number; headers: IncomingHttpHeaders; reused: boolean }> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent }, (response) => {
      response.resume().on('end', () => {
        const { statusCode = 0, headers } = response
        resolve({ status: statusCode, headers, reused: asked.reusedSocket })
      })
    })
    asked.on('error', reject).end()
  })
}

test('while it drains, running streams end whole, and all that is new is told so and to leave', async () => {
  const { gateway, upstream } = await start({ drain: '10m' })
  const agent = new Agent({ keepAlive: true })
  const seen = Promise.withResolvers<void>()
  upstream.reply({ content: ['first', ' and', ' last'], gate: { opened: seen.promise, after: 2 } })
  const stream = await call(gateway, true)
  expect((await ask(`${gateway.url}/health`, agent)).status).toBe(200)

  const closed = gateway.kernel.close()
  const kept = await ask(`${gateway.url}/health`, agent)
  expect(kept).toMatchObject({
    status: 503,
    reused: true,
    headers: { connection: 'close', 'retry-after': '5' },
  })
  for (const path of ['/health', '/api/health', '/api/status']) {
    const response = await fetch(gateway.url + path)
    expect([response.status, await response.json()]).toMatchObject([503, { error: { type: 'draining' } }])
  }
  expect((await call(gateway)).status).toBe(503)

  seen.resolve()
  const text = await stream.text()
  expect(text).toMatch(/first.* and.* last.*data: \[DONE\]\n\n$/s)
  await closed
  await expect(fetch(`${gateway.url}/health`)).rejects.toThrow()
  agent.destroy()
})

test('an answer that begins while it drains closes its connection, so that its client sends no more there', async () => {
  const { gateway, upstream } = await start({})
  const seen = Promise.withResolvers<void>()
  upstream.reply({ content: ['late'], gate: { opened: seen.promise, after: 0 } })
  const answer = call(gateway)
  await expect.poll(() => upstream.requests.length).toBe(1)
  const closed = gateway.kernel.close()
  seen.resolve()
  const { status, headers } = await answer
  expect([status, headers.get('connection')]).toEqual([200, 'close'])
  await closed
})

test('for the time of drain_delay calls are answered and leave, and only the health checks say that it drains', async () => {
  // Connections come to both threads.
  const { gateway } = await start({ drain_delay: '3s', server: { threads: 2 } })
  const began = performance.now()
  const closed = gateway.kernel.close()
  for (const path of ['/health', '/api/health', '/health', '/api/health']) {
    const response = await fetch(gateway.url + path)
    expect([response.status, await response.json()]).toMatchObject([503, { error: { type: 'draining' } }])
    expect(response.headers.get('connection')).toBe('close')
  }
  for (const stream of [false, true, false, true]) {
    const answer = await call(gateway, stream)
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
    await answer.text()
  }
  await closed
  expect(performance.now() - began).toBeGreaterThan(2_900)
  expect(gateway.logged.filter((line) => line.includes('a request failed'))).toEqual([])
})
