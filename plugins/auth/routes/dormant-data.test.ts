import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kernelServices, type Personal } from '#kernel'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { writePlugin } from '../../../test/plugin-folder.ts'

let gateway: TestGateway
let folder: string

/** Keeps a row for each user that a header of a call names, and can be told to fail in its setup. */
const diary = `
const settings = { safeParse: (data) => ({ success: true, data }) }
const schema = { safeParse: (data) => ({ success: true, data }) }
globalThis.diaryBeats ??= 0
export default {
  settings,
  setup(context) {
    if (context.settings.breaks) throw new Error('broken')
    const rows = context.store.collection('rows', { schema, indexes: { user: ({ user }) => user } })
    context.every(1, () => { globalThis.diaryBeats += context.isDormant ? 1 : 0 })
    const of = (id) => ({ index: 'user', equals: id })
    context.personal({
      count: ({ id }) => rows.count(of(id)),
      async erase({ id }) {
        let erased = 0
        for await (const [row] of rows.scan(of(id))) if (await rows.delete(row)) erased += 1
        return erased
      },
    })
    return {
      async request(call) {
        const user = call.context.headers['x-diary']
        if (user) await rows.put(call.id, { user })
      },
    }
  },
}
`

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-dormant-'))
  const permissions = ['store', 'body:read']
  const files = { 'index.ts': diary }
  const plugins = [
    await writePlugin(folder, 'diary', { manifest: { permissions }, files }),
    await writePlugin(folder, 'gone', { manifest: { permissions }, files }),
  ]
  gateway = await startGateway({ plugins, config: { modules: { mockllm: { enabled: true } } } })
})

afterAll(async () => {
  await gateway.close()
  await rm(folder, { recursive: true })
})

/** Has every running diary keep a row of this user. */
async function note(user: string): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'x-diary': user },
    body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  expect(response.status).toBe(200)
  await response.text()
}

const kept = async (user: string) => (await gateway.api('GET', `/api/auth/users/${user}/data`)).body.kept

test('a plugin that is switched off, a binding and a removed binding are asked, and nothing of them runs', async () => {
  const bindings = '/api/proxy/modules/diary/bindings'
  for (const name of ['stays', 'goes']) await gateway.api('POST', bindings, { name })
  await note('ada')
  await note('bob')
  expect(await kept('ada')).toEqual({ diary: 1, 'diary/stays': 1, 'diary/goes': 1, gone: 1 })

  expect((await gateway.api('DELETE', `${bindings}/goes`)).status).toBe(200)
  await gateway.module('diary', { enabled: false })
  const all = { diary: 1, 'diary/stays': 1, 'diary/goes': 1, gone: 1 }
  expect(await kept('ada')).toEqual(all)
  const { status, body } = await gateway.api('DELETE', '/api/auth/users/ada/data')
  expect([status, body.erased]).toEqual([200, all])
  expect(await kept('ada')).toEqual({})
  expect(await kept('bob')).toEqual(all)
  expect((globalThis as { diaryBeats?: number }).diaryBeats).toBe(0)
})

test('one that cannot be set up is named, and the others erase all the same', async () => {
  await gateway.module('diary', { enabled: true })
  await note('eve')
  await gateway.module('diary', { enabled: false, config: { breaks: true } })
  const { status, body } = await gateway.api('DELETE', '/api/auth/users/eve/data')
  expect([status, body.error.details]).toEqual([
    500,
    { failed: ['diary'], done: { gone: 1, 'diary/stays': 1 } },
  ])
  await gateway.module('diary', { config: { breaks: null } })
  expect((await gateway.api('DELETE', '/api/auth/users/eve/data')).body.erased).toEqual({ diary: 1 })
})

test('what a plugin left that is gone is named', async () => {
  const { container, registry } = gateway.kernel
  const personal = container.resolve<Personal>(kernelServices.personal)
  expect(await personal.unclaimed()).toEqual([])
  await registry.remove('gone')
  expect(await personal.unclaimed()).toEqual(['gone'])
})
