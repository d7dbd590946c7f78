import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] })

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

const start = () => startProcess({}, folder)

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-agentguard-'))
  const settings = {
    admin_key: adminKey,
    server: { threads: 3 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    modules: { agentguard: { enabled: true, config: { max_calls: 7 } } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await start()
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** A call on a connection of its own, which the system gives to any thread; its status, 0 when it was cut off. */
const send = (session: string): Promise<number> =>
  new Promise((resolve) => {
    const of = { ...headers, 'x-session-id': session }
    const sent = request(
      `${gateway.url}/v1/chat/completions`,
      { method: 'POST', headers: of, agent: new Agent() },
      (answer) => {
        answer.resume()
        answer.on('close', () => resolve(answer.statusCode ?? 0))
      },
    )
    sent.on('error', () => resolve(0))
    sent.end(body)
  })

const sendAll = (session: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => send(session)))

async function manage(method: string, at: string, sent?: object) {
  const response = await fetch(`${gateway.url}/api/modules/agentguard/sessions${at}`, {
    method,
    headers,
    ...(sent && { body: JSON.stringify(sent) }),
  })
  return (await response.json()) as { sessions: { id: string; session: string; calls: number }[] }
}

const idOf = async (session: string): Promise<string> =>
  (await manage('GET', '')).sessions.find((one) => one.session === session)!.id

test('three threads count a session together, killing it ends its calls in each, and kill -9 does not undo that', async () => {
  const statuses = await sendAll('counted', 40)
  expect(statuses.filter((status) => status === 200)).toHaveLength(7)
  expect(statuses.filter((status) => status === 429)).toHaveLength(33)

  upstream.reset()
  upstream.reply({ hang: true, times: 7 })
  const hanging = sendAll('killed', 7)
  await upstream.received(7)
  await manage('POST', `/${await idOf('killed')}/kill`, {})
  expect(await hanging).toEqual(Array.from({ length: 7 }, () => 429))

  await gateway.end('SIGKILL')
  gateway = await start()
  expect(await sendAll('killed', 6)).toEqual(Array.from({ length: 6 }, () => 429))
})
