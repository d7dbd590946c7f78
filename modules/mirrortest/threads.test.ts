import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-mirror-'))
  upstream = await startUpstream()
  const config = { target: 'openai/gpt-4o', percent: 100, max_in_flight: 100 }
  const settings = {
    admin_key: adminKey,
    server: { threads: 2 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    modules: { mirrortest: { enabled: true, config } },
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
function send(method: string, at: string, body?: object): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const asked = request(gateway.url + at, { method, headers, agent: new Agent() }, async (response) => {
      resolve(JSON.parse((await response.toArray()).join('')) as Record<string, unknown>)
    })
    asked.on('error', reject)
    asked.end(body && JSON.stringify(body))
  })
}

test('the copies of two threads are in one report', async () => {
  const messages = [{ role: 'user', content: 'Hello' }]
  const calls = Array.from({ length: 30 }, () =>
    send('POST', '/v1/chat/completions', { model: 'gpt-4o-mini', messages }),
  )
  await Promise.all(calls)
  const counted = async () => {
    const { models, dropped } = await send('GET', '/api/modules/mirrortest/report')
    return [(models as { compared: number }[])[0]?.compared, dropped]
  }
  await expect.poll(counted, { timeout: 30_000 }).toEqual([30, 0])
  expect(upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(60)
}, 60_000)
