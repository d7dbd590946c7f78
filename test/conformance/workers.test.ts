import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../harness.ts'
import { startUpstream, type Upstream } from '../upstream/index.ts'
import { checksFor } from './checks.ts'
import { Subject } from './subject.ts'

/** Some of our own modules, unchanged, in workers: what they do must not depend on where they do it. */
const ids = ['ipfence', 'outputcap', 'secretscan', 'paramnorm']

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  for (const { plugin } of gateway.kernel.registry.places)
    await gateway.kernel.registry.change(plugin.id, { enabled: false })
  for (const id of ids) await gateway.kernel.registry.change(id, { isolation: 'worker' })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

describe.each(ids)('module %s in a worker', (id) => {
  test('is there', async () => {
    await gateway.kernel.registry.change(id, { enabled: true })
    const { body } = await gateway.api('GET', `/api/proxy/modules/${id}`)
    expect(body).toMatchObject({ isolation: 'worker', state: 'active' })
  })

  test.each(checksFor('module'))('$name', ({ run }) => run(new Subject(id, gateway, upstream)))
})
