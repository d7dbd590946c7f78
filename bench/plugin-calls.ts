import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { writeDropins } from '../test/dropins.ts'
import { adminKey } from '../test/harness.ts'
import { startProcess } from '../test/process.ts'
import build from '../test/suite/built.ts'
import { median, quantile } from './statistics.ts'

/**
 * What 500 calls that a plugin makes at once do to clients: their p99 at an even 100 calls a second, in rounds of five seconds with
 * and without such a job in turn.
 */
const rounds = Number(process.env.ROUNDS ?? 6)
const perRound = 500
const gapMs = 10
const jobCalls = 500

const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 },
})
const provider = createServer((req, res) => {
  req.resume()
  setTimeout(() => res.setHeader('content-type', 'application/json').end(answer), 20)
}).listen(0, '127.0.0.1')

await build()
const { folder, remove } = await writeDropins({
  job: {
    manifest: { kind: 'area', permissions: ['routes', 'calls'] },
    setup: `ctx.route({ method: 'post', path: '/api/job', access: 'any', summary: 's', returns: 'text', async handle({ principal }) {
      const started = performance.now()
      const request = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Tell me of the sea. '.repeat(40) }] }
      await Promise.all(Array.from({ length: ${jobCalls} }, () => ctx.call(request, { as: principal, source: 'batch' }).reply))
      return String(performance.now() - started)
    } })`,
  },
})
const home = await mkdtemp(path.join(tmpdir(), 'switchyard-bench-'))
const { port } = provider.address() as AddressInfo
const config = {
  plugin_dirs: [folder],
  providers: { openai: { base_url: `http://127.0.0.1:${port}/v1`, api_key: 'sk-bench' } },
  auth: { admin_rpm: 100_000 },
}
await writeFile(path.join(home, 'service.yaml'), JSON.stringify(config))
const gateway = await startProcess({ SERVICE_ADMIN_KEY: adminKey }, home)
const agent = new Agent({ keepAlive: true, maxSockets: 64 })

const post = (at: string, body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const sent = request(gateway.url + at, { method: 'POST', agent, headers }, (res) => {
      let text = ''
      res.on('data', (part) => {
        text += part
      })
      res.on('end', () => resolve(text))
    })
    sent.on('error', reject)
    sent.end(body)
  })

const call = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] })

/** The times of an even load of clients, in milliseconds. */
async function clients(): Promise<number[]> {
  const times: number[] = []
  const running: Promise<void>[] = []
  const begun = performance.now()
  for (let n = 0; n < perRound; n += 1) {
    await sleep(Math.max(0, begun + n * gapMs - performance.now()))
    const started = performance.now()
    running.push(post('/v1/chat/completions', call).then(() => void times.push(performance.now() - started)))
  }
  await Promise.all(running)
  return times.sort((a, b) => a - b)
}

await clients()
const p99: { alone: number[]; beside: number[] } = { alone: [], beside: [] }
const jobs: number[] = []
for (let round = 0; round < rounds; round += 1) {
  p99.alone.push(quantile(await clients(), 0.99))
  const job = sleep(500).then(() => post('/api/job', '{}'))
  p99.beside.push(quantile(await clients(), 0.99))
  jobs.push(Number(await job))
}
const shown = (all: readonly number[]): string =>
  `${median(all).toFixed(2)} ms (${all.map((ms) => ms.toFixed(1)).join(' ')})`
console.log(`p99 of clients alone      ${shown(p99.alone)}`)
console.log(`p99 beside a job          ${shown(p99.beside)}`)
console.log(`${jobCalls} calls of the job took ${shown(jobs)}`)

agent.destroy()
await gateway.end('SIGTERM')
provider.close()
provider.closeAllConnections()
await remove()
await rm(home, { recursive: true })
