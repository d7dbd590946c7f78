import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { placesOf } from '../../test/raw-store.ts'
import { traceOf } from '../../test/trace.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const always = Number.POSITIVE_INFINITY
const model = 'gpt-4o-mini'

let folder: string
let upstream: Upstream
let gateway: TestGateway

/** Everything that keeps something of a call. */
const keepers = {
  agentguard: { derive: 'all' },
  anomalyradar: {},
  billsync: {},
  cachelayer: {},
  compliancelog: {},
  driftwatch: {},
  feedbackloop: {},
  mirrortest: { target: 'openai/gpt-4o', percent: 100 },
  streamsnap: {},
  trainexport: { users: 'all', min_score: 0 },
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-sealed-'))
  upstream = await startUpstream()
  gateway = await startGateway({
    upstream,
    dataDir: path.join(folder, 'data'),
    config: {
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
  const alert = { name: 'Failing', metric: 'error_rate', condition: 'gt', threshold: 0.01 }
  expect((await gateway.api('POST', '/api/observe/alerts', alert)).status).toBe(201)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const tool = {
  type: 'function',
  function: { name: 'look', parameters: { type: 'object', properties: { for: { type: 'string' } } } },
}

/** Calls on all wires, and what is made of them; every text that a client sends or gets begins with the stem. */
async function leave(stem: string): Promise<{ key: string }> {
  const { key, userId } = await gateway.signUp(stem.replace('qx', 'person'))
  const marked = (place: string): string => `${stem}-${place}`
  upstream.reset()
  upstream.reply({ text: marked('refused') }, { status: 400, error: { message: `No: ${marked('error')}` } })
  upstream.reply(
    { text: marked('tool-prompt') },
    { toolCalls: [{ name: 'look', arguments: { for: marked('argument') } }], times: always },
  )
  upstream.reply({ content: `It is ${marked('answer')}.`, times: always })
  const headers = { authorization: `Bearer ${key}`, 'x-session-id': marked('session') }
  const call = async (at: string, body: object) => {
    const response = await fetch(gateway.url + at, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...body }),
    })
    await response.text()
    return { status: response.status, trace: await traceOf(gateway, response) }
  }
  const says = (content: string) => [{ role: 'user', content: `${content} ${marked('prompt')}` }]
  const made: string[] = []
  for (const stream of [false, true]) {
    const chat = { messages: says(`Once, ${stream}`), user: marked('user'), stream }
    made.push(
      (await call('/v1/chat/completions', { ...chat, metadata: { session_id: marked('metadata') } })).trace
        .id,
    )
    await call('/v1/chat/completions', { messages: says(marked('tool-prompt')), tools: [tool], stream })
    await call('/v1/messages', {
      messages: says('As a message'),
      max_tokens: 50,
      metadata: { user_id: marked('metadata') },
      stream,
    })
    await call('/v1/responses', { input: `As a response ${marked('prompt')}`, store: true, stream })
  }
  const { status } = await call('/v1/chat/completions', { messages: says(marked('refused')) })
  expect(status).toBe(400)
  const told = {
    model,
    request: { said: marked('prompt') },
    usage: { input: 1, output: 1 },
    session_id: marked('session'),
  }
  expect((await gateway.api('POST', '/api/observe/traces', told, key)).status).toBe(201)
  for (const trace_id of made) {
    const feedback = {
      trace_id,
      rating: 5,
      scale: 'stars',
      comment: marked('comment'),
      correction: marked('correction'),
    }
    expect((await gateway.api('POST', '/api/trust/feedback', feedback, key)).status).toBe(201)
    const replay = await gateway.api('POST', '/api/trust/replays', { original_trace_id: trace_id }, key)
    const replayed = async () =>
      (await gateway.api('GET', `/api/trust/replays/${replay.body.id}`)).body.status
    await expect.poll(replayed, { timeout: 20_000 }).toBe('done')
  }
  const sets = '/api/modules/trainexport/sets'
  const { body: set } = await gateway.api('POST', sets, { user_id: userId })
  const built = async () => (await gateway.api('GET', `${sets}/${set.id}`)).body
  await expect.poll(async () => (await built()).status, { timeout: 20_000 }).toBe('ready')
  expect((await built()).counts.train).toBeGreaterThan(1)
  const day = (n: number) => new Date(Date.now() + n * 86_400_000).toISOString()
  const pack = await gateway.api('POST', '/api/trust/evidence', {
    name: 'All',
    date_from: day(-1),
    date_to: day(1),
  })
  const packed = async () => (await gateway.api('GET', `/api/trust/evidence/${pack.body.id}`)).body.status
  await expect.poll(packed, { timeout: 20_000 }).toBe('ready')
  expect((await gateway.api('GET', '/api/insights')).status).toBe(200)
  return { key }
}

/** Parts of the store that hold it in the clear without the module, so that the test can fail for each of them. */
const holders = [
  'agentguard/sessions',
  'cachelayer/answers',
  'observe/traces',
  'trainexport/bodies/files/parts',
  'trust/feedback',
]

test('what clients send and get is nowhere in the data folder, and is shown as it was', {
  timeout: 120_000,
}, async () => {
  const [open, sealed] = ['qxopen', 'qxseal']
  await leave(open)
  await gateway.module('encryptvault', { enabled: true })
  const { key } = await leave(sealed)
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
  const { body } = await gateway.api('GET', '/api/modules/agentguard/sessions', undefined, key)
  expect(body.sessions.map(({ session }: { session: string }) => session)).toContain(`${sealed}-session`)

  await gateway.close()
  const inClear = await placesOf(path.join(folder, 'data'), `${open}-`)
  expect(inClear).toEqual(expect.arrayContaining(holders.map((part) => `plugins/${part}`)))
  expect(await placesOf(path.join(folder, 'data'), `${sealed}-`)).toEqual([])
})
