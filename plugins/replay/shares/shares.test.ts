import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'

let gateway: TestGateway
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }

beforeAll(async () => {
  gateway = await startGateway()
  ada = await gateway.signUp('share-ada')
  bob = await gateway.signUp('share-bob')
  await limit(0)
})

afterEach(() => vi.useRealTimers())

afterAll(() => gateway.close())

const limit = (reads_per_minute: number) =>
  gateway.api('PUT', '/api/plugins/replay', { config: { reads_per_minute } })

const api = (method: string, at: string, body?: unknown, key = ada.key) => gateway.api(method, at, body, key)

/** A read without a key. */
async function read(at: string) {
  const response = await fetch(gateway.url + at)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const side = (response: string) => ({ model: 'm', response, cost_usd: 0.001, latency_ms: 100 })

const custom = (more: object = {}) =>
  api('POST', '/api/replayshare/share/custom', { left: side('blue sky'), right: side('grey sky'), ...more })

async function makeRun(
  content = 'What colour is the sky?',
): Promise<{ id: string; trace: string; user: string }> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ada.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'mock/echo', messages: [{ role: 'user', content }] }),
  })
  await response.text()
  const trace = response.headers.get('x-trace-id')!
  await expect.poll(async () => (await api('GET', `/api/observe/traces/${trace}`)).status).toBe(200)
  const { body } = await api('POST', '/api/replay', { trace_id: trace, target_model: 'mock/other' })
  expect(body.status).toBe('success')
  return { id: body.id, trace, user: ada.userId }
}

describe('a share of a run', () => {
  test('is read without a key, as JSON and as a page, until it is revoked', async () => {
    const run = await makeRun()
    const { status, body } = await api('POST', '/api/replayshare/share', {
      replay_id: run.id,
      title: 'Skies',
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: expect.stringMatching(/^sy_share_[0-9A-Za-z]{43}$/),
      share_id: expect.stringMatching(/^shr_/),
      url: `/compare/${body.id}`,
      full_url: `${gateway.url}/compare/${body.id}`,
      expires_at: expect.any(String),
    })
    expect(Math.round((Date.parse(body.expires_at) - Date.now()) / 86_400_000)).toBe(30)
    const json = await read(`/api/replayshare/share/${body.id}`)
    expect(JSON.parse(json.text)).toMatchObject({
      title: 'Skies',
      left: { model: 'echo', provider: 'mock', response: expect.any(String) },
      right: { model: 'mock/other' },
      winners: { quality: null },
      prompt: null,
      views: 1,
    })
    const page = await read(body.url)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('x-robots-tag')).toContain('noindex')
    expect(page.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
    expect(page.headers.get('content-security-policy')).not.toContain('script-src')
    expect(page.headers.get('cache-control')).toBe('no-store')
    for (const secret of [run.id, run.trace, run.user, ada.key, 'key_', 'usr_', 'tr_', 'rpl_'])
      for (const { text } of [json, page]) expect(text).not.toContain(secret)
    const list = (await api('GET', '/api/replayshare/shares')).body
    expect(list.shares[0]).toMatchObject({ id: body.share_id, kind: 'comparison', title: 'Skies', views: 2 })
    expect(JSON.stringify(list)).not.toContain(body.id)
    const revoke = (key: string) => api('DELETE', `/api/replayshare/share/${body.share_id}`, undefined, key)
    expect((await revoke(bob.key)).status).toBe(404)
    expect((await revoke(ada.key)).body).toEqual({ deleted: true, id: body.share_id })
    expect((await read(body.url)).status).toBe(404)
  })

  test('stays as it was when the run goes, and has the prompt only where that is asked for', async () => {
    const run = await makeRun('A prompt of its own')
    const { body } = await api('POST', '/api/replayshare/share', { replay_id: run.id, include_prompt: true })
    await api('DELETE', `/api/replay/runs/${run.id}`)
    const shared = JSON.parse((await read(`/api/replayshare/share/${body.id}`)).text)
    expect(shared.prompt).toBe('A prompt of its own')
  })

  test('is not made of a run of somebody else', async () => {
    const { id } = await makeRun()
    const { status, body } = await api('POST', '/api/replayshare/share', { replay_id: id }, bob.key)
    expect([status, body.error.param]).toEqual([404, 'replay_id'])
  })
})

describe('a custom share', () => {
  test('is compared by its own figures', async () => {
    const { body } = await custom({ right: { ...side('grey sky'), cost_usd: 0.002 }, prompt: 'Sky?' })
    const shared = JSON.parse((await read(`/api/replayshare/share/${body.id}`)).text)
    expect(shared).toMatchObject({
      prompt: 'Sky?',
      winners: { cost: 'left', speed: 'tie', overall: 'left' },
      delta: { cost_pct: 100 },
      diff: [{ kind: 'removed', text: 'blue ' }, { kind: 'added', text: 'grey ' }, { text: 'sky' }],
    })
  })

  test('with hostile texts is a page without a way out of them', async () => {
    const { body } = await custom({ title: '</title><script>alert(1)</script>', prompt: '<svg onload=x>' })
    const { text } = await read(body.url)
    expect(text).not.toMatch(/<script|<svg/)
  })

  test.each<[object, string]>([
    [{ left: side('x'.repeat(5_000_000)) }, 'left.response'],
    [{ left: { ...side('x'), user_id: 'usr_a' } }, 'left.user_id'],
    [{ left: { ...side('x'), cost_usd: -1 } }, 'left.cost_usd'],
    [{ html: '<b>' }, 'html'],
    [{ title: '' }, 'title'],
  ])('is refused by the name of its field (%#)', async (more, param) => {
    const { status, body } = await custom(more)
    expect([status, body.error.param]).toEqual([400, param])
  })

  test('with a secret in it is refused, naming the place and the kind', async () => {
    const key = `ghp_${'a1B2c3D4e5'.repeat(3)}f6G7h8`
    const { status, body } = await custom({ right: side(`Use ${key} then`) })
    expect([status, body.error.param]).toEqual([400, 'right.response'])
    expect(body.error.message).toContain('github')
    expect(JSON.stringify(body)).not.toContain(key)
  })
})

