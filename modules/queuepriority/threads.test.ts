import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, type ClientRequest, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-queuepriority-'))
  const settings = {
    admin_key: adminKey,
    server: { threads: 3 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    modules: { queuepriority: { enabled: true, config: { concurrency: { openai: 2 } } } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await startProcess({}, folder)
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** A call on a connection of its own, which the system gives to any thread. */
function send(): { readonly sent: ClientRequest; readonly status: Promise<number | undefined> } {
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  const agent = new Agent()
  const sent = request(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers, agent }, (answer) => {
    answer.resume()
    answer.on('close', () => resolve(answer.statusCode))
  })
  sent.on('error', () => resolve(undefined))
  sent.end(JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }))
  return { sent, status: promise }
}

const queues = async () => {
  const response = await fetch(`${gateway.url}/api/modules/queuepriority/queues`, { headers })
  return ((await response.json()) as { queues: { running: number; waiting: number }[] }).queues
}

test('three threads share the slots of a provider, and one queue', async () => {
  const gates = Array.from({ length: 30 }, () => Promise.withResolvers<void>())
  for (const { promise: opened } of gates) upstream.reply({ gate: { opened } })
  const calls = Array.from({ length: 30 }, send)
  const standing = (waiting: number) =>
    vi.waitFor(async () => expect(await queues()).toMatchObject([{ running: 2, waiting }]), {
      timeout: 20_000,
    })
  await standing(28)
  for (let n = 0; n < 10; n += 1) {
    gates[n]!.resolve()
    await upstream.received(n + 3)
    expect(upstream.requests).toHaveLength(n + 3)
  }
  await standing(18)
  // Those that are answered already are destroyed, too, which changes nothing for them.
  for (const { sent } of calls) sent.destroy()
  await vi.waitFor(async () => expect(await queues()).toEqual([]), { timeout: 20_000 })
  const statuses = await Promise.all(calls.map(({ status }) => status))
  expect(statuses.filter((status) => status === 200)).toHaveLength(10)
  const last = send()
  for (const { resolve } of gates) resolve()
  expect(await last.status).toBe(200)
})
