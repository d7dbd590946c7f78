import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSecrets } from '../../gateway/secrets/open-secrets.ts'
import type { Engine } from '../../storage/index.ts'
import { openLevel } from '../../storage/level.ts'
import { Deliveries } from './deliveries.ts'
import { prune } from './pruning.ts'
import { Webhooks } from './webhooks.ts'

let folder: string
let engine: Engine

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-pruning-'))
  engine = await openLevel(path.join(folder, 'db'))
})

afterAll(async () => {
  await engine.close()
  await rm(folder, { recursive: true })
})

test('deliveries whose webhook has gone are forgotten, and those of another stay', async () => {
  const secrets = await openSecrets({ dataDir: folder })
  const own = engine.namespace('pruning')
  const webhooks = new Webhooks(own, () => secrets)
  const deliveries = new Deliveries(own, webhooks, () => secrets)
  const message = { event: 'webhook.test', timestamp: '2026-01-01T00:00:00Z', data: {} }
  const url = 'https://example.com'
  const keep = (id: string) =>
    webhooks.keep({ id, owner: 'test', name: id, url, format: 'json', routing_key: undefined })
  const both = [await keep('wh_gone'), await keep('wh_there')]
  await deliveries.add(
    'evt_1',
    both.map((webhook) => ({ webhook, message })),
  )
  await webhooks.rows.delete('wh_gone')
  await prune(webhooks, deliveries)
  const { items } = await deliveries.rows.list({})
  expect(items.map(({ webhook }) => webhook)).toEqual(['wh_there'])
})
