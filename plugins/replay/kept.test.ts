import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startGateway } from '../../test/harness.ts'
import { placesOf } from '../../test/raw-store.ts'

test('runs and shares outlive a restart, lie sealed where that is asked for, and the store has no link', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-replay-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  let gateway = await startGateway({ dataDir: folder })
  onTestFinished(() => gateway.close())
  const { key, userId } = await gateway.signUp('ada')
  const made = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'mock/a', messages: [{ role: 'user', content: 'qxprompt' }] }),
  })
  await made.text()
  const trace_id = made.headers.get('x-trace-id')!
  await expect
    .poll(async () => (await gateway.api('GET', `/api/observe/traces/${trace_id}`)).status)
    .toBe(200)
  const side = (response: string) => ({ model: 'm', response })
  const share = async (response: string, title: string) => {
    const body = { title, left: side(response), right: side('other') }
    return (await gateway.api('POST', '/api/replayshare/share/custom', body, key)).body
  }
  const open = await share('qxopen', 'qxopentitle')
  await gateway.module('encryptvault', { enabled: true })
  const overrides = { system: 'qxsystem' }
  const run = await gateway.api('POST', '/api/replay', { trace_id, target_model: 'mock/b', overrides }, key)
  expect(run.body).toMatchObject({ status: 'success', overrides })
  const sealed = await share('qxsealed', 'qxsealedtitle')

  await gateway.close()
  for (const text of ['qxsystem', 'qxsealed', 'qxsealedtitle', open.id, sealed.id])
    expect(await placesOf(folder, text)).toEqual([])
  expect(await placesOf(folder, 'qxopentitle')).toContain('plugins/replay/shares')
  expect(await placesOf(folder, 'qxopen')).toContain('plugins/replay/contents')
  expect(await placesOf(folder, 'qxprompt')).not.toContain('plugins/replay/runs')

  gateway = await startGateway({ dataDir: folder })
  const kept = await gateway.api('GET', `/api/replay/runs/${run.body.id}`, undefined, key)
  expect(kept.body).toMatchObject({ status: 'success', overrides, target: { trace_id: expect.any(String) } })
  const read = async (id: string) => {
    const response = await fetch(`${gateway.url}/api/replayshare/share/${id}`)
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  expect((await read(sealed.id)).body).toMatchObject({
    title: 'qxsealedtitle',
    left: { response: 'qxsealed' },
  })
  const data = `/api/auth/users/${userId}/data`
  expect(JSON.stringify((await gateway.api('GET', data)).body)).toContain('"replay":3')
  await gateway.api('DELETE', data)
  expect([(await read(sealed.id)).status, (await read(open.id)).status]).toEqual([404, 404])
  expect((await gateway.api('GET', '/api/replay/runs', undefined, key)).body.total).toBe(0)
})

test('replays need the tier individual where plans are enforced', async () => {
  const gateway = await startGateway({ config: { plans: { enforce: true } } })
  onTestFinished(() => gateway.close())
  const { key } = await gateway.signUp('ada')
  for (const at of ['/api/replay', '/api/replay/batch', '/api/replay/tr_a', '/api/replayshare/share']) {
    const body = {
      '/api/replay': { trace_id: 'tr_a', target_model: 'm' },
      '/api/replay/batch': { trace_id: 'tr_a', target_models: ['m'] },
      '/api/replayshare/share': { replay_id: 'rpl_a' },
    }[at]
    const answer = await gateway.api('POST', at, body ?? {}, key)
    expect([answer.status, answer.body.error.message]).toEqual([403, expect.stringContaining('individual')])
  }
})
