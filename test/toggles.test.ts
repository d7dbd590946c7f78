import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from './harness.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

const streams = 200
const changes = 1000
const words = Array.from({ length: 40 }, (_, n) => `word${n} `)

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

test('a thousand changes during two hundred streams fail, cut and alter none of them', async () => {
  const modules = await togglable()
  // Each module once off and once on: what is loaded when it first starts is no growth.
  await storm(modules, modules.length * 2, 20)
  const before = await settledHeap()

  const texts = await storm(modules, changes, streams)
  expect(texts).toHaveLength(streams)
  for (const text of texts) {
    expect(contentOf(text)).toBe(words.join(''))
    expect(text.match(/data: \[DONE\]/g)).toHaveLength(1)
  }
  await expect.poll(() => gateway.kernel.registry.generation.leases).toBe(1)
  const grown = (await settledHeap()) - before
  expect(grown).toBeLessThan(24 * 1024 * 1024)
}, 120_000)

/** Opens the streams, changes modules while they run, and returns what each stream said. */
async function storm(modules: readonly string[], count: number, open: number): Promise<string[]> {
  upstream.reset()
  upstream.reply({ content: words, gapMs: 50, times: open })
  const running = Array.from({ length: open }, () => stream())
  for (let n = 0; n < count; n += 1) {
    const name = modules[n % modules.length]!
    const { status } = await gateway.api('PUT', `/api/proxy/modules/${name}`, {
      enabled: Math.floor(n / modules.length) % 2 === 1,
    })
    expect(status).toBe(200)
  }
  return Promise.all(running)
}

/** Modules whose defaults leave an ordinary stream as it is. */
async function togglable(): Promise<string[]> {
  const { body } = await gateway.api('GET', '/api/proxy/modules?limit=500')
  // That one refuses what comes all at once, as it should.
  return body.modules.map(({ name }: { name: string }) => name).filter((name: string) => name !== 'loadshed')
}

async function stream(): Promise<string> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      stream: true,
      messages: [{ role: 'user', content: 'count' }],
    }),
  })
  expect(response.status).toBe(200)
  return response.text()
}

const contentOf = (text: string): string =>
  text
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)).choices[0]?.delta?.content ?? '')
    .join('')

/** Bytes of the heap after the garbage is gone. */
async function settledHeap(): Promise<number> {
  for (let n = 0; n < 3; n += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    globalThis.gc?.()
  }
  return process.memoryUsage().heapUsed
}
