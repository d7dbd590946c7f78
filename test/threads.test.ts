import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type GatewayProcess, startProcess } from './process.ts'
import { startUpstream, type Upstream } from './upstream/index.ts'

const adminKey = 'sy_admin_test_0123456789abcdefghijklmnop'
/** As many fresh connections go to all of two threads, but for one time in a billion. */
const enough = 30
/** More than one test has of them, but for the one that is about them. */
const failures = 40

let folder: string
let upstream: Upstream
let gateway: GatewayProcess
let key: string

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  readonly body: any
}

/** A request on a connection of its own, which the system gives to any thread. */
function send(
  method: string,
  at: string,
  body?: unknown,
  by = adminKey,
  signal?: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${by}`, 'content-type': 'application/json' }
    const sent = request(
      gateway.url + at,
      { method, headers, agent: new Agent(), ...(signal && { signal }) },
      async (answer) => {
        const chunks: Buffer[] = []
        for await (const chunk of answer) chunks.push(chunk as Buffer)
        const text = Buffer.concat(chunks).toString()
        const { statusCode: status = 0 } = answer
        const isJson = answer.headers['content-type']?.includes('json')
        resolve({
          status,
          headers: answer.headers as Answer['headers'],
          body: isJson ? JSON.parse(text) : text,
        })
      },
    )
    sent.on('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

const ask = (user = 'somebody', by = key, more: object = {}, signal?: AbortSignal): Promise<Answer> =>
  send(
    'POST',
    '/v1/chat/completions',
    { model: 'gpt-4o-mini', user, messages: [{ role: 'user', content: 'Hello' }], ...more },
    by,
    signal,
  )

const several = (times = enough): Promise<Answer[]> => Promise.all(Array.from({ length: times }, () => ask()))

/** What all threads say in a header, each thing once. */
const said = (answers: readonly Answer[], header: string): (string | undefined)[] => [
  ...new Set(answers.map(({ headers }) => headers[header])),
]

const set = async (name: string, change: object): Promise<void> => {
  const { status, body } = await send('PUT', `/api/proxy/modules/${name}`, change)
  expect([status, body]).toEqual([200, expect.anything()])
}

const signUp = async (name: string): Promise<string> => {
  const { status, body } = await send('POST', '/api/auth/signup', { email: `${name}@example.com`, name })
  expect([status, body]).toEqual([201, expect.anything()])
  return body.api_key
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-threads-'))
  upstream = await startUpstream()
  await cp(path.resolve('test/fixtures/modules/threadtag'), path.join(folder, 'plugins/threadtag'), {
    recursive: true,
  })
  const settings = {
    admin_key: adminKey,
    server: { threads: 2 },
    auth: { admin_rpm: 100_000, failed_keys_per_minute: failures },
    plugin_dirs: ['plugins'],
    providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test' } },
  }
  await writeFile(path.join(folder, 'service.yaml'), stringify(settings))
  gateway = await startProcess({}, folder)
  key = await signUp('ada')
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.end('SIGKILL')
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

test('all threads answer on one port, and one greeting says so', async () => {
  expect(said(await several(), 'x-thread')).toHaveLength(2)
  expect(gateway.output().match(/listens on/g)).toHaveLength(1)
})

test('a module that is changed, bound or switched off is so in all threads before that is answered', async () => {
  await set('threadtag', { config: { label: 'first' } })
  expect(said(await several(), 'x-label')).toEqual(['first'])
  await set('threadtag', { config: { label: 'second' } })
  expect(said(await several(), 'x-label')).toEqual(['second'])
  const bindings = '/api/proxy/modules/threadtag/bindings'
  const bound = await send('POST', bindings, { name: 'more', config: { label: 'bound' }, order: 5 })
  expect(bound.status).toBe(201)
  expect(said(await several(), 'x-label')).toEqual(['bound'])
  const { generation: withBinding } = (await send('GET', '/api/config/history?limit=1')).body.generations[0]
  expect((await send('DELETE', `${bindings}/more`)).status).toBe(200)
  expect(said(await several(), 'x-label')).toEqual(['second'])
  await set('threadtag', { enabled: false })
  expect(said(await several(), 'x-label')).toEqual([undefined])
  expect((await send('POST', '/api/config/rollback', { generation: withBinding })).status).toBe(200)
  expect(said(await several(), 'x-label')).toEqual(['bound'])
  expect((await send('DELETE', `${bindings}/more`)).status).toBe(200)
  expect(said(await several(), 'x-label')).toEqual(['second'])
})

test('a change that is refused changes no thread', async () => {
  await set('threadtag', { config: { label: 'kept' } })
  const { status } = await send('PUT', '/api/proxy/modules/threadtag', { config: { label: 7 } })
  expect(status).toBe(400)
  expect(said(await several(), 'x-label')).toEqual(['kept'])
})

test('a key that is revoked is refused by all threads at once', async () => {
  const user = await signUp('bob')
  const { body } = await send('POST', '/api/auth/me/keys', { name: 'second' }, user)
  const known = await Promise.all(Array.from({ length: enough }, () => ask('bob', body.api_key)))
  expect(new Set(known.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await send('DELETE', `/api/auth/me/keys/${body.id}`, undefined, user)).status).toBe(200)
  const refused = await Promise.all(Array.from({ length: enough }, () => ask('bob', body.api_key)))
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]))
})

test("a user's provider key is used by all threads as soon as it is stored", async () => {
  const user = await signUp('cyd')
  await Promise.all(Array.from({ length: enough }, () => ask('cyd', user)))
  upstream.reset()
  const stored = await send('PUT', '/api/auth/me/providers/openai', { api_key: 'sk-of-cyd' }, user)
  expect([stored.status, stored.body]).toEqual([200, expect.anything()])
  await Promise.all(Array.from({ length: enough }, () => ask('cyd', user)))
  expect(new Set(upstream.requests.map(({ headers }) => headers.authorization))).toEqual(
    new Set(['Bearer sk-of-cyd']),
  )
})

test('a table of routes that is set holds in all threads', async () => {
  const rules = [{ match: 'house-model', provider: 'openai', model: 'gpt-4o' }]
  expect((await send('PUT', '/api/proxy/routes', { routes: rules })).status).toBe(200)
  const answers = await Promise.all(
    Array.from({ length: enough }, () => ask('ada', key, { model: 'house-model' })),
  )
  expect(upstream.requests).toHaveLength(enough)
  const { generation } = (await send('GET', '/api/config/history?limit=1')).body.generations[0]
  const { hash } = (await send('GET', '/api/config')).body
  for (const { headers } of answers) {
    const trace = async () => (await send('GET', `/api/observe/traces/${headers['x-trace-id']}/explain`)).body
    await expect.poll(async () => (await trace()).generation, { interval: 5 }).toBe(generation)
    const shown = async () => (await send('GET', `/api/observe/traces/${headers['x-trace-id']}`)).body
    await expect.poll(async () => (await shown()).config_hash).toBe(hash)
  }
})

test('a guardrail rule that is posted holds in all threads', async () => {
  const rule = { name: 'No greetings', pattern: 'Hello', action: 'redact', replacement: 'Hm' }
  const { status, body } = await send('POST', '/api/guardrails', rule)
  expect(status).toBe(201)
  await several()
  const texts = upstream.requests.map(({ body }) => JSON.stringify(body))
  expect(texts.filter((text) => text.includes('Hello'))).toEqual([])
  expect(texts).toHaveLength(enough)
  const hits = async () => (await send('GET', `/api/guardrails/${body.id}`)).body.hits_24h
  await expect.poll(hits).toBe(enough)
  await send('DELETE', `/api/guardrails/${body.id}`)
})

test('code that is reloaded is taken over by all threads', async () => {
  const file = path.join(folder, 'plugins/threadtag/index.ts')
  await writeFile(file, (await readFile(file, 'utf8')).replace("'one'", "'two'"))
  const { status } = await send('POST', '/api/plugins/threadtag/reload')
  expect(status).toBe(200)
  const answers = await several()
  expect([said(answers, 'x-version'), said(answers, 'x-thread').length]).toEqual([['two'], 2])
})

test('a module in a worker has one for each thread', async () => {
  await set('threadtag', { isolation: 'worker', config: { label: 'apart' } })
  const answers = await several()
  expect([said(answers, 'x-label'), said(answers, 'x-thread').length]).toEqual([['apart'], 2])
  await set('threadtag', { isolation: null })
})

test('numbers are the sums of all threads', async () => {
  const calls = async () => (await send('GET', '/api/status')).body.total_requests
  const before = (await send('GET', '/api/observe/traces?limit=1')).body.total
  await expect.poll(calls).toBe(before)
  const attempts = (await send('GET', '/api/proxy/status')).body.upstream_attempts.total
  await send('POST', '/api/proxy/modules/threadtag/reset')
  expect(said(await several(), 'x-thread')).toHaveLength(2)
  expect((await send('GET', '/api/proxy/modules/threadtag/stats')).body.calls).toBe(enough)
  await expect.poll(calls).toBe(before + enough)
  const tries = async () => (await send('GET', '/api/proxy/status')).body.upstream_attempts.total
  await expect.poll(tries).toBe(attempts + enough)
  const overview = async () => (await send('GET', '/api/status')).body.queues.traces
  expect(await overview()).toMatchObject({ dropped: 0 })
})

test('a trace can be read from whichever thread when its call is over', async () => {
  for (let n = 0; n < enough; n++) {
    const { headers } = await ask()
    const trace = () => send('GET', `/api/observe/traces/${headers['x-trace-id']}`)
    await expect.poll(async () => (await trace()).status, { interval: 5 }).toBe(200)
  }
})

test('a live view shows the calls of all threads', async () => {
  const seen: string[] = []
  const left = new AbortController()
  const response = await fetch(`${gateway.url}/api/observe/live`, {
    headers: { authorization: `Bearer ${adminKey}` },
    signal: left.signal,
  })
  const read = (async () => {
    for await (const bytes of response.body!) seen.push(Buffer.from(bytes).toString())
  })().catch(() => {})
  const ids = (await several()).map(({ headers }) => headers['x-trace-id']!)
  const finished = (): string[] =>
    seen
      .join('')
      .split('event: ')
      .filter((text) => text.startsWith('request.finished'))
  const missing = () => ids.filter((id) => !finished().some((text) => text.includes(id)))
  await expect.poll(missing).toEqual([])
  left.abort()
  await read
})

test('the limit of management requests is one for all threads, and the client is the one who asked', async () => {
  const left: number[] = []
  for (let n = 0; n < 10; n++)
    left.push(Number((await send('GET', '/api/status')).headers['x-ratelimit-remaining']))
  expect(left).toEqual(left.map((_, n) => left[0]! - n))
  expect((await send('GET', '/api/nothing')).status).toBe(404)
  expect((await send('GET', '/health')).status).toBe(200)
})

test('a limit holds over all threads to the call', async () => {
  await set('threadtag', { order: -5 })
  await set('rateshield', { enabled: true, config: { rules: [{ per: 'key', rpm: 60, burst: 10 }] } })
  const started = performance.now()
  const answers = await several(200)
  const flowed = Math.floor((performance.now() - started) / 1000)
  const admitted = answers.filter(({ status }) => status === 200)
  expect(admitted.length).toBeGreaterThanOrEqual(10)
  expect(admitted.length).toBeLessThanOrEqual(10 + flowed)
  expect(upstream.requests).toHaveLength(admitted.length)
  expect(said(answers, 'x-thread')).toHaveLength(2)
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
  await set('rateshield', { config: { rules: [] } })
})

test('of tokens as well, and what a call has used counts for the next one in another thread', async () => {
  const user = await signUp('dan')
  await set('rateshield', { config: { rules: [{ per: 'key', tpm: 200 }] } })
  // A call counts with what it may need until it settles, a moment after its answer: less than it has used, so no count falls.
  const usage = { prompt_tokens: 40, completion_tokens: 40, total_tokens: 80 }
  upstream.reply({ usage, times: enough })
  const once = async (): Promise<number> => (await ask('dan', user, { max_tokens: 30 })).status
  let admitted = 0
  while (admitted < enough && (await once()) === 200) admitted += 1
  expect(admitted).toBeGreaterThan(1)
  expect(admitted).toBeLessThan(enough)
  const refused = await Promise.all(Array.from({ length: enough }, once))
  expect(new Set(refused)).toEqual(new Set([429]))
  await set('rateshield', { config: { rules: [] } })
})

test('what calls of a thread had taken that ended is given back', async () => {
  await set('rateshield', { config: { rules: [{ per: 'project', concurrency: enough }] } })
  upstream.reply({}, { delayMs: 30_000, times: enough })
  const leaving = new AbortController()
  const held = Array.from({ length: enough }, () =>
    ask('ada', key, {}, leaving.signal).catch(() => undefined),
  )
  await expect.poll(() => upstream.requests.length).toBe(enough)
  expect(new Set((await several()).map(({ status }) => status))).toEqual(new Set([429]))
  let isEnded = false
  for (let n = 0; n < enough * 2 && !isEnded; n++)
    isEnded = await ask('ada', key, { seed: 666 }).then(
      () => false,
      () => true,
    )
  await expect.poll(async () => (await ask()).status).toBe(200)
  leaving.abort()
  await Promise.all(held)
  await set('rateshield', { config: { rules: [] } })
  const replaced = () => gateway.output().match(/a thread was replaced/g)?.length
  await expect.poll(replaced).toBe(1)
}, 60_000)

test('a thread that hangs is replaced', async () => {
  const ended = Array.from({ length: enough }, () =>
    ask('ada', key, { seed: 667 }).then(
      () => 'answered',
      () => 'lost',
    ),
  )
  const hung = () => gateway.output()
  await expect.poll(hung, { timeout: 40_000 }).toContain('it gave no sign of life')
  expect(new Set(await Promise.all(ended))).toEqual(new Set(['answered', 'lost']))
  await expect.poll(() => gateway.output().match(/a thread was replaced/g)?.length).toBe(2)
  expect(said(await several(), 'x-thread')).toHaveLength(2)
}, 60_000)

test('a thread that ends is replaced, and the new one knows what was changed', async () => {
  await set('threadtag', { config: { label: 'later' } })
  let broken: unknown
  for (let n = 0; n < enough * 2 && !broken; n++)
    broken = await ask('ada', key, { seed: 666 }).then(() => undefined, String)
  expect(broken).toBeDefined()
  const replaced = () => gateway.output().match(/a thread was replaced/g)?.length
  await expect.poll(replaced).toBe(3)
  const answers = await several()
  expect([said(answers, 'x-thread').length, said(answers, 'x-label')]).toEqual([2, ['later']])
  expect((await send('GET', '/api/status')).body.status).toBe('healthy')
}, 60_000)

test('ends in order: calls that run in any thread may end, and the process says that all went well', async () => {
  upstream.reply({}, { delayMs: 1500, times: enough })
  const running = several()
  await expect.poll(() => upstream.requests.length).toBe(enough)
  const ended = gateway.end('SIGTERM')
  const answers = await running
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
  expect(said(answers, 'x-thread')).toHaveLength(2)
  expect(await ended).toBe(0)
  gateway = await startProcess({}, folder)
  expect((await send('GET', '/api/observe/traces?limit=1')).body.total).toBeGreaterThanOrEqual(enough * 5)
}, 60_000)

test('keys that fail count over all threads, and keys that were made here go on', async () => {
  const statuses = (answers: readonly Answer[]) => answers.map(({ status }) => status)
  const wrong = await Promise.all(Array.from({ length: 3 * failures }, () => ask('eve', 'sy_live_guessed')))
  expect(statuses(wrong).filter((status) => status === 401)).toHaveLength(failures)
  expect(statuses(wrong).filter((status) => status === 429)).toHaveLength(2 * failures)
  const late = await Promise.all(Array.from({ length: enough }, () => ask('eve', 'sy_live_guessed')))
  expect(new Set(statuses(late))).toEqual(new Set([429]))
  expect(new Set(statuses(await several()))).toEqual(new Set([200]))
})
