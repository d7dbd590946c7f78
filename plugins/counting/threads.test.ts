import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from '../../test/process.ts'

/** Four threads of a real process, in each of them a module that reserves and settles on command. */

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
const most = 1_234
/** So many fresh connections go to all of four threads, but for one time in ten thousand. */
const enough = 40

let folder: string
let gateway: GatewayProcess

interface Did {
  readonly did: number
  readonly thread: string
}

/** A call on a connection of its own, which the system gives to any thread; undefined when its thread ended. */
function tell(user: string, seed = 0): Promise<Did | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
    const sent = request(
      `${gateway.url}/v1/chat/completions`,
      { method: 'POST', headers, agent: new Agent() },
      (answer) => {
        const { 'x-did': did, 'x-thread': thread } = answer.headers
        if (did === undefined) reject(new Error(`${user} was answered with ${answer.statusCode}`))
        answer.resume()
        answer.on('close', () => resolve({ did: Number(did), thread: String(thread) }))
      },
    )
    sent.on('error', () => resolve(undefined))
    sent.end(
      JSON.stringify({ model: 'mock/echo', user, seed, messages: [{ role: 'user', content: 'Hello' }] }),
    )
  })
}

const tellAll = async (user: string, seed?: number): Promise<Did[]> => {
  const answers = await Promise.all(Array.from({ length: enough }, () => tell(user, seed)))
  return answers.filter((answer) => answer !== undefined)
}

const sum = (answers: readonly Did[]): number => answers.reduce((all, { did }) => all + did, 0)
const used = async (): Promise<number> => (await tell('used'))!.did

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-counting-'))
  await cp(path.resolve('test/fixtures/modules/tally'), path.join(folder, 'plugins/tally'), {
    recursive: true,
  })
  const settings = {
    admin_key: adminKey,
    server: { threads: 4 },
    plugin_dirs: ['plugins'],
    modules: { tally: { enabled: true, config: { most } } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await startProcess({}, folder)
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

test('four threads reserve to the limit and not one more, a dead one gives back, and kill -9 keeps what was settled', async () => {
  // A few for each thread, and then more than there is for all.
  const reserved = [...(await tellAll('reserve', 5)), ...(await tellAll('reserve', 245))]
  expect(sum(reserved)).toBe(most)
  expect(await used()).toBe(most)
  const byThread = new Map<string, number>()
  for (const { thread, did } of reserved) byThread.set(thread, (byThread.get(thread) ?? 0) + did)
  expect(byThread.size).toBe(4)

  while (await tell('die'));
  const kept = [...byThread.values()].map((own) => most - own)
  await expect.poll(used).toBeLessThan(most)
  expect(kept).toContain(await used())

  const settled = sum(await tellAll('settle', 5))
  expect(settled).toBeGreaterThan(10)
  await tell('flush')
  await gateway.end('SIGKILL')
  gateway = await startProcess({}, folder)
  expect(await used()).toBe(settled)
  expect(sum(await tellAll('reserve', 50))).toBe(most - settled)
})

test('what is added to shared windows in any thread is there in all', async () => {
  const added = await tellAll('watch', 5)
  expect(new Set(added.map(({ thread }) => thread)).size).toBeGreaterThan(1)
  await expect.poll(async () => (await tell('watched'))!.did).toBe(sum(added))
  expect((await tell('median'))!.did).toBeCloseTo(10, 0)
})
