import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../test/harness.ts'
import { placesOf } from '../../test/raw-store.ts'

test('what is said lies sealed where that is asked for, credentials always, and all goes with its user', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-forge-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  let gateway = await startGateway({ dataDir: folder })
  await gateway.kernel.registry.change('forge', { config: { requests_by: 'everybody' } })
  onTestFinished(() => gateway.close())
  const { key, userId } = await gateway.signUp('ada')
  const api = (method: string, at: string, body?: object) => gateway.api(method, `/api/forge${at}`, body, key)
  const handler = { url: 'https://example.com', headers: { 'x-key': 'qxcredential' } }
  expect((await api('POST', '/tools', { name: 'tool', handler })).status).toBe(201)
  await gateway.module('encryptvault', { enabled: true })
  const steps = [{ id: 'a', type: 'llm', model: 'mock/echo', prompt: 'qxprompt {{input.x}}' }]
  expect((await api('POST', '/workflows', { name: 'sealed', steps })).status).toBe(201)
  const { body: run } = await api('POST', '/workflows/sealed/run', { input: { x: 'qxinput' } })
  expect(run).toMatchObject({ status: 'completed', output: expect.stringContaining('qxprompt qxinput') })
  const { body: session } = await api('POST', '/sessions', { model: 'mock/echo', system_prompt: 'qxsystem' })
  expect((await api('POST', `/sessions/${session.id}/messages`, { content: 'qxmessage' })).status).toBe(200)

  const input = [{ messages: [{ role: 'user', content: 'qxitem' }] }]
  const { body: batch } = await api('POST', '/batch', { model: 'mock/echo', input, wait_ms: 60_000 })
  expect(batch.status).toBe('completed')

  await gateway.close()
  const ours = async (word: string) =>
    (await placesOf(folder, word)).filter((place) => place.includes('forge'))
  for (const word of ['qxcredential', 'qxprompt', 'qxinput', 'qxsystem', 'qxmessage', 'qxitem'])
    expect([word, await ours(word)]).toEqual([word, []])

  gateway = await startGateway({ dataDir: folder })
  expect((await api('GET', `/runs/${run.id}`)).body).toEqual(run)
  const { body: messages } = await api('GET', `/sessions/${session.id}/messages`)
  expect(messages.messages).toMatchObject([{ content: 'qxmessage' }, { status: 'complete' }])
  const { body: items } = await api('GET', `/batch/${batch.id}/items`)
  expect(items.items).toMatchObject([{ input: input[0], status: 'succeeded' }])
  expect(JSON.stringify(items.items[0].response)).toContain('qxitem')
  // A workflow with its version, a tool, a run, a batch and a session.
  expect(JSON.stringify((await gateway.api('GET', `/api/auth/users/${userId}/data`)).body)).toContain(
    '"forge":6',
  )
  await gateway.api('DELETE', `/api/auth/users/${userId}/data`)
  for (const list of ['workflows', 'tools', 'runs', 'sessions', 'batch'])
    expect([list, (await api('GET', `/${list}`)).body.total]).toEqual([list, 0])
})
