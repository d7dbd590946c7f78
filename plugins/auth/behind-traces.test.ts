import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Level } from 'level'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { kernelServices, type StoreState } from '../../kernel/services.ts'
import { ask } from '../../test/ask.ts'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }

let folder: string
let upstream: Upstream
let users: { userId: string; key: string }[]
let before: object[]

const start = (): Promise<TestGateway> => startGateway({ dataDir: folder, upstream })

const usageOf = (gateway: TestGateway): Promise<object[]> =>
  Promise.all(
    users.map(async ({ key }) => {
      const { body } = await gateway.api('GET', '/api/auth/me/usage', undefined, key)
      return body
    }),
  )

/** Changes the counters of a closed gateway, which is then one that was killed unless it `wasClosed`. */
async function count(changed: (name: string, value: string) => string | undefined, wasClosed = false) {
  const database = new Level<string, string>(path.join(folder, 'db'))
  for await (const [key, value] of database.iterator({ gte: 'n/', lt: 'n0' })) {
    if (!/^n\/[^!]*usage!/.test(key)) continue
    const next = changed(key.slice(key.indexOf('!') + 1), value)
    await (next === undefined ? database.del(key) : database.put(key, next))
  }
  if (!wasClosed) await database.put('!open', '')
  await database.close()
}

const told = ({ logged }: TestGateway): object[] =>
  logged.map((line) => JSON.parse(line)).filter(({ msg }) => /lower than in their traces/.test(msg))

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'behind-traces-'))
  upstream = await startUpstream()
  const gateway = await start()
  await bareChain(gateway)
  users = [await gateway.signUp('one'), await gateway.signUp('two')]
  for (const { key } of users)
    for (let n = 0; n < 3; n++)
      expect(await ask(gateway, { headers: { authorization: `Bearer ${key}` }, body })).toMatchObject({
        status: 200,
      })
  await vi.waitFor(async () => {
    before = await usageOf(gateway)
    expect(before).toEqual(users.map(() => expect.objectContaining({ requests: 3 })))
  })
  await gateway.close()
})

afterAll(async () => {
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

test('after an unclean end, what users have used is not less than their traces say, and it is told', async () => {
  const [lost, ahead] = users.map(({ userId }) => userId)
  await count((name, value) => {
    if (name.includes(lost!)) return name.endsWith('requests') ? value : name.endsWith('in') ? '1' : undefined
    return name.includes(ahead!) ? String(Number(value) + 7) : value
  })
  const gateway = await start()
  await expect.poll(() => told(gateway)).toEqual([expect.objectContaining({ level: 'warn', users: 1 })])
  const [first, second] = await usageOf(gateway)
  expect(first).toEqual(before[0])
  const { tokens_in } = before[1] as { tokens_in: number }
  expect(second).toMatchObject({ tokens_in: tokens_in + 7, requests: 10 })
  await gateway.api('DELETE', `/api/auth/users/${lost}`)
  await gateway.close()
})

test('users who were deleted get nothing back', async () => {
  await count(() => undefined)
  const gateway = await start()
  await expect.poll(() => told(gateway)).toEqual([expect.objectContaining({ users: 1 })])
  await gateway.close()
  const names = new Set<string>()
  await count((name, value) => {
    names.add(name.split('/')[1]!)
    return value
  }, true)
  expect([...names]).toEqual([users[1]!.userId])
})

test('nothing is compared after a clean end', async () => {
  await count(() => undefined, true)
  const gateway = await start()
  expect(gateway.kernel.container.resolve<StoreState>(kernelServices.storeState).endedUncleanly).toBe(false)
  await gateway.close()
})
