import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { OWN_CHECKOUT } from '../gateway.ts'
import { freePort } from '../port.ts'
import { cpuMicrosOf, rssMbOf, SERVER_CORE, spawnOn } from '../process.ts'
import type { Settings } from '../settings.ts'
import { median } from '../statistics.ts'
import type { Row, Table } from '../table.ts'
import { origin } from '../target.ts'

const READY_MS = 60_000
/** How long a started gateway is left alone before its memory is read. */
const IDLE_MS = 10_000
const EVERY_MS = 5

interface Start {
  readonly answerMs: number
  readonly callMs: number
  readonly cpuMs: number
}

/** A gateway that npm has started in a group of processes of its own. */
interface Started {
  readonly port: number
  readonly group: number
  readonly began: number
  readonly answerMs: number
}

/** `npm start` of a checkout on one core, from the command to the first answers, and what it holds when nothing is asked. */
export async function measureStart(settings: Settings, report: (line: string) => void): Promise<Table> {
  const checkouts: [name: string, folder: string][] = [['gateway', OWN_CHECKOUT]]
  if (settings.against) checkouts.push(['gateway before', settings.against])
  const starts = new Map<string, Start[]>(checkouts.map(([name]) => [name, []]))
  // The first start fills the caches of the system and of Node; it shows what the gateway holds without a call.
  const idle = new Map<string, number>()
  for (const [name, folder] of checkouts) idle.set(name, await withStarted(folder, idleMb))
  for (let round = 1; round <= settings.rounds; round += 1) {
    for (const [name, folder] of checkouts) {
      const start = await withStarted(folder, timed)
      report(`start ${round}/${settings.rounds} ${name}: ${start.answerMs.toFixed(0)} ms`)
      starts.get(name)?.push(start)
    }
  }
  const rows = checkouts.map(([server]): Row => {
    const of = (field: (start: Start) => number) => Math.round(median((starts.get(server) ?? []).map(field)))
    return {
      server,
      first_answer_ms: of(({ answerMs }) => answerMs),
      first_call_ms: of(({ callMs }) => callMs),
      cpu_ms: of(({ cpuMs }) => cpuMs),
      idle_rss_mb: Math.round(idle.get(server) ?? Number.NaN),
    }
  })
  const note =
    'From `npm start`, npm included, to the first answer of `/health`, and to the end of the first chat call, which the built-in ' +
    `mock answers; CPU up to then, npm's included. Resident memory of the gateway after ${IDLE_MS / 1000} s in which nothing was asked.`
  return { title: 'Start', notes: [note], rows }
}

async function idleMb({ group }: Started): Promise<number> {
  await sleep(IDLE_MS)
  return rssMbOf(treeOf(group).at(-1)!)
}

async function timed({ port, group, began, answerMs }: Started): Promise<Start> {
  await firstCall(port)
  const callMs = performance.now() - began
  return { answerMs, callMs, cpuMs: treeOf(group).reduce((sum, pid) => sum + cpuMicrosOf(pid), 0) / 1000 }
}

async function withStarted<T>(checkout: string, use: (started: Started) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'))
  const port = await freePort()
  const began = performance.now()
  const npm = spawnOn(SERVER_CORE, 'npm', ['start'], {
    cwd: checkout,
    detached: true,
    stdio: 'ignore',
    env: {
      ...process.env,
      NODE_ENV: 'production',
      SERVICE_PORT: String(port),
      SERVICE_HOST: '127.0.0.1',
      SERVICE_DATA_DIR: join(folder, 'data'),
      SERVICE_LOG_LEVEL: 'warn',
    },
  })
  const group = npm.pid!
  const ended = once(npm, 'exit')
  try {
    while (!(await answers(port))) {
      if (npm.exitCode !== null || performance.now() - began > READY_MS)
        throw new Error(`npm start in ${checkout} did not come up`)
      await sleep(EVERY_MS)
    }
    return await use({ port, group, began, answerMs: performance.now() - began })
  } finally {
    // npm ends at once, the gateway when it has drained.
    const pids = treeOf(group)
    process.kill(-group, 'SIGTERM')
    await ended
    while (pids.some(isRunning)) await sleep(EVERY_MS)
    await rm(folder, { recursive: true, force: true })
  }
}

const answers = async (port: number): Promise<boolean> =>
  (await fetch(`${origin(port)}/health`).catch(() => undefined))?.ok ?? false

async function firstCall(port: number): Promise<void> {
  const post = async (path: string, body: object, key = ''): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` }
    const answer = await fetch(origin(port) + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  const user = await post('/api/auth/signup', { email: 'bench@example.com', name: 'Bench' })
  const messages = [{ role: 'user', content: 'Hello' }]
  await post('/v1/chat/completions', { model: 'mock', messages }, (user as { api_key: string }).api_key)
}

/** A process and those below it, the innermost last. */
function treeOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim()
  return [pid, ...(children ? children.split(' ').flatMap((child) => treeOf(Number(child))) : [])]
}

function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'))
  } catch {
    return false
  }
}
