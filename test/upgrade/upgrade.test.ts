import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../harness.ts'
import { startUpstream, type Upstream } from '../upstream/index.ts'

/** The stores were made by `make-store.ts` in older versions; the JSON beside each is what the older version answered. */

const long = 36_500

let upstream: Upstream

beforeAll(async () => {
  upstream = await startUpstream()
})

afterAll(() => upstream.close())

describe.each(['contract-1', 'contract-2'])('a store from %s', (name) => {
  let folder: string
  let gateway: TestGateway
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  let before: any

  const start = () =>
    startGateway({
      dataDir: path.join(folder, 'kept'),
      env: { SERVICE_ENCRYPTION_KEY: 'passphrase of the upgrade test' },
      config: {
        providers: {
          openai: { base_url: upstream.baseUrl(), api_key: 'sk-of-the-gateway' },
          mycorp: { type: 'openai', base_url: upstream.baseUrl(), api_key: 'sk-test', models: ['mycorp-*'] },
        },
        modules: {
          auth: { config: { usage_months: 120 } },
          observe: { config: { retention_days: { rows: long, bodies: long } } },
          proxy: { config: { stored_responses: { days: long } } },
        },
      },
    })

  beforeAll(async () => {
    const from = path.join(import.meta.dirname, name)
    before = JSON.parse(await readFile(`${from}.json`, 'utf8'))
    folder = await mkdtemp(path.join(tmpdir(), 'switchyard-upgrade-'))
    await cp(from, path.join(folder, 'kept'), { recursive: true })
    gateway = await start()
    // All of it was written by the older version; the second start finds what the first one converted.
    await gateway.close()
    gateway = await start()
    return async () => {
      await gateway.close()
      await rm(folder, { recursive: true })
    }
  })

  const get = async (at: string, key?: string) => (await gateway.api('GET', at, undefined, key)).body

  test('has its users, keys, and usage', async () => {
    expect(await get('/api/auth/me/keys', before.key)).toMatchObject({
      // When a key was last used is of now.
      keys: before.keys.keys.map(({ last_used_at: _, ...key }: { last_used_at: string }) => key),
      total: 2,
    })
    expect(await get('/api/auth/me/usage?period=2026-11', before.importedKey)).toEqual(before.usage)
  })

  test('has its traces and figures', async () => {
    for (const id of before.traces) expect(await get(`/api/observe/traces/${id}`)).toMatchObject({ id })
    expect(await get(`/api/observe/traces/${before.traces[0]}`)).toMatchObject(before.trace)
    const { today: _, active_users: __, ...figures } = before.overview
    expect(await get('/api/observe/overview')).toMatchObject(figures)
  })

  test('has its settings, bindings and routes', async () => {
    expect(await get('/api/proxy/modules/outputcap')).toMatchObject({ config: { default_max_tokens: 77 } })
    expect(await get('/api/proxy/modules/keyscope')).toMatchObject({ when: { projects: ['docs'] } })
    const { stats: _, priority: __, ...binding } = before.binding
    expect(await get('/api/proxy/modules/outputcap/bindings/docs')).toMatchObject(binding)
    expect(await get('/api/proxy/routes')).toMatchObject({ routes: before.routes.routes })
  })

  test("has its users' provider keys, and calls work with them", async () => {
    expect(await get('/api/auth/me/providers', before.key)).toMatchObject({
      providers: before.providers.providers,
    })
    const call = (model: string) =>
      gateway.api(
        'POST',
        '/v1/chat/completions',
        { model, messages: [{ role: 'user', content: 'again' }] },
        before.key,
      )
    expect((await call('gpt-4o-mini')).status).toBe(200)
    expect(upstream.last()).toMatchObject({ key: 'sk-test', body: { max_tokens: 77 } })
    expect((await call('support-bot')).status).toBe(200)
    expect(upstream.last()).toMatchObject({ body: { model: 'mycorp-large' } })
  })

  test('has its stored responses, and conversations continue', async () => {
    const { status } = await gateway.api(
      'POST',
      '/v1/responses',
      { model: 'gpt-4o-mini', input: 'And then?', previous_response_id: before.response },
      before.key,
    )
    expect(status).toBe(200)
    expect(JSON.stringify(upstream.last().body)).toContain('Remember this.')
  })
})
