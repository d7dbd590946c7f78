import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../test/harness.ts'
import { placesOf } from '../../test/raw-store.ts'

const templates = '/api/studio/templates'

test('what users make outlives a restart, lies sealed where that is asked for, and is erased with them', async () => {
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
  const experiment = {
    variants: [{ model: 'mock/echo', system: 'qxsystem' }, { model: 'mock/echo' }],
    dataset: { test_inputs: ['qxinput'] },
    evaluators: [{ type: 'json' }],
    wait_ms: 60_000,
  }
  const { body: run } = await gateway.api('POST', '/api/studio/experiments/run', experiment, key)
  expect(run).toMatchObject({ status: 'completed', results: { variants: [{ runs: 1, errors: 0 }, {}] } })
  await gateway.module('encryptvault', { enabled: false })
  expect((await gateway.api('POST', templates, { slug: 'open', content: 'qxopen' }, key)).status).toBe(201)

  await gateway.close()
  const ours = async (word: string) =>
    (await placesOf(folder, word)).filter((place) => place.includes('studio'))
  for (const word of ['qxcontent', 'qxdefault', 'qxsystem', 'qxinput'])
    expect([word, await ours(word)]).toEqual([word, []])
  expect(await placesOf(folder, 'qxopen')).toContain('plugins/studio/versions')

  gateway = await startGateway({ dataDir: folder })
  const filled = await gateway.api('POST', `${templates}/greet/render`, {}, key)
  expect(filled.body.messages).toEqual([{ role: 'system', content: 'qxcontent qxdefault' }])
  const { body: kept } = await gateway.api('GET', `/api/studio/experiments/${run.id}`, undefined, key)
  expect(kept.results.variants[0].outputs[0].output).toContain('qxinput')
  const data = `/api/auth/users/${userId}/data`
  expect(JSON.stringify((await gateway.api('GET', data)).body)).toContain('"studio":6')
  await gateway.api('DELETE', data)
  for (const list of ['templates', 'experiments'])
    expect((await gateway.api('GET', `/api/studio/${list}`, undefined, key)).body.total).toBe(0)
  expect((await gateway.api('GET', `/api/studio/experiments/${run.id}`)).status).toBe(404)
})
