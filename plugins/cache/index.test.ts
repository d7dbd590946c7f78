import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  ada = await gateway.signUp('ada')
  bob = await gateway.signUp('bob')
})

beforeEach(async () => {
  await gateway.module('cachelayer', { enabled: true, config: null })
  await clear()
  upstream.reset()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

/** Whether the answer came from the cache. */
async function ask(content: string, key: string, model = 'gpt-4o-mini'): Promise<boolean> {
  const { status, headers } = await gateway.api(
    'POST',
    '/v1/chat/completions',
    { model, messages: [{ role: 'user', content }] },
    key,
  )
  expect(status).toBe(200)
  return headers.get('x-cache') === 'hit'
}

const clear = async (query = '') => (await gateway.api('DELETE', `/api/cache?${query}`)).body
const stats = async () => (await gateway.api('GET', '/api/cache/stats')).body
const entriesOf = async (query = '', key?: string) =>
  (await gateway.api('GET', `/api/cache?${query}`, undefined, key)).body

test('the statistics say what was held, hit and saved', async () => {
  const before = await stats()
  expect(before).toMatchObject({ enabled: true, entries: 0, bytes: 0, caches: [{ name: 'cachelayer' }] })
  upstream.reply({
    content: 'Hi',
    usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
  })
  await ask('Hello', ada.key)
  await ask('Hello', ada.key)
  await ask('Hello', ada.key)
  const [trace] = (await gateway.api('GET', '/api/observe/traces?limit=1&status=cache_hit')).body.traces
  expect(trace.cost.saved_usd).toBeGreaterThan(0)
  // What a hit has saved is counted after its answer.
  await expect
    .poll(async () => (await stats()).saved_usd - before.saved_usd)
    .toBeCloseTo(2 * trace.cost.saved_usd, 9)
  const after = await stats()
  expect(after).toMatchObject({
    entries: 1,
    hits: before.hits + 2,
    misses: before.misses + 1,
    saved_tokens: before.saved_tokens + 2200,
    by_kind: { exact: { entries: 1, hits: before.hits + 2 } },
  })
  expect(after.bytes).toBeGreaterThan(50)
  expect(after.hit_rate).toBeCloseTo(after.hits / (after.hits + after.misses), 9)
})

test('a user sees the entries of own calls without their texts, an admin all', async () => {
  await ask('My secret question', ada.key)
  await ask('My secret question', ada.key)
  await ask('Another one', bob.key, 'gpt-4o')
  const { entries, total } = await entriesOf('', ada.key)
  expect(total).toBe(1)
  expect(entries).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f]{64}$/),
      cache: 'cachelayer',
      model: 'gpt-4o-mini',
      provider: 'openai',
      user_id: ada.userId,
      project: 'default',
      bytes: expect.any(Number),
      hits: 1,
      age_seconds: expect.any(Number),
      created_at: expect.any(String),
      expires_at: expect.any(String),
    },
  ])
  expect(JSON.stringify(entries)).not.toContain('secret')
  expect((await entriesOf(`user_id=${bob.userId}`, ada.key)).error.status).toBe(403)
  expect(await entriesOf()).toMatchObject({ total: 2 })
  expect((await entriesOf('model=gpt-4o')).entries).toMatchObject([{ user_id: bob.userId }])
  expect((await entriesOf(`model=gpt-4o&user_id=${ada.userId}`)).total).toBe(0)
  const one = (key: string) => gateway.api('GET', `/api/cache/${entries[0].id}`, undefined, key)
  expect((await one(ada.key)).body).toMatchObject({ hits: 1 })
  expect((await one(bob.key)).status).toBe(404)
})

test('pages by cursor have each entry once', async () => {
  for (let n = 0; n < 7; n += 1) await ask(`Question ${n}`, ada.key)
  const ids: string[] = []
  for (let cursor = ''; ; ) {
    const page = await entriesOf(`limit=3${cursor}`)
    expect(page.total).toBe(7)
    ids.push(...page.entries.map(({ id }: { id: string }) => id))
    if (page.next_cursor === undefined) break
    cursor = `&cursor=${page.next_cursor}`
  }
  expect(new Set(ids).size).toBe(7)
  expect((await entriesOf('cursor=%20x')).error.status).toBe(400)
})

