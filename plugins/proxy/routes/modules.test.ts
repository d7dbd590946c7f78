import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

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

const path = '/api/proxy/modules/outputcap'

async function call(body: Record<string, unknown> = {}): Promise<unknown> {
  const question = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hi' }], ...body }
  expect((await gateway.api('POST', '/v1/chat/completions', question)).status).toBe(200)
  return upstream.last().body
}

describe('a module', () => {
  it('acts on the very next call when it is switched on, with the settings it was given', async () => {
    expect(await call()).not.toHaveProperty('max_tokens')
    const on = await gateway.api('PUT', path, { enabled: true, config: { default_max_tokens: 7 } })
    expect(on.status).toBe(200)
    expect(on.body).toMatchObject({ name: 'outputcap', enabled: true, state: 'active', in_chain: true })
    expect(on.body.config).toEqual({ default_max_tokens: 7 })
    expect(await call()).toMatchObject({ max_tokens: 7 })
    await gateway.api('PUT', path, { config: { default_max_tokens: 9 } })
    expect(await call()).toMatchObject({ max_tokens: 9 })
    const off = await gateway.api('PUT', path, { enabled: false })
    expect(off.body).toMatchObject({ enabled: false, state: 'disabled', in_chain: false })
    expect(await call()).not.toHaveProperty('max_tokens')
  })
})