describe('a session of the playground', () => {
  const session = {
    title: 'A talk',
    messages: [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hello to you' },
    ],
    model: 'gpt-4o',
    params: { temperature: 0.5, stop: ['x'] },
    modules: ['outputcap'],
  }
  const at = '/api/playground/share'

  test('is shared for thirty days, read by anybody, and revoked by its owner', async () => {
    const { status, body } = await api('POST', at, session)
    expect([status, body.url]).toEqual([201, `${at}/${body.id}`])
    expect(JSON.parse((await read(body.url)).text)).toMatchObject({ ...session, provider: null, views: 1 })
    expect(JSON.parse((await read(body.url)).text).views).toBe(2)
    expect((await read(`/api/replayshare/share/${body.id}`)).status).toBe(404)
    expect((await api('DELETE', body.url, undefined, bob.key)).status).toBe(404)
    expect((await api('DELETE', body.url, undefined, gateway.adminKey)).status).toBe(200)
    expect((await read(body.url)).status).toBe(404)
  })

  test.each<[object, string]>([
    [{ messages: [] }, 'messages'],
    [{ messages: [{ role: 'root', content: 'x' }] }, 'messages.0.role'],
    [{ api_key: 'x' }, 'api_key'],
    [{ params: { deep: { er: 1 } } }, 'params.deep'],
    [{ messages: [{ role: 'user', content: `key ${'AKIA'}IOSFODNN7EXAMPL3` }] }, 'messages.0.content'],
  ])('with %j is refused', async (more, param) => {
    const { status, body } = await api('POST', at, { ...session, ...more })
    expect([status, body.error.param]).toEqual([400, param])
  })
})

describe('links', () => {
  test('that are unknown, expired and revoked are told apart by nothing', async () => {
    const [expired, revoked] = [(await custom()).body, (await custom()).body]
    await api('DELETE', `/api/replayshare/share/${revoked.id}`)
    vi.useFakeTimers({ now: Date.now() + 30 * 86_400_000 + 1000, toFake: ['Date'] })
    const answers = await Promise.all(
      [expired.id, revoked.id, 'A'.repeat(43), expired.share_id].map((id) =>
        read(`/api/replayshare/share/${id}`),
      ),
    )
    const said = answers.map(({ status, text }) => [status, text.replace(/req_\w+/, '')])
    expect(said).toEqual(Array(4).fill(said[0]))
    expect(said[0]![0]).toBe(404)
  })

  test('are in no log and no entry of the ledger', async () => {
    const { body } = await custom()
    const at = `/api/replayshare/share/${body.id}`
    expect((await api('DELETE', at, undefined, bob.key)).status).toBe(404)
    expect((await api('GET', at, undefined, 'sy_live_wrong')).status).toBe(401)
    expect((await api('DELETE', at)).status).toBe(200)
    const entries = async () =>
      JSON.stringify((await api('GET', '/api/trust/ledger', undefined, gateway.adminKey)).body)
    await expect.poll(entries).toContain('/api/replayshare/share/{id}')
    expect(await entries()).not.toContain(body.id)
    expect(gateway.logged.join('')).not.toContain(body.id)
  })

  test('are read so often from one address, and no more', async () => {
    const { body } = await custom()
    await limit(3)
    const statuses = []
    for (const at of [body.url, `/compare/${'A'.repeat(43)}`, body.url, body.url])
      statuses.push((await read(at)).status)
    await limit(0)
    expect(statuses).toEqual([200, 404, 200, 429])
  })

  test('begin with the public address, where one is set', async () => {
    const public_url = 'https://gateway.example.com/'
    await gateway.api('PUT', '/api/plugins/replay', { config: { reads_per_minute: 0, public_url } })
    expect((await custom()).body.full_url).toMatch(/^https:\/\/gateway\.example\.com\/compare\/\w{52}$/)
    await limit(0)
  })
})

test('shares go with the data of their owner, and of the user whose call they show', async () => {
  const run = await makeRun()
  const key = gateway.adminKey
  const byAda = (await custom()).body
  const byAdmin = (await api('POST', '/api/replayshare/share', { replay_id: run.id }, key)).body
  expect((await gateway.api('DELETE', `/api/auth/users/${ada.userId}`)).status).toBe(200)
  for (const { url } of [byAda, byAdmin]) await expect.poll(async () => (await read(url)).status).toBe(404)
})
