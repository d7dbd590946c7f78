import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { Collection } from '#kernel'
import { openLevel } from '../../storage/level.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const secret = 'sk-own-5d41402abc4b2a76b9719d911017c592'

let upstream: Upstream
let dataDir: string
let gateway: TestGateway | undefined

const start = async (passphrase?: string, config: Record<string, unknown> = {}) => {
  const env: Record<string, string> = passphrase === undefined ? {} : { SERVICE_ENCRYPTION_KEY: passphrase }
  gateway = await startGateway({ upstream, dataDir, env, config })
  return gateway
}

const stop = async () => {
  await gateway?.close()
  gateway = undefined
}

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'switchyard-secrecy-'))
  upstream = await startUpstream({ apiKey: ['sk-test', secret] })
})

afterEach(async () => {
  await stop()
  await upstream.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** Files of the data folder that have this text in their bytes. */
async function filesWith(text: string): Promise<string[]> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true })
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
  const found = await Promise.all(files.map(async (file) => (await readFile(file)).includes(text)))
  return files.filter((_, i) => found[i])
}

/** Calls a model with a user's key. */
async function chat({ url }: TestGateway, key: string) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`
}

test('a provider key is in no answer, no log line and no file, and neither are keys of the gateway', async () => {
  const { api, signUp, logged, adminKey } = await start()
  const { userId, key } = await signUp('secretive')
  const answers: string[] = []
  const ask = async (...[method, at, body, caller]: Parameters<typeof api>) =>
    answers.push(JSON.stringify((await api(method, at, body, caller)).body))

  await ask('PUT', '/api/auth/me/providers/openai', { api_key: secret }, key)
  answers.push(await chat(gateway!, key))
  expect(upstream.last().key).toBe(secret)
  upstream.reply({ status: 401, error: { message: `Incorrect API key provided: ${secret}` } })
  answers.push(await chat(gateway!, key))
  upstream.reply({ status: 400, error: { message: 'No.' } })
  answers.push(await chat(gateway!, key))
  await ask('POST', '/api/auth/me/providers/openai/check', undefined, key)
  await ask('PUT', '/api/auth/me/providers/nobody', { api_key: secret }, key)
  await ask('PUT', '/api/auth/me/providers/openai', { api_key: `${secret} ` }, key)
  for (const at of ['me', 'me/keys', 'me/providers', 'me/usage'])
    await ask('GET', `/api/auth/${at}`, undefined, key)
  for (const at of ['', '/keys', '/providers']) await ask('GET', `/api/auth/users/${userId}${at}`)
  for (const at of [
    'auth/users',
    'status',
    'apps',
    'products',
    'license',
    'proxy/providers',
    'openapi.json',
  ]) {
    await ask('GET', `/api/${at}`)
  }

  const secrets = [secret, key, adminKey]
  const telling = (texts: string[]) => texts.filter((text) => secrets.some((one) => text.includes(one)))
  expect(telling(answers)).toEqual([])
  expect(telling(logged)).toEqual([])
  await stop()
  expect(await filesWith('secretive@example.com')).not.toEqual([])
  for (const text of secrets) expect(await filesWith(text)).toEqual([])
})

test('equal keys are stored as different texts, of the documented form', async () => {
  const { signUp, api } = await start()
  for (const name of ['one', 'two']) {
    const { key } = await signUp(name)
    await api('PUT', '/api/auth/me/providers/openai', { api_key: secret }, key)
  }
  await stop()
  const stored = (await providerKeyRows()).map((row) => row.secret)
  expect(new Set(stored).size).toBe(2)
  for (const text of stored) {
    expect(text).toMatch(/^enc:/)
    expect(Buffer.from(text.slice(4), 'base64')).toHaveLength(12 + secret.length + 16)
  }
})

test('a provider key found in plain text at the start is encrypted, leaves the disk, and works', async () => {
  const { userId, key } = await (await start()).signUp('earlier')
  await stop()
  const at = new Date().toISOString()
  await withProviderKeys((rows) =>
    rows.put(`${userId}/openai`, {
      user_id: userId,
      provider: 'openai',
      secret,
      status: 'configured',
      created_at: at,
      updated_at: at,
    }),
  )
  expect(await filesWith(secret)).not.toEqual([])
  const { logged } = await start()
  expect(await filesWith(secret)).toEqual([])
  expect(logged.filter((line) => line.includes('was encrypted'))).toHaveLength(1)
  expect(logged.join()).not.toContain(secret)
  await chat(gateway!, key)
  expect(upstream.last().key).toBe(secret)
  await stop()
  expect((await providerKeyRows())[0]!.secret).toMatch(/^enc:/)
})

test('a provider key that cannot be read any more stops the calls of its user alone, until it is stored anew', async () => {
  const first = await start('the first of the passphrases')
  const mine = await first.signUp('mine')
  const theirs = await first.signUp('theirs')
  await first.api('PUT', '/api/auth/me/providers/openai', { api_key: secret }, mine.key)
  await stop()
  const { api, logged } = await start('another of the passphrases')
  const messages = [{ role: 'user', content: 'Hello' }]
  const calls: [string, object][] = [
    ['/v1/chat/completions', { model: 'gpt-4o-mini', messages }],
    ['/v1/chat/completions', { model: 'gpt-4o-mini', messages, stream: true }],
    ['/v1/messages', { model: 'gpt-4o-mini', messages, max_tokens: 5 }],
    ['/v1/messages/count_tokens', { model: 'gpt-4o-mini', messages }],
    ['/v1/responses', { model: 'gpt-4o-mini', input: 'Hello' }],
    ['/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hello' }],
  ]
  for (const [at, body] of [...calls, ...calls]) {
    const answer = await api('POST', at, body, mine.key)
    expect([at, answer.status]).toEqual([at, 502])
    expect(answer.body.error.message).toContain('PUT /api/auth/me/providers/openai')
  }
  expect(upstream.requests).toEqual([])
  expect((await chat(gateway!, theirs.key)).slice(0, 3)).toBe('200')
  expect(upstream.last().key).toBe('sk-test')
  const path = '/api/auth/me/providers'
  const listed = (await api('GET', path, undefined, mine.key)).body.providers
  expect(listed).toMatchObject([{ provider: 'openai', status: 'invalid' }])
  const check = await api('POST', `${path}/openai/check`, undefined, mine.key)
  expect(check).toMatchObject({ status: 200, body: { status: 'invalid' } })
  expect(check.body.message).toContain('cannot be read')
  expect(logged.filter((line) => line.includes('tripped'))).toEqual([])
  const put = await api('PUT', `${path}/openai`, { api_key: secret }, mine.key)
  expect(put.body.status).toBe('unverified')
  expect((await chat(gateway!, mine.key)).slice(0, 3)).toBe('200')
  expect(upstream.last().key).toBe(secret)
})

test('a provider key that cannot be read any more stops no call that modules send elsewhere', async () => {
  const like = { base_url: upstream.baseUrl(), api_key: 'sk-test' }
  const providers = {
    openai: { ...like, region: 'us' },
    brussels: { ...like, type: 'openai', models: ['gpt-4o-mini'], region: 'eu' },
  }
  const first = await start('the first of the passphrases', { providers })
  const { key } = await first.signUp('mine')
  await first.api('PUT', '/api/auth/me/providers/openai', { api_key: secret }, key)
  await stop()
  const { module } = await start('another of the passphrases', { providers })
  await module('regionroute', { enabled: true })
  expect(await chat(gateway!, key)).toMatch(/^502 .*cannot be read/)
  await module('regionroute', { config: { default: ['eu'] } })
  expect((await chat(gateway!, key)).slice(0, 3)).toBe('200')
  expect(upstream.last().key).toBe('sk-test')
})

test('a provider of which an admin said what cannot be read any more refuses its calls, until it is said anew', async () => {
  const routes = [{ match: 'house', provider: 'mycorp' }]
  const brussels = {
    type: 'openai',
    base_url: upstream.baseUrl(),
    api_key: 'sk-test',
    models: ['gpt-4o-mini'],
  }
  const config = { routes, providers: { openai: brussels, brussels } }
  const first = await start('the first of the passphrases', config)
  const { key } = await first.signUp('mine')
  // The catalogue has computer-use-preview at openai, which goes there only while no provider names it.
  const models = ['computer-use-preview', 'corp-*']
  const said = { type: 'openai', base_url: upstream.baseUrl(), api_key: secret, models }
  await first.api('POST', '/api/proxy/providers', { name: 'mycorp', ...said })
  await first.api('PUT', '/api/proxy/providers/openai', { api_key: secret })
  await stop()

  const { api, logged, module, adminKey } = await start('another of the passphrases', config)
  await api('PUT', '/api/auth/me/providers/openai', { api_key: secret }, key)
  const messages = [{ role: 'user', content: 'Hello' }]
  const body = { model: 'gpt-4o-mini', messages }
  const calls: [string, object, RegExp][] = [
    ['/v1/chat/completions', body, /openai/],
    ['/v1/chat/completions', { ...body, stream: true }, /openai/],
    ['/v1/chat/completions', { ...body, model: 'mycorp/any' }, /mycorp/],
    ['/v1/chat/completions', { ...body, model: 'house' }, /mycorp/],
    ['/v1/chat/completions', { ...body, model: 'computer-use-preview' }, /mycorp/],
    ['/v1/chat/completions', { ...body, model: 'corp-large' }, /mycorp/],
    ['/v1/messages', { ...body, max_tokens: 5 }, /openai/],
    ['/v1/messages/count_tokens', body, /openai/],
    ['/v1/responses', { model: 'gpt-4o-mini', input: 'Hello' }, /openai/],
    ['/v1/embeddings', { model: 'openai/text-embedding-3-small', input: 'Hello' }, /openai/],
  ]
  for (const by of [adminKey, key])
    for (const [at, request, name] of calls) {
      const answer = await api('POST', at, request, by)
      expect([at, answer.status, answer.body.error.message]).toEqual([at, 502, expect.stringMatching(name)])
      expect(answer.body.error.message).toMatch(/PUT \/api\/proxy\/providers\/\w+,/)
    }
  expect(upstream.requests).toEqual([])
  expect(logged.filter((line) => line.includes('tripped'))).toEqual([])
  expect(logged.join()).toContain('its calls are refused')

  const path = '/api/proxy/providers'
  for (const name of ['openai', 'mycorp'])
    expect((await api('GET', `${path}/${name}`)).body).toMatchObject({ status: 'down', key_source: 'none' })
  expect((await api('POST', `${path}/openai/check`)).body.message).toContain('cannot be read')
  expect((await api('GET', '/api/status')).body.components.providers.status).toBe('degraded')
  expect((await api('POST', path, { name: 'mycorp', ...said })).status).toBe(409)
  expect((await api('DELETE', `${path}/mycorp`)).status).toBe(409)
  const elsewhere = await api('POST', '/v1/chat/completions', { ...body, model: 'brussels/gpt-4o-mini' })
  expect(elsewhere.status).toBe(200)

  await module('regionroute', { enabled: true })
  expect((await api('POST', '/v1/chat/completions', body)).status).toBe(502)
  await module('regionroute', { enabled: false })

  const { generation, providers } = (await api('GET', '/api/config')).body
  expect(providers).toEqual({ mycorp: {}, openai: {} })
  expect((await api('POST', '/api/config', { providers })).body.applied).toEqual([])
  expect((await api('GET', '/api/config')).body.generation).toBe(generation)
  expect((await api('PUT', `${path}/mycorp`, said)).status).toBe(200)
  expect((await api('POST', '/v1/chat/completions', { ...body, model: 'house' })).status).toBe(200)
  expect(upstream.last().key).toBe(secret)
  expect((await api('POST', '/api/config', { providers: { openai: null } })).status).toBe(200)
  expect((await api('POST', '/v1/chat/completions', body)).status).toBe(200)
  expect(upstream.last().key).toBe('sk-test')
})

test('models of a provider that an earlier version stored are known too, once it could be read', async () => {
  const said = {
    type: 'openai',
    base_url: upstream.baseUrl(),
    api_key: secret,
    models: ['computer-use-preview'],
  }
  const first = await start('the first of the passphrases')
  await first.api('POST', '/api/proxy/providers', { name: 'mycorp', ...said })
  await stop()
  const engine = await openLevel(path.join(dataDir, 'db'))
  const earlier = z.object({ sealed: z.string(), updated_at: z.string() })
  const rows = engine.namespace('plugins').namespace('upstream').collection('providers', { schema: earlier })
  await rows.update('mycorp', (now) => now && { sealed: now.sealed, updated_at: now.updated_at })
  await engine.close()
  await start('the first of the passphrases')
  await stop()
  const { api } = await start('another of the passphrases')
  const messages = [{ role: 'user', content: 'Hello' }]
  const { status, body } = await api('POST', '/v1/chat/completions', {
    model: 'computer-use-preview',
    messages,
  })
  expect([status, body.error.message]).toEqual([502, expect.stringContaining('mycorp')])
  expect(upstream.requests).toEqual([])
})

test("a rollback to an operator's key that cannot be read any more is refused, and says why", async () => {
  const first = await start('the first of the passphrases')
  const said = { name: 'mycorp', type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test' }
  await first.api('POST', '/api/proxy/providers', said)
  const { generation } = (await first.api('GET', '/api/config')).body
  await first.api('DELETE', '/api/proxy/providers/mycorp')
  await stop()
  const { api } = await start('another of the passphrases')
  const { status, body } = await api('POST', '/api/config/rollback', { generation })
  expect(status).toBe(409)
  expect(body.error.message).toMatch(/^The change could not be made: An encrypted value cannot be read/)
})

const row = z.looseObject({ user_id: z.string(), secret: z.string() })
type Row = z.infer<typeof row>

async function withProviderKeys<T>(use: (rows: Collection<Row>) => Promise<T>): Promise<T> {
  const engine = await openLevel(path.join(dataDir, 'db'))
  const options = { schema: row, indexes: { user: (it: Row) => it.user_id } }
  try {
    return await use(engine.namespace('plugins').namespace('upstream').collection('provider_keys', options))
  } finally {
    await engine.close()
  }
}

const providerKeyRows = (): Promise<Row[]> => withProviderKeys(async (rows) => (await rows.list()).items)
