import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'

/** A real process with two threads, which is killed at any moment while it does jobs that both threads have added. */

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
const lives = 2
const perLife = 30

let folder: string
let file: string
let gateway: GatewayProcess

const start = async (): Promise<void> => {
  gateway = await startProcess({}, folder)
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-jobs-crash-'))
  file = path.join(folder, 'lines')
  await cp(path.resolve('test/fixtures/modules/scribe'), path.join(folder, 'plugins/scribe'), {
    recursive: true,
  })
  await writeFile(file, '')
  const settings = {
    admin_key: adminKey,
    server: { threads: 2 },
    auth: { admin_rpm: 1_000_000 },
    plugin_dirs: ['plugins'],
    modules: { scribe: { enabled: true, config: { file } } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  await start()
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** Adds a job by a call on a connection of its own; its thread when it was acknowledged, undefined when the process died. */
function add(name: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const options = { method: 'POST', headers, agent: new Agent() }
    const sent = request(`${gateway.url}/v1/chat/completions`, options, (answer) => {
      answer.resume()
      answer.on('close', () =>
        resolve(answer.statusCode === 200 ? String(answer.headers['x-thread']) : undefined),
      )
    })
    sent.on('error', () => resolve(undefined))
    sent.end(
      JSON.stringify({ model: 'mock/echo', user: name, messages: [{ role: 'user', content: 'Hello' }] }),
    )
  })
}

async function jobsOf(status: string): Promise<{ total: number; ids: string[] }> {
  const answer = await fetch(`${gateway.url}/api/jobs?kind=scribe.line&limit=500&status=${status}`, {
    headers: { authorization: `Bearer ${adminKey}` },
  })
  const { jobs, total } = (await answer.json()) as { jobs: { id: string }[]; total: number }
  return { total, ids: jobs.map(({ id }) => id.slice('scribe.line:'.length)) }
}

test('killed again and again, a process does all that it was told to, and no step again that was kept', async () => {
  const acknowledged: string[] = []
  const threads = new Set<string>()
  for (let life = 1; life <= lives; life += 1) {
    const adds = Array.from({ length: perLife }, async (_, n) => {
      const name = `${life}-${n}`
      const thread = await add(name)
      if (thread !== undefined) {
        acknowledged.push(name)
        threads.add(thread)
      }
    })
    // Some are acknowledged by then, and some of those have begun.
    await Promise.race([Promise.all(adds), Promise.all(adds.slice(0, life * 8))])
    await gateway.end('SIGKILL')
    await Promise.all(adds)
    await start()
  }
  const left = async () => (await jobsOf('waiting')).total + (await jobsOf('running')).total
  await expect.poll(left, { timeout: 40_000 }).toBe(0)
  const { ids: completed } = await jobsOf('completed')
  expect((await jobsOf('failed')).total).toBe(0)
  expect(acknowledged.length).toBeGreaterThan(lives)
  expect(completed).toEqual(expect.arrayContaining(acknowledged))
  expect(threads.size).toBeGreaterThan(1)

  const kept = new Set<string>()
  const did = new Set<string>()
  const again: string[] = []
  for (const line of (await readFile(file, 'utf8')).split('\n').filter(Boolean)) {
    const step = line.slice(line.indexOf(' ') + 1)
    if (line.startsWith('kept')) kept.add(step)
    else if (kept.has(step)) again.push(step)
    else did.add(step)
  }
  expect(again).toEqual([])
  for (const name of completed)
    for (const part of ['a', 'b', 'c', 'd']) expect(did).toContain(`${name} ${part}`)
})
