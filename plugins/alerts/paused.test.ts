import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'

const at = '/api/observe/alerts'
/** Longer than two ticks. */
const whileMs = 2500

test('while alertpulse is off, also from the start on, what fires stays as it is and calls are answered', async () => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-alerts-'))
  const modules = { alertpulse: { config: { check_interval_s: 1 } } }
  const start = () => startGateway({ dataDir, config: { modules } })
  const call = async (gateway: TestGateway) => {
    const body = JSON.stringify({ model: 'mock/echo', messages: [{ role: 'user', content: 'Hello' }] })
    expect((await ask(gateway, { path: '/v1/chat/completions', body })).status).toBe(200)
  }
  const open = async (gateway: TestGateway): Promise<number> =>
    (await gateway.api('GET', `${at}/history?state=firing`)).body.history.length
  const rule = { metric: 'request_rate', condition: 'gt', threshold: 0, window: '1h' }

  let gateway = await start()
  for (const name of ['one', 'two']) await gateway.api('POST', at, { ...rule, name })
  await call(gateway)
  await expect.poll(() => open(gateway), { timeout: 20_000 }).toBe(2)
  await gateway.module('alertpulse', { enabled: false })
  await pause(whileMs)
  await call(gateway)
  expect(await open(gateway)).toBe(2)
  await gateway.close()

  gateway = await start()
  await pause(whileMs)
  await call(gateway)
  expect(await open(gateway)).toBe(2)
  await gateway.module('alertpulse', { enabled: true })
  await gateway.api('POST', at, { ...rule, name: 'three' })
  await call(gateway)
  await expect.poll(() => open(gateway), { timeout: 20_000 }).toBe(3)
  expect((await gateway.api('GET', `${at}/history`)).body.history).toHaveLength(3)
  await gateway.close()
  await rm(dataDir, { recursive: true, force: true })
}, 90_000)
