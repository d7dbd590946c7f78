import { glob, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { placesOf } from '../../test/raw-store.ts'
import { type Receiver, startReceiver } from '../../test/receiver.ts'
import { traceOf } from '../../test/trace.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const always = Number.POSITIVE_INFINITY
const model = 'gpt-4o-mini'

let folder: string
let upstream: Upstream
let receiver: Receiver
let gateway: TestGateway

/** What keeps something of a call, and is not on by itself. */
const keepers = {
  agentguard: { derive: 'all' },
  anomalyradar: {},
  billsync: {},
  cachelayer: {},
  chatmem: {},
  compliancelog: {},
  driftwatch: {},
  embedcache: {},
  feedbackloop: {},
  mirrortest: { target: 'openai/gpt-4o', percent: 100 },
  playback: { mode: 'record' },
  semanticcache: {},
  streamsnap: {},
  trainexport: { users: 'all', min_score: 0 },
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-sealed-'))
  upstream = await startUpstream()
  receiver = await startReceiver()
  gateway = await startGateway({
    upstream,
    dataDir: path.join(folder, 'data'),
    config: {
      egress: { allow: ['127.0.0.1'] },
      modules: {
        ...Object.fromEntries(
          Object.entries(keepers).map(([name, config]) => [name, { enabled: true, config }]),
        ),
        alertpulse: { config: { check_interval_s: 1 } },
      },
    },
  })
  const rule = { name: 'Watched words', pattern: 'qx[a-z]+-prompt', action: 'warn', type: 'custom' }
  expect((await gateway.api('POST', '/api/guardrails', rule)).status).toBe(201)
  const hook = { name: 'All', url: `${receiver.url}/all`, events: ['*'] }
  expect((await gateway.api('POST', '/api/webhooks', hook)).status).toBe(201)
  const alert = { name: 'Failing', metric: 'error_rate', condition: 'gt', threshold: 0.01 }
  expect((await gateway.api('POST', '/api/observe/alerts', alert)).status).toBe(201)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await receiver.close()
  await rm(folder, { recursive: true, force: true })
})

const tool = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object', properties: { for: { type: 'string' } } } },
}

type Marked = (place: string) => string

/** Has the provider answer and fail with marked texts. */
function prepare(marked: Marked): void {
  upstream.reset()
  upstream.reply({ text: marked('refused') }, { status: 400, error: { message: `No: ${marked('error')}` } })
  const toolCalls = [{ name: 'look', arguments: { for: marked('argument') } }]
  upstream.reply({ text: marked('tool-prompt') }, { toolCalls, times: always })
  // So a replay has another answer than the call.
  const json = (n: number) => JSON.stringify({ [marked('field')]: n })
  upstream.reply({ text: marked('json-prompt') }, { content: json(1) })
  upstream.reply({ text: marked('json-prompt') }, { content: json(2), times: always })
  upstream.reply({ content: `It is ${marked('answer')}.`, times: always })
}

/** Makes calls on all wires, and returns the traces of chats. */
async function converse(key: string, marked: Marked): Promise<string[]> {
  const call = async (at: string, body: object, status = 200): Promise<string> => {
    const response = await fetch(gateway.url + at, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-session-id': marked('session'),
        'x-request-id': marked('request'),
      },
      body: JSON.stringify({ model, ...body }),
    })
    await response.text()
    expect([at, response.status]).toEqual([at, status])
    return (await traceOf(gateway, response)).id
  }
  const says = (content: string) => [{ role: 'user', content: `${content} ${marked('prompt')}` }]
  const [chat, session, id] = ['/v1/chat/completions', marked('metadata'), marked('user')]
  const made: string[] = []
  for (const stream of [false, true]) {
    const messages = says(`Once, ${stream}`)
    made.push(await call(chat, { messages, user: id, metadata: { session_id: session }, stream }))
    await call(chat, { messages: says(marked('tool-prompt')), tools: [tool], stream })
    const metadata = { user_id: marked('metadata') }
    await call('/v1/messages', { messages: says('As a message'), max_tokens: 50, metadata, stream })
    const way = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
    const contents = [{ role: 'user', parts: [{ text: `As content ${marked('prompt')}` }] }]
    await call(`/v1beta/models/${model}:${way}`, { model: undefined, contents })
    await call('/v1/responses', { input: `As a response ${marked('prompt')}`, store: true, stream })
  }
  made.push(await call(chat, { messages: says(marked('json-prompt')) }))
  await call(chat, { messages: says(marked('refused')) }, 400)
  await call('/v1/embeddings', { model: 'text-embedding-3-small', input: marked('prompt') })
  return made
}

