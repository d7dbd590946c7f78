import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
const [model, summaryModel] = ['gpt-4o-mini', 'gpt-4o']

let folder: string
let upstream: Upstream
let gateway: GatewayProcess

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-tokentrim-'))
  const settings = {
    admin_key: adminKey,
    server: { threads: 3 },
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
    models: {
      [`openai/${model}`]: { context_window: 700 },
      [`openai/${summaryModel}`]: { context_window: 20_000 },
    },
    modules: {
      tokentrim: {
        enabled: true,
        config: {
          strategy: 'summarize',
          summary_model: summaryModel,
          summary_tokens: 60,
          reserve_output: 100,
        },
      },
    },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await startProcess({}, folder)
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

/** A call on a connection of its own, which the system gives to any thread; its status. */
const send = (messages: readonly object[]): Promise<number> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const options = { method: 'POST', headers, agent: new Agent() }
    const sent = request(`${gateway.url}/v1/chat/completions`, options, (answer) => {
      answer.resume()
      answer.on('close', () => resolve(answer.statusCode!))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ model, messages }))
  })

test('a summary that one thread has made serves the calls of the others', async () => {
  const isSummary = { model: summaryModel }
  upstream.reply(isSummary, { content: 'They counted.', times: Number.POSITIVE_INFINITY })
  const turns = Array.from({ length: 20 }, (_, n) => [
    { role: 'user', content: `Question ${n}: ${'and how many words are there '.repeat(6)}?` },
    { role: 'assistant', content: `There are ${n}.` },
  ])
  const messages = [...turns.flat(), { role: 'user', content: 'So?' }]
  for (let n = 0; n < 12; n += 1) expect(await send(messages)).toBe(200)
  const asked = upstream.requests.map(({ body }) => (body as { model: string }).model)
  expect(asked.filter((name) => name === summaryModel)).toHaveLength(1)
  expect(asked.filter((name) => name === model)).toHaveLength(12)
})
