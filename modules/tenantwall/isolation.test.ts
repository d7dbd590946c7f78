import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { ask } from '../../test/ask.ts'
import { type Operation, operationsOf, sampleOf } from '../../test/documented-routes.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Stands in everything that Ada says. */
const marker = 'zebra-quartz-4711'
const model = 'gpt-4o-mini'

interface User {
  readonly userId: string
  readonly key: string
}

let upstream: Upstream
let gateway: TestGateway
let operations: readonly Operation[]
let ada: User
let bob: User

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  await gateway.kernel.registry.change('replay', { config: { reads_per_minute: 0 } })
  await everyModule()
  await gateway.module('cachelayer', { enabled: true, config: { ttl_s: 600, share: 'everyone' } })
  ada = await gateway.signUp('ada')
  bob = await gateway.signUp('bob')
  for (const [name, { userId }] of Object.entries({ acme: ada, umbrella: bob })) {
    const made = await gateway.api('POST', '/api/modules/tenantwall/tenants', { name, users: [userId] })
    expect(made.status).toBe(201)
  }
  operations = operationsOf((await gateway.api('GET', '/api/openapi.json')).body)
})

/** Switches on what can be: only then a module's routes are in the document, and what it keeps of calls may show. */
async function everyModule(): Promise<void> {
  const { body } = await gateway.api('GET', '/api/proxy/modules?limit=500')
  for (const { name } of body.modules)
    await gateway.api('PUT', `/api/proxy/modules/${name}`, { enabled: true })
  expect((await gateway.api('GET', '/api/proxy/modules/tenantwall')).body).toMatchObject({ state: 'active' })
}

const callsOf = ({ requests }: Upstream) => requests.filter(({ method }) => method === 'POST')

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const clientOf = ({ key }: User) => new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })

const say = ({ key }: User, text: string, more: object = {}, headers: Record<string, string> = {}) =>
  ask(gateway, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: { model, messages: [{ role: 'user', content: text }], ...more },
  })

interface Seen {
  readonly status: number
  readonly text: string
}

/** What differs from one answer to the next, whoever asks: a forecast of the month changes as it passes. */
const passing = /"(request_id|as_of|age_seconds|generated_at|forecast_month_usd)":("[^"]*"|[^,}]*)/g

/** What a user gets from a route; of a stream only that there is one. */
async function look({ key }: User, method: string, path: string, body?: unknown): Promise<Seen> {
  const response = await fetch(gateway.url + path, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const isStream = response.headers.get('content-type')?.includes('event-stream')
  if (isStream) await response.body?.cancel()
  const text = isStream ? 'a stream' : await response.text()
  return { status: response.status, text: text.replaceAll(passing, '') }
}

/** What a user sees of everything that can be read without naming a thing. */
async function readAll(user: User): Promise<Map<string, Seen>> {
  const seen = new Map<string, Seen>()
  for (const { method, path, params } of operations)
    if (method === 'GET' && params.length === 0) seen.set(path, await look(user, 'GET', path))
  return seen
}

const idForm = /\b[a-z]{2,6}_[0-9A-Za-z]{16,}\b/g

/** Ids of all kinds of what belongs to Ada, one of each kind. */
async function idsOfAda(): Promise<readonly string[]> {
  const client = clientOf(ada)
  const said = await client.chat.completions.create({ model, messages: [{ role: 'user', content: marker }] })
  const stored = await client.responses.create({ model, input: marker, store: true })
  const texts = [ada.userId, said.id, stored.id]
  await look(ada, 'PUT', '/api/auth/me/providers/groq', { api_key: `gsk_${marker}` })
  await look(ada, 'POST', '/api/auth/me/keys', { name: marker })
  for (const { method, path, params, body } of operations) {
    if (method !== 'POST' || params.length > 0 || path.startsWith('/v1') || path === '/api/auth/signup')
      continue
    const made = await look(ada, method, path, sampleOf(body))
    if (made.status < 300) texts.push(made.text)
  }
  await vi.waitFor(async () => expect((await look(ada, 'GET', '/api/observe/traces')).text).toContain('tr_'))
  for (const { status, text } of (await readAll(ada)).values()) if (status === 200) texts.push(text)
  const tenants = await gateway.api('GET', '/api/modules/tenantwall/tenants')
  texts.push(tenants.body.tenants.find(({ name }: { name: string }) => name === 'acme').id)
  const ids = texts.flatMap((text) => [...text.matchAll(idForm)].map(([id]) => id))
  const kinds = new Map(ids.map((id) => [id.split('_')[0]!, id]))
  return [...kinds.values()]
}

/** An id of the same form that nothing has. */
const ghostOf = (id: string): string =>
  `${id.slice(0, -8)}${[...id.slice(-8)].toReversed().join('')}0`.slice(0, id.length)

/** It asks every route for every kind of id, several times. */
const patient = { timeout: 240_000 }

test('the id of a thing of another tenant is to every route an id that nothing has', patient, async () => {
  const ids = await idsOfAda()
  expect(ids.map((id) => id.split('_')[0])).toEqual(
    expect.arrayContaining(['tr', 'key', 'usr', 'resp', 'tnt']),
  )
  const before = await readAll(ada)
  const began = hourNow()
  const own: string[] = []
  for (const { method, path, params, query, body } of operations) {
    const places = [
      ...(params.length > 0 ? [(id: string) => path.replaceAll(/\{[^}]*\}/g, id)] : []),
      ...(method === 'GET' && params.length === 0
        ? query.map((name) => (id: string) => `${path}?${name}=${id}`)
        : []),
    ]
    for (const placed of places) {
      const sent = method === 'GET' || method === 'DELETE' ? undefined : sampleOf(body)
      const seenBy = async (user: User, id: string): Promise<Seen> => {
        const { status, text } = await look(user, method, placed(id), sent)
        return { status, text: text.replaceAll(id, 'the id') }
      }
      const isForAdmins = (await seenBy(bob, 'x_1')).text.includes('needs an admin key')
      for (const id of isForAdmins ? ids.slice(0, 1) : ids) {
        const real = await seenBy(bob, id)
        expect([method, placed(id), real]).toEqual([method, placed(id), await seenBy(bob, ghostOf(id))])
        expect(real.text).not.toContain(marker)
        if (method === 'GET' && (await seenBy(ada, id)).status === 200) own.push(path)
      }
    }
  }
  expect(own).toEqual(expect.arrayContaining(['/api/observe/traces/{id}', '/v1/responses/{id}']))
  const after = await readAll(ada)
  for (const [path, seen] of before)
    if (!isOfTime(path, began)) expect([path, after.get(path)]).toEqual([path, seen])
})

