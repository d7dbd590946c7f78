import { mkdir, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let receiver: Receiver
let gateway: TestGateway
let client: OpenAI
let folder: string

beforeAll(async () => {
  upstream = await startUpstream()
  receiver = await startReceiver()
  gateway = await startGateway({
    upstream,
    config: { egress: { allow: ['127.0.0.1'] }, secrets: { LLMTAP_TOKEN: 'tap-token' } },
  })
  await gateway.module('retrypilot', { enabled: false })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  folder = path.join(gateway.dataDir, 'files', 'llmtap')
})

beforeEach(() => {
  upstream.reset()
})

afterEach(async () => {
  vi.restoreAllMocks()
  await gateway.module('llmtap', { enabled: false, config: null, when: null })
})

afterAll(async () => {
  await gateway.close()
  await receiver.close()
  await upstream.close()
})

const tap = (config: Record<string, unknown>) => gateway.module('llmtap', { enabled: true, config })
const messages = [{ role: 'user' as const, content: 'Write to ada@example.com, please' }]

async function ask(stream = false, of: OpenAI = client): Promise<string> {
  const { data, response } = await of.chat.completions
    .create({ model: 'gpt-4o', messages, stream })
    .withResponse()
  if (!('choices' in data)) for await (const _ of data);
  return response.headers.get('x-trace-id')!
}

// biome-ignore lint/suspicious/noExplicitAny: records are looked into
type Line = Record<string, any>

async function lines(name: string): Promise<Line[]> {
  const text = await readFile(path.join(folder, `${name}.jsonl`), 'utf8').catch(() => '')
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

const status = async () => (await gateway.api('GET', '/api/modules/llmtap/sinks')).body.sinks

test('a file has one line for each call, plain, streamed, failed and refused, in which the guards are kept', async () => {
  await tap({ sinks: [{ type: 'file', name: 'each' }] })
  const ids = [await ask(), await ask(true)]
  upstream.reply({ status: 500, body: { error: { message: 'no' } } })
  await expect(ask()).rejects.toThrow()
  await expect(client.chat.completions.create({ model: 'gpt-4o', messages: [] })).rejects.toThrow()
  const one = await Promise.all(Array.from({ length: 20 }, (_, n) => ask(n % 2 === 0)))
  await expect.poll(async () => (await lines('each')).length).toBe(23)
  const written = await lines('each')
  expect(new Set(written.map(({ id }) => id)).size).toBe(23)
  expect(written.map(({ id }) => id)).toEqual(expect.arrayContaining([...ids, ...one]))
  const [plain, streamed] = ids.map((id) => written.find((line) => line.id === id)!)
  expect(plain).toMatchObject({
    operation: 'chat',
    provider: 'openai',
    model: 'gpt-4o',
    status: 'ok',
    stream: false,
    usage: { input: expect.any(Number) },
  })
  expect(streamed).toMatchObject({ stream: true, ttft_ms: expect.any(Number) })
  expect(plain!.request).toContain('Write to [REDACTED:email], please')
  expect(streamed!.response).toEqual(expect.any(String))
  expect(written.filter(({ error }) => error).map(({ error }) => error.code)).toEqual([expect.any(String)])
})

test('a record has the fields and as much of the bodies as is wanted', async () => {
  await tap({
    sinks: [{ type: 'file', name: 'fields' }],
    fields: ['id', 'model'],
    bodies: 'full',
    redact: false,
  })
  const id = await ask()
  await expect.poll(() => lines('fields')).toHaveLength(1)
  const [line] = await lines('fields')
  expect(Object.keys(line!)).toEqual(['id', 'model', 'request', 'response'])
  expect(line).toMatchObject({ id, request: { messages }, response: { choices: [expect.anything()] } })
  await tap({ sinks: [{ type: 'file', name: 'none' }], fields: 'all', bodies: 'none' })
  await ask()
  await expect.poll(() => lines('none')).toHaveLength(1)
  expect((await lines('none'))[0]).not.toHaveProperty('request')
})

test('calls that a module in its bindings does not take are left out, and switching it off writes what there is', async () => {
  await tap({ sinks: [{ type: 'file', name: 'mine' }] })
  await gateway.api('PUT', '/api/proxy/modules/llmtap', { when: { models: ['gpt-4o-mini'] } })
  await ask()
  await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
  await gateway.module('llmtap', { enabled: false })
  await expect.poll(() => lines('mine')).toHaveLength(1)
  expect((await lines('mine'))[0]).toMatchObject({ model: 'gpt-4o-mini' })
})

test('an HTTP receiver gets lines with the token', async () => {
  await tap({ sinks: [{ type: 'http', url: `${receiver.url}/lines`, token: true }] })
  const ids = [await ask(), await ask(true)]
  const got = () =>
    receiver.on('/lines').flatMap(({ body }) =>
      body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    )
  await expect.poll(got).toEqual(ids)
  expect(receiver.on('/lines')[0]!.headers).toMatchObject({
    authorization: 'Bearer tap-token',
    'content-type': 'application/x-ndjson',
  })
})

test('with a receiver down calls go on, the oldest records are dropped and counted, and the newest arrive later', async () => {
  receiver.answer('/down', { status: 503 })
  await tap({ sinks: [{ type: 'http', url: `${receiver.url}/down`, form: 'array', batch: 2, queue: 4 }] })
  const ids: string[] = []
  for (let n = 0; n < 12; n += 1) ids.push(await ask())
  await expect.poll(status).toEqual([
    {
      configuration: 'llmtap',
      sink: `http ${receiver.url}/down`,
      written: 0,
      dropped: 8,
      waiting: 4,
      last_error: 'It answered 503.',
    },
  ])
  receiver.answer('/down', { status: 200 })
  const failed = receiver.on('/down').length
  const arrived = () =>
    receiver
      .on('/down')
      .slice(failed)
      .flatMap(({ body }) => JSON.parse(body).map(({ id }: Line) => id))
  await expect.poll(arrived, { timeout: 30_000 }).toEqual(ids.slice(8))
  // The receiver has the records a moment before the module knows that it does.
  await expect
    .poll(async () => (await status())[0])
    .toMatchObject({ written: 4, dropped: 8, waiting: 0, last_error: null })
})

test('a receiver that refuses records for good does not hold up those behind', async () => {
  receiver.answer('/picky', { status: 400 })
  await tap({ sinks: [{ type: 'http', url: `${receiver.url}/picky` }] })
  await ask()
  await expect
    .poll(async () => (await status())[0])
    .toMatchObject({ dropped: 1, last_error: 'It answered 400.' })
  receiver.answer('/picky', { status: 200 })
  await ask()
  await expect
    .poll(async () => (await status())[0])
    .toMatchObject({ written: 1, dropped: 1, last_error: null })
})

test('standard output gets lines', async () => {
  const printed: string[] = []
  const print = (text: string | Uint8Array, done?: unknown): boolean => {
    printed.push(String(text))
    if (typeof done === 'function') done()
    return true
  }
  vi.spyOn(process.stdout, 'write').mockImplementation(print)
  await tap({ sinks: [{ type: 'stdout' }], fields: ['id'], bodies: 'none' })
  const id = await ask()
  await expect.poll(() => printed.join('')).toContain(`{"id":"${id}"}\n`)
})

test('the data of a person counts and erases the lines of that person', async () => {
  await tap({ sinks: [{ type: 'file', name: 'people' }] })
  const { userId, key } = await gateway.signUp('ada')
  await ask(false, client.withOptions({ apiKey: key }))
  await ask()
  await expect.poll(() => lines('people')).toHaveLength(2)
  const { body } = await gateway.api('GET', `/api/auth/users/${userId}/data`)
  expect(JSON.stringify(body)).toContain('llmtap')
  await gateway.api('DELETE', `/api/auth/users/${userId}/data`)
  expect((await lines('people')).map(({ user_id }) => user_id)).not.toContain(userId)
  await ask()
  await expect.poll(() => lines('people')).toHaveLength(2)
})

test('the data of a person is erased from the files of sinks that have another name by now, and of a module that is off', async () => {
  const { userId, key } = await gateway.signUp('eve')
  for (const name of ['before', 'after']) {
    await tap({ sinks: [{ type: 'file', name }] })
    await ask(false, client.withOptions({ apiKey: key }))
    await ask()
    await expect.poll(() => lines(name)).toHaveLength(2)
  }
  const data = async (method: string) => (await gateway.api(method, `/api/auth/users/${userId}/data`)).body
  expect(JSON.stringify(await data('GET'))).toContain('"llmtap":2')
  await data('DELETE')
  for (const name of ['before', 'after'])
    expect((await lines(name)).map(({ user_id }) => user_id)).toEqual([undefined])

  const other = await gateway.signUp('mia')
  await ask(false, client.withOptions({ apiKey: other.key }))
  await expect.poll(() => lines('after')).toHaveLength(2)
  await gateway.module('llmtap', { enabled: false, config: null })
  await gateway.api('DELETE', `/api/auth/users/${other.userId}/data`)
  expect((await lines('after')).map(({ user_id }) => user_id)).toEqual([undefined])
})

test('lines of files say whose they are where they tell of a person, so that an erasure finds them', async () => {
  const { userId, key } = await gateway.signUp('tom')
  const asking = () => ask(false, client.withOptions({ apiKey: key }))
  await tap({ sinks: [{ type: 'file', name: 'texts' }], fields: ['model'], bodies: 'full' })
  await asking()
  await expect.poll(() => lines('texts')).toHaveLength(1)
  await tap({ sinks: [{ type: 'file', name: 'keys' }], fields: ['model', 'key_id'], bodies: 'none' })
  await asking()
  await expect.poll(() => lines('keys')).toHaveLength(1)
  await tap({ sinks: [{ type: 'file', name: 'nobody' }], fields: ['model', 'cost_usd'], bodies: 'none' })
  await asking()
  await expect.poll(() => lines('nobody')).toHaveLength(1)
  expect((await lines('nobody'))[0]).not.toHaveProperty('user_id')
  for (const name of ['texts', 'keys']) expect((await lines(name))[0]).toMatchObject({ user_id: userId })
  await gateway.api('DELETE', `/api/auth/users/${userId}/data`)
  for (const name of ['texts', 'keys']) expect(await lines(name)).toEqual([])
})

test.each([false, true])(
  'a line says how many attempts have no price, where some have none (streamed: %j)',
  async (stream) => {
    const name = stream ? 'priced-streams' : 'priced'
    await tap({ sinks: [{ type: 'file', name }], fields: ['cost_usd', 'unpriced'], bodies: 'none' })
    await ask(stream)
    await expect.poll(() => lines(name)).toHaveLength(1)
    const config = { models: ['gpt-4o', 'openai/unpriced'], mode: 'all' }
    await gateway.module('multicall', { enabled: true, config })
    try {
      await ask(stream)
      await expect.poll(() => lines(name)).toHaveLength(2)
    } finally {
      await gateway.module('multicall', { enabled: false, config: null })
    }
    const [whole, part] = await lines(name)
    expect(whole).toEqual({ cost_usd: expect.any(Number) })
    expect(part).toEqual({ cost_usd: expect.any(Number), unpriced: 1 })
  },
)

test('when the disk refuses lines they wait', async () => {
  const blocked = path.join(folder, 'blocked.jsonl')
  await mkdir(blocked, { recursive: true })
  await tap({ sinks: [{ type: 'file', name: 'blocked' }] })
  await ask()
  await expect
    .poll(async () => (await status())[0])
    .toMatchObject({ waiting: 1, last_error: expect.stringContaining('EISDIR') })
  await rm(blocked, { recursive: true })
  await expect.poll(() => lines('blocked'), { timeout: 20_000 }).toHaveLength(1)
})

test('wrong settings are refused, naming the field', async () => {
  const refused = async (config: object) =>
    (await gateway.api('PUT', '/api/proxy/modules/llmtap', { config })).body.error
  expect(await refused({ sinks: [{ type: 'file', name: '../etc' }] })).toMatchObject({
    code: 'bad_request',
  })
  expect((await refused({ sinks: [{ type: 'file', name: '../etc' }] })).param).toContain('sinks.0.name')
  expect((await refused({ sinks: [{ type: 'stdout' }, { type: 'stdout' }] })).param).toContain('sinks')
  expect((await refused({ sinks: [{ type: 'http', url: 'ftp://x' }] })).param).toContain('sinks.0.url')
})
