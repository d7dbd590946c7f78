import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../test/harness.ts'
import { placesOf } from '../../test/raw-store.ts'

const templates = '/api/studio/templates'

test('templates outlive a restart, lie sealed where that is asked for, and are erased with their user', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-studio-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  let gateway = await startGateway({ dataDir: folder })
  onTestFinished(() => gateway.close())
  const { key, userId } = await gateway.signUp('ada')
  await gateway.module('encryptvault', { enabled: true })
  const sealed = {
    slug: 'greet',
    content: 'qxcontent {{name}}',
    variables: [{ name: 'name', default: 'qxdefault' }],
  }
  expect((await gateway.api('POST', templates, sealed, key)).status).toBe(201)
  await gateway.module('encryptvault', { enabled: false })
  expect((await gateway.api('POST', templates, { slug: 'open', content: 'qxopen' }, key)).status).toBe(201)

  await gateway.close()
  expect([await placesOf(folder, 'qxcontent'), await placesOf(folder, 'qxdefault')]).toEqual([[], []])
  expect(await placesOf(folder, 'qxopen')).toContain('plugins/studio/versions')

  gateway = await startGateway({ dataDir: folder })
  const filled = await gateway.api('POST', `${templates}/greet/render`, {}, key)
  expect(filled.body.messages).toEqual([{ role: 'system', content: 'qxcontent qxdefault' }])
  const data = `/api/auth/users/${userId}/data`
  expect(JSON.stringify((await gateway.api('GET', data)).body)).toContain('"studio":4')
  await gateway.api('DELETE', data)
  expect((await gateway.api('GET', templates, undefined, key)).body.total).toBe(0)
})
