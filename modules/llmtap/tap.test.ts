import { afterAll, beforeAll, expect, test } from 'vitest'
import { kernelServices, TraceReader } from '#kernel'
import { createLog } from '../../gateway/log.ts'
import type { Engine } from '../../storage/index.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { placeRow, Tap } from './tap.ts'

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

test('while a sink without a queue of its own fails, what comes waits where it is, and is written later', async () => {
  const { kernel, adminKey, url } = gateway
  const store = kernel.container.resolve<Pick<Engine, 'namespace'>>(kernelServices.storage)
  const traces = kernel.service(TraceReader)!
  let now = Date.now()
  let isFailing = true
  const written: string[] = []
  const tap = new Tap({
    name: 'failing',
    sink: {
      async write(lines) {
        if (isFailing) throw new Error('There is no space.')
        written.push(...lines)
      },
    },
    places: store.namespace('tap-test').collection('places', { schema: placeRow }),
    traces: () => traces,
    log: createLog({ level: 'error' }),
    takes: () => true,
    line: async ({ id }) => id,
    batch: 2,
    most: Number.POSITIVE_INFINITY,
    now: () => now,
  })
  const headers = { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
  const asked: string[] = []
  for (let n = 0; n < 7; n += 1) {
    const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    await response.text()
    asked.push(response.headers.get('x-trace-id')!)
  }
  await expect.poll(async () => (await gateway.api('GET', '/api/observe/traces')).body.total).toBe(7)
  for (let n = 0; n < 3; n += 1) await tap.run()
  expect(tap.status).toMatchObject({ written: 0, waiting: 2, last_error: 'There is no space.' })
  isFailing = false
  now += 120_000
  await tap.run()
  expect(written).toEqual(asked)
})
