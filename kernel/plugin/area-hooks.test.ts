import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { headerCode, moduleCode, writePlugin } from '../../test/plugin-folder.ts'

/** Areas whose manifest has a stage: their hooks stand in the chain as those of modules do. */

let folder: string
let gateway: TestGateway

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-areas-'))
  const area = (id: string, code: string, manifest: object) =>
    writePlugin(folder, id, { manifest: { kind: 'area', ...manifest }, files: { 'index.js': code } })
  await area('greeter', headerCode('x-greeter', 'hello'), { stage: 'route', after: ['late'] })
  await writePlugin(folder, 'late', {
    manifest: { stage: 'route' },
    files: { 'index.js': headerCode('x-late', 'yes') },
  })
  await area('homeless', headerCode('x-homeless', 'no'), {})
  await area('failing', moduleCode("return { request() { throw new Error('no') } }"), { stage: 'shape' })
  gateway = await startGateway({ config: { plugin_dirs: [folder] } })
})

afterAll(async () => {
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
})

const ask = () =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'mock/echo', messages: [{ role: 'user', content: 'Hi' }] }),
  })

const names = (list: readonly { name: string }[]) => list.map(({ name }) => name)

test('hooks of an area run in its place, and no module has its name', async () => {
  const response = await ask()
  expect([response.status, response.headers.get('x-greeter')]).toEqual([200, 'hello'])
  const chain = names((await gateway.api('GET', '/api/proxy/chain')).body.chain)
  expect(chain.indexOf('greeter')).toBeGreaterThan(chain.indexOf('late'))
  expect(chain.indexOf('late')).toBeGreaterThan(-1)
  const { modules } = (await gateway.api('GET', '/api/proxy/modules?limit=500')).body
  expect(names(modules)).toContain('late')
  expect(names(modules)).not.toContain('greeter')
  expect((await gateway.api('GET', '/api/proxy/modules/greeter')).status).toBe(404)
})

test('a call passes an area that fails, and its trace says so', async () => {
  const response = await ask()
  const id = response.headers.get('x-trace-id')
  const failed = async () => {
    const { body } = await gateway.api('GET', `/api/observe/traces/${id}/explain`)
    return JSON.stringify(body.modules?.find(({ name }: { name: string }) => name === 'failing') ?? null)
  }
  await expect.poll(failed, { timeout: 20_000 }).toContain('"failed"')
})

test('an area without a stage that returns hooks does not start, and says why', async () => {
  const { body } = await gateway.api('GET', '/api/plugins')
  const homeless = body.plugins.find(
    ({ id, name }: { id: string; name: string }) => (id ?? name) === 'homeless',
  )
  expect(JSON.stringify(homeless)).toContain('names no stage')
  expect((await ask()).headers.get('x-homeless')).toBe(null)
})
