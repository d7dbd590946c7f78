import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { writePlugin } from '../../../test/plugin-folder.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let gateway: TestGateway
let upstream: Upstream
let folder: string

/** Keeps three things of each user, and fails at its first request to erase them. */
const keeper = `
const settings = { safeParse: (data) => ({ success: true, data }) }
let things = 3
let failures = 1
export default {
  settings,
  setup(context) {
    context.personal({
      count: () => things,
      erase() {
        failures -= 1
        if (failures >= 0) throw new Error('not yet')
        const erased = things
        things = 0
        return erased
      },
    })
  },
}
`

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-keeper-'))
  const plugin = await writePlugin(folder, 'keeper', {
    manifest: { kind: 'area' },
    files: { 'index.ts': keeper },
  })
  gateway = await startGateway({ upstream, plugins: [plugin] })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true })
})

/** A user with a trace and a stored response of this month, and with a provider key. */
async function speaking(name: string): Promise<{ userId: string; key: string }> {
  const user = await gateway.signUp(name)
  const { status } = await gateway.api(
    'POST',
    '/v1/responses',
    { model: 'gpt-4o-mini', input: `I am ${name}` },
    user.key,
  )
  expect(status).toBe(200)
  await gateway.api('PUT', `/api/auth/users/${user.userId}/providers/openai`, { api_key: 'sk-own' })
  return user
}

const dataOf = (userId: string) => gateway.api('GET', `/api/auth/users/${userId}/data`)
const tracesOf = async (userId: string) =>
  (await gateway.api('GET', `/api/observe/traces?user_id=${userId}`)).body.total

test('what is kept of a user is counted by plugin, and erased on request', async () => {
  const [ada, bob] = [await speaking('ada'), await speaking('bob')]
  expect((await dataOf(ada.userId)).body).toEqual({
    user_id: ada.userId,
    kept: { anomalyradar: 1, keeper: 3, observe: 1, proxy: 1, sealing: 1 },
  })

  const failed = await gateway.api('DELETE', `/api/auth/users/${ada.userId}/data`)
  expect([failed.status, failed.body.error.details]).toEqual([
    500,
    { failed: ['keeper'], done: { anomalyradar: 1, observe: 1, proxy: 1, sealing: 1 } },
  ])
  expect((await dataOf(ada.userId)).body.kept).toEqual({ keeper: 3 })
  const again = await gateway.api('DELETE', `/api/auth/users/${ada.userId}/data`)
  expect([again.status, again.body]).toEqual([200, { user_id: ada.userId, erased: { keeper: 3 } }])

  expect([await tracesOf(ada.userId), await tracesOf(bob.userId)]).toEqual([0, 1])
  expect(
    (await gateway.api('GET', '/api/auth/me/providers', undefined, ada.key)).body.providers,
  ).toHaveLength(1)
})

test('a deleted account takes along what it owned, and leaves the records of the operator', async () => {
  const eve = await speaking('eve')
  expect((await gateway.api('DELETE', `/api/auth/users/${eve.userId}`)).status).toBe(200)
  expect((await dataOf(eve.userId)).body.kept).toEqual({ observe: 1, sealing: 1 })
  expect((await gateway.api('DELETE', `/api/auth/users/${eve.userId}/data`)).body.erased).toEqual({
    observe: 1,
    sealing: 1,
  })
  expect(await tracesOf(eve.userId)).toBe(0)
})

test('only admins see and erase it', async () => {
  const { userId, key } = await speaking('mallory')
  for (const method of ['GET', 'DELETE'])
    expect((await gateway.api(method, `/api/auth/users/${userId}/data`, undefined, key)).status).toBe(403)
})
