import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { LedgerEntry } from '#kernel'
import { type GatewayProcess, startProcess } from '../../../test/process.ts'
import { runs } from '../../../test/suite/runs.ts'

/** One gateway of four threads: first it is busy in all of them, then it is killed again and again. */

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'

let folder: string
let gateway: GatewayProcess

const start = (): Promise<GatewayProcess> =>
  startProcess({
    SERVICE_CONFIG: path.join(folder, 'service.yaml'),
    SERVICE_DATA_DIR: path.join(folder, 'data'),
    SERVICE_ADMIN_KEY: adminKey,
  })

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-ledger-'))
  const auth = { admin_rpm: 1_000_000, signup_per_hour: 0 }
  await writeFile(path.join(folder, 'service.yaml'), stringify({ auth, server: { threads: 4 } }))
  gateway = await start()
}, 120_000)

afterAll(async () => {
  await gateway.end('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

/** Over a connection of its own, so that all threads have their share. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
async function api(method: string, at: string, body?: object): Promise<{ status: number; body: any }> {
  const response = await fetch(gateway.url + at, {
    method,
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json', connection: 'close' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

const append = (id: string) =>
  api('POST', '/api/trust/ledger', { event_type: 'test.done', action: 'do', resource: { type: 'test', id } })
const call = () =>
  api('POST', '/v1/chat/completions', { model: 'mock/mock', messages: [{ role: 'user', content: 'Hello' }] })
const total = async (query: string): Promise<number> =>
  (await api('GET', `/api/trust/ledger?${query}`)).body.total
const verdict = async () => (await api('GET', '/api/trust/ledger/verify?full=true')).body

/** Runs so many at a time until all are done. */
async function inParallel(
  width: number,
  count: number,
  work: (n: number) => Promise<unknown>,
): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

test('what four threads append and record at once is one chain without gaps', {
  timeout: 120_000,
}, async () => {
  const { numRuns: appends } = runs(34)
  const calls = 2 * appends
  await Promise.all([
    inParallel(16, appends, async (n) => expect((await append(`busy-${n}`)).status).toBe(201)),
    inParallel(16, calls, async () => expect((await call()).status).toBe(200)),
  ])
  expect(await total('event_type=test.done')).toBe(appends)
  await expect.poll(() => total('event_type=call.settled'), { timeout: 20_000 }).toBe(calls)
  expect(await verdict()).toMatchObject({ valid: true, reason: null })
})

test('after kill -9 the chain is whole, and has an entry for each change that was acknowledged and for no other', {
  timeout: 600_000,
}, async () => {
  for (let round = 0; round < runs(1).numRuns; round++) {
    const users = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => {
        const { body } = await api('POST', '/api/auth/signup', { email: `u${round}-${n}@example.com` })
        return body.user_id as string
      }),
    )
    const acknowledged = { appended: new Set<string>(), deleted: new Set<string>() }
    let done = 0
    const enough = 10 + Math.floor(Math.random() * 60)
    const killed = Promise.withResolvers<unknown>()
    const count = (): void => {
      done += 1
      if (done === enough) killed.resolve(gateway.end('SIGKILL'))
    }
    const under = [
      inParallel(8, 1000, async (n) => {
        const { status } = await append(`kill-${round}-${n}`)
        if (status === 201) acknowledged.appended.add(`kill-${round}-${n}`)
        count()
      }),
      inParallel(4, users.length, async (n) => {
        const { status } = await api('DELETE', `/api/auth/users/${users[n]}`)
        if (status === 200) acknowledged.deleted.add(users[n]!)
        count()
      }),
      inParallel(8, 1000, call),
    ]
    await Promise.allSettled(under)
    await killed.promise
    gateway = await start()

    expect(await verdict()).toMatchObject({ valid: true, reason: null })
    for (const id of acknowledged.appended) expect(await total(`resource=${id}`)).toBe(1)
    for (const id of users) {
      const isGone = (await api('GET', `/api/auth/users/${id}`)).status === 404
      if (acknowledged.deleted.has(id)) await expect.poll(() => total(`resource=${id}`)).toBe(1)
      const entries = await total(`resource=${id}`)
      expect(entries).toBeLessThanOrEqual(isGone ? 1 : 0)
    }
  }
  const { body } = await api('GET', '/api/trust/ledger?limit=500')
  const seqs = body.entries.map(({ seq }: LedgerEntry) => seq)
  expect(seqs).toEqual(seqs.map((_: number, at: number) => seqs[0] - at))
})
