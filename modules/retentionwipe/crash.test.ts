import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { adminKey } from '../../test/harness.ts'
import { writePlugin } from '../../test/plugin-folder.ts'
import { type GatewayProcess, startProcess } from '../../test/process.ts'
import { placesOf } from '../../test/raw-store.ts'

const routes = '/api/modules/retentionwipe'

let folder: string
let gateway: GatewayProcess

/** Says that it was asked to erase, and erases nothing while a file holds it. */
const holder = `
import { existsSync, writeFileSync } from 'node:fs'
const settings = { safeParse: (data) => ({ success: true, data }) }
export default {
  settings,
  setup(ctx) {
    ctx.personal({
      count: () => 1,
      async erase() {
        writeFileSync(process.env.HOLDER_ASKED, 'yes')
        while (existsSync(process.env.HOLDER_HELD)) await new Promise((resolve) => setTimeout(resolve, 20))
        return 1
      },
    })
  },
}
`

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-wipe-'))
  // Asked after the gateway's own plugins.
  await writePlugin(path.join(folder, 'plugins'), 'zz-holder', {
    manifest: { kind: 'area' },
    files: { 'index.ts': holder },
  })
  const config = { plugin_dirs: [path.join(folder, 'plugins')], modules: { mockllm: { enabled: true } } }
  await writeFile(path.join(folder, 'service.yaml'), stringify(config))
  await writeFile(path.join(folder, 'held'), 'yes')
})

afterAll(async () => {
  await gateway.end('SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

const start = () =>
  startProcess({
    SERVICE_CONFIG: path.join(folder, 'service.yaml'),
    SERVICE_DATA_DIR: path.join(folder, 'data'),
    SERVICE_ADMIN_KEY: adminKey,
    HOLDER_ASKED: path.join(folder, 'asked'),
    HOLDER_HELD: path.join(folder, 'held'),
  })

// biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
async function api(at: string, body?: object, key = adminKey): Promise<any> {
  const response = await fetch(gateway.url + at, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect(response.ok).toBe(true)
  return response.json()
}

test('an erasure that a kill interrupts is finished by the next start, and its report has all that was found', async () => {
  gateway = await start()
  const { user_id, api_key } = await api('/api/auth/signup', { email: 'ada@example.com' })
  const messages = [{ role: 'user', content: 'I am tamarind' }]
  for (let n = 0; n < 3; n += 1) await api('/v1/chat/completions', { model: 'gpt-4o', messages }, api_key)
  await expect.poll(async () => (await api('/api/observe/traces')).total).toBe(3)
  const { id } = await api(`${routes}/erase`, { user_id })
  await expect
    .poll(() => readFile(path.join(folder, 'asked'), 'utf8').catch(() => ''), { timeout: 20_000 })
    .toBe('yes')
  // The traces are gone, and the report would not know of them.
  expect((await api(`/api/observe/traces?user_id=${user_id}`)).total).toBe(0)
  await gateway.end('SIGKILL')
  await rm(path.join(folder, 'held'))

  gateway = await start()
  const report = () => api(`${routes}/reports/${id}`)
  await expect.poll(async () => (await report()).status, { timeout: 30_000 }).toBe('completed')
  expect((await report()).report).toMatchObject({ found: { observe: 3, 'zz-holder': 1 } })
  expect((await report()).signed).not.toBeNull()
  await gateway.end('SIGTERM')
  expect(await placesOf(path.join(folder, 'data'), 'tamarind')).toEqual([])
}, 120_000)
