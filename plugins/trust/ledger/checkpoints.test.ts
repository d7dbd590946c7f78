import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Ledger, type Log, type Sealing, type Signing, type Store } from '#kernel'
import { openLevel } from '../../../storage/level.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { type Receiver, startReceiver } from '../../../test/receiver.ts'
import { Chain } from './chain.ts'
import { CheckpointFile } from './checkpoint-file.ts'
import { Checkpoints } from './checkpoints.ts'

let folder: string
let receiver: Receiver

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-checkpoints-'))
  receiver = await startReceiver()
})

afterAll(async () => {
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
})

const started = (config: object): Promise<TestGateway> =>
  startGateway({ config: { egress: { allow: ['127.0.0.1'] }, modules: { trust: { config } } } })
const append = (gateway: TestGateway) =>
  gateway.api('POST', '/api/trust/ledger', { event_type: 'test.done', action: 'do' })
const make = (gateway: TestGateway) => gateway.api('POST', '/api/trust/ledger/checkpoints')

test('a checkpoint is posted to the address of the settings, and one that did not arrive goes out with the next', async () => {
  const gateway = await started({ checkpoint_url: `${receiver.url}/anchor` })
  try {
    expect((await make(gateway)).status).toBe(409)
    await append(gateway)
    const { body: first } = await make(gateway)
    expect(receiver.on('/anchor').map(({ body }) => JSON.parse(body))).toEqual([first])
    receiver.answer('/anchor', { status: 500 })
    await append(gateway)
    expect((await make(gateway)).status).toBe(201)
    expect(gateway.logged.join()).toContain('could not be posted')
    receiver.answer('/anchor', { status: 204 })
    await append(gateway)
    const { body: third } = await make(gateway)
    expect(JSON.parse(receiver.on('/anchor').at(-1)!.body)).toEqual(third)
  } finally {
    await gateway.close()
  }
})

test('what a checkpoint states is fsynced before it is signed', async () => {
  const engine = await openLevel(path.join(folder, 'fsynced'))
  const chain = new Chain(engine.namespace('trust') as Store, () => undefined as unknown as Sealing)
  let isFsynced = false
  const checkpoints = new Checkpoints({
    segments: chain.segments,
    flush: async () => {
      await chain.flush()
      isFsynced = true
    },
    file: new CheckpointFile(path.join(folder, 'fsynced.jsonl')),
    signing: () =>
      ({ sign: async () => ({ key_id: String(isFsynced), signature: '' }) }) as unknown as Signing,
    post: undefined,
    log: undefined as unknown as Log,
  })
  chain.record({ event_type: 'test.done', actor: { type: 'system', id: 'test' }, action: 'do' })
  expect(await checkpoints.make()).toMatchObject({ seq: 1, key_id: 'true' })
  await chain.close()
  await engine.close()
})

test('the file of checkpoints is where the settings say', async () => {
  const file = path.join(folder, 'elsewhere.jsonl')
  const gateway = await started({ checkpoint_file: file })
  try {
    await append(gateway)
    const { body } = await make(gateway)
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(body)
  } finally {
    await gateway.close()
  }
})

test.each(['{"somebody": "else"}\n', 'no line end'])(
  'a file of somebody else is left as it is: %j',
  async (text) => {
    const file = path.join(folder, 'foreign.jsonl')
    await writeFile(file, text)
    const gateway = await started({ checkpoint_file: file })
    try {
      await append(gateway)
      expect((await make(gateway)).status).toBe(409)
    } finally {
      await gateway.close()
    }
    expect(await readFile(file, 'utf8')).toBe(text)
  },
)

test('a checkpoint that is made while the chain is verified confirms what has come since, and does not break it', async () => {
  const gateway = await started({})
  try {
    const ledger = gateway.kernel.service(Ledger)!
    const entry = { event_type: 'test.done', actor: { type: 'module', id: 'tester' }, action: 'do' } as const
    await Promise.all(Array.from({ length: 500 }, () => ledger.append(entry)))
    const verified = gateway.api('GET', '/api/trust/ledger/verify')
    await append(gateway)
    expect((await make(gateway)).body.seq).toBeGreaterThan(500)
    expect((await verified).body).toMatchObject({ valid: true, reason: null })
  } finally {
    await gateway.close()
  }
})
