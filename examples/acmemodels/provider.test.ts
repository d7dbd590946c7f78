import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  ask,
  type GatewayUnderTest,
  startGateway,
  startUpstream,
  textOf,
  type Upstream,
} from 'switchyard/testing'

let service: Upstream
let gateway: GatewayUnderTest

before(async () => {
  service = await startUpstream({ apiKey: 'its-key' })
  gateway = await startGateway({
    plugins: [import.meta.dirname],
    config: {
      modules: { acmemodels: { enabled: true } },
      providers: { acmemodels: { base_url: service.baseUrl(), api_key: 'its-key' } },
    },
  })
})

after(async () => {
  await gateway.close()
  await service.close()
})

for (const stream of [false, true]) {
  test(`its models are served by it, ${stream ? 'streamed' : 'whole'}`, async () => {
    service.reply({ content: 'Hello from Acmemodels.' })
    const messages = [{ role: 'user', content: 'Hello' }]
    const { status, body } = await ask(gateway, { body: { model: 'acmemodels-large', stream, messages } })
    assert.equal(status, 200)
    assert.equal(textOf(body), 'Hello from Acmemodels.')
    assert.equal(service.last().key, 'its-key')
  })
}

test('its errors are errors of the gateway', async () => {
  service.reply({ status: 400, error: { message: 'no such thing' } })
  const messages = [{ role: 'user', content: 'Hello' }]
  const { status } = await ask(gateway, { body: { model: 'acmemodels-large', messages } })
  assert.equal(status, 400)
})
