import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
/** As many calls on connections of their own reach both threads, but for one time in a billion. */
const enough = 30

let folder: string
let upstream: Upstream
let receiver: Receiver
let gateway: GatewayProcess

beforeAll(async () => {
  upstream = await startUpstream()
  receiver = await startReceiver()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-trustenforce-'))
  const settings = {
    admin_key: adminKey,
    server: { threads: 2 },
    egress: { allow: ['127.0.0.1'] },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await startProcess({}, folder)
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
})

/** A request on a connection of its own, which the system gives to any thread. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
function send(method: string, at: string, body?: object): Promise<{ status: number; body: any }> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const sent = request(gateway.url + at, { method, headers, agent: new Agent() }, async (answer) => {
      const chunks = await Array.fromAsync(answer as AsyncIterable<Buffer>)
      resolve({ status: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) })
    })
    sent.on('error', reject)
    sent.end(body && JSON.stringify(body))
  })
}

const statuses = async (): Promise<number[]> => {
  const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'The code is K-1234' }] }
  const calls = Array.from({ length: enough }, () => send('POST', '/v1/chat/completions', body))
  return [...new Set((await Promise.all(calls)).map(({ status }) => status))]
}

test('a policy holds in all threads, and each violation is told once and is an entry of the ledger', async () => {
  const hook = { name: 'violations', url: `${receiver.url}/violations`, events: ['trust_violation'] }
  expect((await send('POST', '/api/webhooks', hook)).status).toBe(201)
  const rules = [{ field: 'request', pattern: 'K-\\d{4}' }]
  const made = await send('POST', '/api/trust/policies', { name: 'no codes', action: 'block', rules })
  expect(made.status).toBe(201)
  const { id } = made.body

  expect(await statuses()).toEqual([400])
  expect(upstream.requests).toHaveLength(0)
  await expect.poll(async () => (await send('GET', `/api/trust/policies/${id}`)).body.hits_24h).toBe(enough)

  const listed = async () => (await send('GET', `/api/trust/ledger?resource=${id}&limit=100`)).body.entries
  const entries = async () =>
    (await listed()).filter((one: { event_type: string }) => one.event_type === 'policy.violated')
  await expect.poll(async () => (await entries()).length).toBe(enough)
  const told = () => receiver.on('/violations').map(({ body }) => JSON.parse(body))
  await expect.poll(() => told().length, { timeout: 20_000 }).toBe(enough)
  const calls = (await entries()).map((one: { trace_id: string }) => one.trace_id)
  expect(
    told()
      .map(({ event, data }) => [event, data.trace_id])
      .sort(),
  ).toEqual(calls.map((trace: string) => ['trust_violation', trace]).sort())
  expect(JSON.stringify([await entries(), told()])).not.toContain('K-1234')

  expect((await send('DELETE', `/api/trust/policies/${id}`)).status).toBe(200)
  expect(await statuses()).toEqual([200])
})
