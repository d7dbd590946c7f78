import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const ask = (fields: object, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], ...fields }),
  })

test('its default model answers to the names of autopilot, and the reference model once there is one', async () => {
  await gateway.module('smartroute', { enabled: true, config: { default_model: 'gpt-4o' } })
  expect((await ask({ model: 'autopilot' })).status).toBe(200)
  expect(upstream.last().body).toMatchObject({ model: 'gpt-4o' })
  await gateway.api('PUT', '/api/autopilot', { reference_model: 'gpt-4.1' })
  expect((await ask({ model: 'auto' })).status).toBe(200)
  expect(upstream.last().body).toMatchObject({ model: 'gpt-4.1' })
})

test('a name of autopilot goes to the provider that the caller forces, with the reference model', async () => {
  expect((await ask({ model: 'auto' }, { 'x-provider': 'openai' })).status).toBe(200)
  expect(upstream.last().body).toMatchObject({ model: 'gpt-4.1' })
})

test('without any model for them, it refuses the names with what to do', async () => {
  await gateway.api('PUT', '/api/autopilot', { reference_model: null })
  await gateway.module('smartroute', { enabled: true, config: { default_model: null } })
  const before = upstream.requests.length
  const response = await ask({ model: 'auto' })
  expect(response.status).toBe(404)
  expect(JSON.stringify(await response.json())).toContain('PUT /api/autopilot')
  expect(upstream.requests).toHaveLength(before)
})