/** Tells of calls, rates and replays them, and has training sets, evidence and insights made of them. */
async function make(of: { key: string; userId: string; traces: readonly string[] }, marked: Marked) {
  const post = async (at: string, body: object, key?: string): Promise<{ id: string }> => {
    const answer = await gateway.api('POST', at, body, key)
    expect([at, answer.status]).toEqual([at, expect.toSatisfy((status: number) => status < 300)])
    return answer.body
  }
  const becomes = async (at: string, status: string) => {
    const found = async () => (await gateway.api('GET', at)).body
    await expect.poll(async () => (await found()).status, { timeout: 20_000 }).toBe(status)
    return found()
  }
  const usage = { input: 1, output: 1 }
  const told = { model, request: { said: marked('prompt') }, usage, session_id: marked('session') }
  await post('/api/observe/traces', told, of.key)
  for (const trace_id of of.traces) {
    const said = { comment: marked('comment'), correction: marked('correction'), end_user: marked('reader') }
    await post('/api/trust/feedback', { trace_id, rating: 5, scale: 'stars', ...said }, of.key)
    const replay = await post('/api/trust/replays', { original_trace_id: trace_id }, of.key)
    await becomes(`/api/trust/replays/${replay.id}`, 'done')
  }
  const sets = '/api/modules/trainexport/sets'
  const set = await becomes(`${sets}/${(await post(sets, { user_id: of.userId })).id}`, 'ready')
  expect(set.counts.train).toBeGreaterThan(1)
  const [date_from, date_to] = [-1, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
  const pack = await post('/api/trust/evidence', { name: 'All', date_from, date_to })
  await becomes(`/api/trust/evidence/${pack.id}`, 'ready')
  expect((await gateway.api('GET', '/api/insights')).status).toBe(200)
}

/** A user that leaves texts wherever texts are kept; each begins with the stem. */
async function leave(stem: string): Promise<string> {
  const { key, userId } = await gateway.signUp(stem.replace('qx', 'person'))
  const marked: Marked = (place) => `${stem}-${place}`
  prepare(marked)
  await make({ key, userId, traces: await converse(key, marked) }, marked)
  return key
}

/** Parts of the store that hold it in the clear without the module, so that the test can fail for each of them. */
const holders = [
  'agentguard/sessions',
  'cachelayer/answers',
  'chatmem/sessions',
  'chatmem/turns',
  'observe/traces',
  'semanticcache/answers',
  'trainexport/bodies/files/parts',
  'trust/feedback',
  'trust/replays',
]

test('what clients send and get is nowhere in the data folder, and is shown as it was', {
  timeout: 120_000,
}, async () => {
  const [open, sealed] = ['qxopen', 'qxseal']
  await leave(open)
  await gateway.module('encryptvault', { enabled: true })
  const key = await leave(sealed)
  for (const stem of [open, sealed]) {
    const { body } = await gateway.api('GET', `/api/observe/traces?session_id=${stem}-session&limit=100`)
    expect(body.traces.length).toBeGreaterThan(8)
    expect(new Set(body.traces.map(({ session_id }: { session_id: string }) => session_id))).toEqual(
      new Set([`${stem}-session`]),
    )
    const errors = body.traces.flatMap(
      ({ error }: { error: { message: string } | null }) => error?.message ?? [],
    )
    expect(errors.join()).toContain(`${stem}-error`)
  }
  const own = await gateway.api('GET', '/api/trust/feedback', undefined, key)
  expect(own.body.feedback[0]).toMatchObject({
    comment: `${sealed}-comment`,
    correction: `${sealed}-correction`,
  })
  const replays = await gateway.api('GET', '/api/trust/replays', undefined, key)
  expect(JSON.stringify(replays.body)).toContain(`${sealed}-field`)
  const { body } = await gateway.api('GET', '/api/modules/agentguard/sessions', undefined, key)
  expect(body.sessions.map(({ session }: { session: string }) => session)).toContain(`${sealed}-session`)

  for (const list of ['observe/alerts/history', 'guardrails/events', 'jobs'])
    await expect
      .poll(async () => (await gateway.api('GET', `/api/${list}`)).body.total, { timeout: 20_000 })
      .toBeGreaterThan(0)
  expect(receiver.on('/all').length).toBeGreaterThan(0)
  await gateway.close()
  const inClear = await placesOf(path.join(folder, 'data'), `${open}-`)
  expect(inClear).toEqual(expect.arrayContaining(holders.map((part) => `plugins/${part}`)))
  expect(await placesOf(path.join(folder, 'data'), `${sealed}-`)).toEqual([])
})

test('each module that stores something takes part, or stores nothing of a call', async () => {
  const manifests = await Array.fromAsync(glob('modules/*/manifest.json'), async (file) =>
    JSON.parse(await readFile(file, 'utf8')),
  )
  const others = manifests.filter(
    ({ id, permissions = [] }) => permissions.includes('store') && !(id in keepers),
  )
  expect(others.map(({ id }) => id).sort()).toEqual([
    'approvalgate',
    'batchqueue',
    'canarydeploy',
    'contextpack',
    'keyscope',
    'llmtap',
    'retentionwipe',
    'tenantwall',
  ])
})
