import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { complies, startAttacked } from '../../test/attacked.ts'
import { startGateway } from '../../test/harness.ts'
import { placesOf } from '../../test/raw-store.ts'

test('what is said lies sealed where that is asked for, keys nowhere, and all goes with its user', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'switchyard-redteam-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const attacked = await startAttacked()
  onTestFinished(() => attacked.close())
  attacked.behave((attack) => {
    const { content } = complies(attack) as { content?: string }
    return { content: `qxanswer ${content ?? ''} ${attack.messages[0]!.content}` }
  })
  const config = { egress: { allow: ['127.0.0.1'] } }
  let gateway = await startGateway({ dataDir: folder, config })
  onTestFinished(() => gateway.close())
  await gateway.kernel.registry.change('redteam', { config: { addresses_by: 'everybody' } })
  await gateway.module('encryptvault', { enabled: true })
  const { key, userId } = await gateway.signUp('ada')
  const api = (method: string, at: string, body?: object) =>
    gateway.api(method, `/api/redteam${at}`, body, key)
  const target = { system_prompt: 'qxsystem: you sell tickets.' }
  const { body: made } = await api('POST', '/campaigns', { name: 'Spring', target_url: attacked.url, target })
  const options = { generations: 1, population: 6, api_key: 'qxkey-of-the-target', wait_ms: 60_000 }
  const { body: hunted } = await api('POST', `/campaigns/${made.id}/hunt`, options)
  expect(hunted).toMatchObject({ status: 'completed', total_attacks: 6 })
  expect(attacked.keys).toContain('Bearer qxkey-of-the-target')
  const { body: before } = await api('GET', `/attacks?campaign_id=${made.id}`)
  expect(before.attacks[0].target_response_preview).toContain('qxanswer')

  await gateway.close()
  for (const word of ['qxsystem', 'qxanswer', 'qxkey-of-the-target', 'Ingrid'])
    expect([word, await placesOf(folder, word)]).toEqual([word, []])

  gateway = await startGateway({ dataDir: folder, config })
  expect((await api('GET', `/attacks?campaign_id=${made.id}`)).body).toEqual(before)
  const data = JSON.stringify((await gateway.api('GET', `/api/auth/users/${userId}/data`)).body)
  // A campaign, and how often the user attacked today.
  expect(data).toContain('"redteam":2')
  await gateway.api('DELETE', `/api/auth/users/${userId}/data`)
  for (const list of ['campaigns', 'attacks', 'vulnerabilities'])
    expect([list, (await gateway.api('GET', `/api/redteam/${list}`)).body.total]).toEqual([list, 0])
})

test('where plans are enforced, campaigns need the tier team, and the quick scan none', async () => {
  const attacked = await startAttacked()
  onTestFinished(() => attacked.close())
  const providers = { openai: { base_url: attacked.url, api_key: 'sk-test' } }
  const gateway = await startGateway({ config: { plans: { enforce: true }, providers } })
  onTestFinished(() => gateway.close())
  const { key, userId } = await gateway.signUp('ada')
  const make = () => gateway.api('POST', '/api/redteam/campaigns', { name: 'Spring' }, key)
  const refused = await make()
  expect([refused.status, refused.body.error.code]).toEqual([403, 'forbidden'])
  expect(refused.body.error.message).toContain('team')
  expect((await gateway.api('POST', '/api/redteam/quickscan', {}, key)).status).toBe(200)
  expect((await gateway.api('PUT', `/api/auth/users/${userId}`, { plan: 'team' })).status).toBe(200)
  expect((await make()).status).toBe(201)
})