test('clearing deletes all answers, or those of a user or a model, and no other', async () => {
  const fill = async () => {
    await ask('Hello', ada.key)
    await ask('Hello', ada.key, 'gpt-4o')
    await ask('Hello', bob.key)
  }
  const held = async () => [
    await ask('Hello', ada.key),
    await ask('Hello', ada.key, 'gpt-4o'),
    await ask('Hello', bob.key),
  ]
  await fill()
  expect(await clear(`user_id=${ada.userId}&model=gpt-4o`)).toEqual({
    deleted: true,
    entries: 1,
    caches: ['cachelayer'],
  })
  expect(await held()).toEqual([true, false, true])
  await clear(`user_id=${ada.userId}`)
  expect(await held()).toEqual([false, false, true])
  await clear('model=gpt-4o-mini')
  expect(await held()).toEqual([false, true, false])
  expect((await clear()).entries).toBe(3)
  expect(await held()).toEqual([false, false, false])
  expect((await clear('colour=red')).error.message).toContain('colour')
})

test('one entry is deleted by its owner or an admin, and clearing all is for admins', async () => {
  await ask('Hello', ada.key)
  await ask('Bye', ada.key)
  const { entries } = await entriesOf('', ada.key)
  const remove = (id: string, key?: string) => gateway.api('DELETE', `/api/cache/${id}`, undefined, key)
  expect((await remove(entries[0].id, bob.key)).status).toBe(404)
  expect((await remove(entries[0].id, ada.key)).body).toEqual({ deleted: true, id: entries[0].id })
  expect((await remove(entries[0].id)).status).toBe(404)
  expect([await ask('Bye', ada.key), await ask('Hello', ada.key)]).toEqual([false, true])
  expect((await gateway.api('DELETE', '/api/cache', undefined, ada.key)).status).toBe(403)
  expect((await gateway.api('GET', '/api/cache/stats', undefined, ada.key)).status).toBe(403)
})

test('a cache that is off says so, and forgets what was cleared meanwhile', async () => {
  await ask('Hello', ada.key)
  await gateway.module('cachelayer', { enabled: false })
  expect(await stats()).toMatchObject({ enabled: false, entries: 0, hit_rate: 0, by_kind: {}, caches: [] })
  expect(await entriesOf()).toMatchObject({ entries: [], total: 0 })
  await gateway.module('cachelayer', { enabled: true })
  expect(await ask('Hello', ada.key)).toBe(true)
  await gateway.module('cachelayer', { enabled: false })
  expect(await clear()).toEqual({ deleted: true, entries: 0, caches: [] })
  await gateway.module('cachelayer', { enabled: true })
  expect(await ask('Hello', ada.key)).toBe(false)
})

test('bindings are caches of their own, and are cleared together', async () => {
  const binding = { name: 'docs', config: { ttl_s: 60 }, when: { projects: ['docs'] } }
  expect((await gateway.api('POST', '/api/proxy/modules/cachelayer/bindings', binding)).status).toBe(201)
  await ask('Hello', ada.key)
  expect((await stats()).caches.map(({ name }: { name: string }) => name)).toEqual([
    'cachelayer',
    'cachelayer/docs',
  ])
  expect((await entriesOf('cache=cachelayer/docs')).total).toBe(0)
  expect((await entriesOf('cache=other')).error.status).toBe(404)
  expect((await clear()).caches).toEqual(['cachelayer', 'cachelayer/docs'])
  await gateway.api('DELETE', '/api/proxy/modules/cachelayer/bindings/docs')
})

test('what was cached for a user goes with the data of the user', async () => {
  const cat = await gateway.signUp('cat')
  await ask('Hello', cat.key)
  const at = `/api/auth/users/${cat.userId}/data`
  expect(JSON.stringify((await gateway.api('GET', at)).body)).toContain('"cachelayer":1')
  await gateway.api('DELETE', at)
  expect((await entriesOf(`user_id=${cat.userId}`)).total).toBe(0)
})
