import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminKey } from './harness.ts'
import { type GatewayProcess, startProcess } from './process.ts'
import { runs } from './suite/runs.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-outbox-'))
  const config = {
    plugin_dirs: [path.resolve('docs/plugins/examples')],
    auth: { admin_rpm: 1_000_000 },
  }
  await writeFile(path.join(folder, 'service.yaml'), JSON.stringify(config))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function api(url: string, method: string, at: string, body?: object) {
  const response = await fetch(url + at, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    body: (await response.json()) as { feed: { name: string; event: string }[]; next?: string },
  }
}

const start = (): Promise<GatewayProcess> => startProcess({ SERVICE_ADMIN_KEY: adminKey }, folder)

interface Posts {
  readonly acknowledged: string[]
  readonly refused: string[]
}

/**
 * Signs until the process is gone. Of three names one is a lane's own, one is signed by all lanes at about the same time, so
 * that all but one of these transactions are refused, and one is too long.
 */
async function post(url: string, round: number, lane: number, posts: Posts): Promise<void> {
  for (let n = 0; ; n += 1) {
    const own = `${round}-${lane}-${n}`
    const name = [own, `${round}-all-${n}`, own.padEnd(201, 'x')][n % 3]!
    const answer = await api(url, 'POST', '/api/guestbook', { name }).catch(() => undefined)
    if (!answer) return
    if (answer.status === 201) posts.acknowledged.push(name)
    else posts.refused.push(name)
  }
}

/** What the listener has stored: the ids of the occurrences that it was told, by name. */
async function feedOf(url: string): Promise<Map<string, string[]>> {
  const told = new Map<string, string[]>()
  for (let after: string | undefined = ''; after !== undefined; ) {
    const { body } = await api(
      url,
      'GET',
      `/api/guestbook/feed${after && `?after=${encodeURIComponent(after)}`}`,
    )
    for (const { name, event } of body.feed) told.set(name, [...(told.get(name) ?? []), event])
    after = body.next
  }
  return told
}

test('killed at random, what was acknowledged is told under one id, and what was refused is not', async () => {
  const posts: Posts = { acknowledged: [], refused: [] }
  const kills = runs(2).numRuns
  for (let round = 0; round < kills; round += 1) {
    const gateway = await start()
    if (round === 0) await api(gateway.url, 'PUT', '/api/plugins/guestbook', { enabled: true })
    const before = posts.acknowledged.length
    const lanes = Array.from({ length: 8 }, (_, lane) => post(gateway.url, round, lane, posts))
    await expect
      .poll(() => posts.acknowledged.length - before, { timeout: 30_000, interval: 1 })
      .toBeGreaterThan(40)
    await pause(Math.random() * 20)
    await gateway.end('SIGKILL')
    await Promise.all(lanes)
  }
  const last = await start()
  const { acknowledged, refused } = posts
  const missing = async () => {
    const told = await feedOf(last.url)
    return acknowledged.filter((name) => !told.has(name))
  }
  await expect.poll(missing, { timeout: 30_000 }).toEqual([])
  const told = await feedOf(last.url)
  expect([...told.values()].filter((ids) => ids.length !== 1)).toEqual([])
  const taken = new Set(told.keys())
  expect(refused.filter((name) => name.length > 200 && taken.has(name))).toEqual([])
  expect(refused.filter((name) => taken.has(name)).length).toBeGreaterThan(0)
  expect([acknowledged.length, refused.length].map((count) => count >= kills)).toEqual([true, true])
  expect(await last.end('SIGTERM')).toBe(0)
}, 900_000)
