import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { llm, questionOf } from '../../../test/forge.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let dataDir: string
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-restarted-'))
  gateway = await startGateway({ upstream, dataDir })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(dataDir, { recursive: true, force: true })
})

const post = async (at: string, body: object) => (await gateway.api('POST', `/api/forge/${at}`, body)).body
const read = async (at: string) => (await gateway.api('GET', `/api/forge/${at}`)).body

test('runs and batches whose calls an ordinary shutdown cuts off go on, and have not failed', async () => {
  await post('workflows', {
    name: 'plain',
    steps: [llm('first', 'First'), llm('then', 'Then {{first.output}}')],
  })
  const retry = { max: 3, backoff_ms: 100 }
  await post('workflows', { name: 'patient', steps: [llm('only', 'Only {{input.n}}', { retry })] })
  upstream.reply({ content: 'done' })
  upstream.reply({ hang: true, times: 4 })
  const run = await post('workflows/plain/run', { wait_ms: 0 })
  await upstream.received(2)
  const items = await post('batch', { type: 'workflow', workflow: 'patient', input: [{ n: 1 }, { n: 2 }] })
  const asked = { messages: [{ role: 'user', content: 'Chat' }] }
  const calls = await post('batch', { model: 'gpt-4o-mini', max_attempts: 1, input: [asked] })
  await upstream.received(5)
  await gateway.close()
  gateway = await startGateway({ upstream, dataDir })
  const statuses = async () => [
    (await read(`runs/${run.id}`)).status,
    ...(await Promise.all([items, calls].map(async ({ id }) => (await read(`batch/${id}`)).status))),
  ]
  await expect.poll(statuses, { timeout: 20_000 }).toEqual(['completed', 'completed', 'completed'])
  expect(await read(`batch/${items.id}`)).toMatchObject({ counts: { succeeded: 2, failed: 0 } })
  expect(await read(`batch/${calls.id}`)).toMatchObject({ counts: { succeeded: 1, failed: 0 } })
  const said = upstream.requests.map(questionOf) as string[]
  expect(said.toSorted()).toEqual([
    'Chat',
    'Chat',
    'First',
    'Only 1',
    'Only 1',
    'Only 2',
    'Only 2',
    'Then done',
    'Then done',
  ])
})