const hourNow = (): number => Math.floor(Date.now() / 3_600_000)

/**
 * Reads that change with time alone: keys say when they were used, the gateway signs its first checkpoint, and the figures of a day
 * begin with another hour.
 */
const isOfTime = (path: string, began = hourNow()): boolean =>
  ['/api/auth/me/keys', '/api/auth/sessions', '/api/signing-keys'].includes(path) ||
  (path === '/api/observe/timeseries' && hourNow() !== began)

test('nothing that a user can read changes with what another tenant does', async () => {
  await say(bob, 'a call of my own')
  await vi.waitFor(async () => expect((await look(bob, 'GET', '/api/observe/traces')).text).toContain('tr_'))
  const before = await readAll(bob)
  for (let n = 0; n < 3; n += 1) await say(ada, `${marker} ${n}`)
  await say(ada, marker, { stream: true })
  upstream.reply({ status: 500, times: 3 })
  await say(ada, `${marker} fails`)
  await say(ada, `${marker} project`, {}, { 'x-project': 'alpha' })
  const { body } = await gateway.api('GET', '/api/observe/traces?project=alpha')
  expect(body.total).toBeLessThanOrEqual(1)
  await vi.waitFor(async () =>
    expect((await look(ada, 'GET', '/api/observe/traces?project=alpha')).text).toContain('"total":1'),
  )
  const after = await readAll(bob)
  for (const [path, seen] of before)
    if (!isOfTime(path)) expect([path, after.get(path)]).toEqual([path, seen])
  for (const { text } of after.values()) expect(text).not.toContain(marker)
})

test('the live view shows the calls of one’s own, and not that there are others', async () => {
  const leaving = new AbortController()
  const response = await fetch(`${gateway.url}/api/observe/live`, {
    headers: { authorization: `Bearer ${bob.key}` },
    signal: leaving.signal,
  })
  await say(ada, `${marker} live`)
  const { headers } = await say(bob, 'the end')
  let text = ''
  for await (const bytes of response.body!) {
    text += Buffer.from(bytes).toString()
    if (text.includes('request.finished')) break
  }
  leaving.abort()
  const told = new Set([...text.matchAll(/"id":"(tr_\w+)"/g)].map(([, id]) => id))
  expect([...told]).toEqual([headers.get('x-trace-id')])
  expect(text).not.toContain(ada.userId)
})

test('equal prompts of two tenants are two misses, and the second answer looks like a first one', async () => {
  const asked = async (user: User, more: object = {}) => {
    const before = callsOf(upstream).length
    const { status, headers, body } = await say(user, 'the same question', more)
    const { id: _, created: __, ...said } = body
    const shown = Object.fromEntries(
      [...headers].filter(
        ([name]) => !/^(date|x-request-id|x-trace-id|traceresponse)$|latency|duration|-ms$/.test(name),
      ),
    )
    return { status, shown, said, calls: callsOf(upstream).length - before }
  }
  for (const more of [{ seed: 1 }, { seed: 2, stream: true }]) {
    const first = await asked(ada, more)
    expect(first.calls).toBe(1)
    expect(await asked(bob, more)).toEqual(first)
    expect((await asked(ada, more)).calls).toBe(0)
    expect((await asked(bob, more)).calls).toBe(0)
  }
})

test.each(['project', 'model', 'global'] as const)(
  'a limit per %s is a limit of each tenant',
  async (per) => {
    await gateway.module('rateshield', { enabled: true, config: { rules: [{ per, rpm: 2, burst: 2 }] } })
    const left = async (user: User) => {
      const { status, headers } = await say(user, `limit ${per}`)
      return [status, headers.get('x-ratelimit-remaining')]
    }
    expect([await left(ada), await left(ada)]).toEqual([
      [200, '1'],
      [200, '0'],
    ])
    expect((await left(ada))[0]).toBe(429)
    expect(await left(bob)).toEqual([200, '1'])
    await gateway.module('rateshield', { config: { rules: null } })
  },
)
