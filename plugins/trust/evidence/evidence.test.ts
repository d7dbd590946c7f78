import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

const run = promisify(execFile)
const marker = 'a-marker-that-no-pack-may-hold'

let gateway: TestGateway
let upstream: Upstream
let folder: string
let ada: { userId: string; key: string }

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-evidence-'))
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  ada = await gateway.signUp('ada')
  const policy = { name: 'markers', action: 'log', rules: [{ field: 'request', pattern: marker }] }
  expect((await gateway.api('POST', '/api/trust/policies', policy)).status).toBe(201)
  for (const key of [ada.key, gateway.adminKey, ada.key]) await ask(key)
  await vi.waitFor(async () => {
    expect((await gateway.api('GET', '/api/observe/traces')).body.total).toBe(3)
  }, 10_000)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

async function ask(key: string, model = 'gpt-4o'): Promise<void> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: `Say ${marker}` }] }),
  })
  expect(response.status).toBe(200)
}

const range = () => ({
  date_from: new Date(Date.now() - 86_400_000).toISOString(),
  date_to: new Date(Date.now() + 60_000).toISOString(),
})

// biome-ignore lint/suspicious/noExplicitAny: packs are looked into
async function collected(input: object = {}): Promise<any> {
  const { status, body } = await gateway.api('POST', '/api/trust/evidence', {
    name: 'Audit',
    ...range(),
    ...input,
  })
  expect([status, body.status]).toEqual([202, 'collecting'])
  const pack = async () => (await gateway.api('GET', `/api/trust/evidence/${body.id}`)).body
  await expect.poll(async () => (await pack()).status).toBe('ready')
  return pack()
}

async function download(pack: { download_url: string }): Promise<string> {
  const response = await fetch(`${gateway.url}${pack.download_url}`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  })
  expect(response.status).toBe(200)
  return response.text()
}

/** What the script of the documentation says of a pack. */
async function verified(text: string | Buffer): Promise<string> {
  const [file, keys] = [path.join(folder, 'pack.jsonl'), path.join(folder, 'keys.json')]
  await writeFile(file, text)
  await writeFile(keys, JSON.stringify((await gateway.api('GET', '/api/signing-keys')).body))
  const { stdout } = await run(process.execPath, ['docs/verify-evidence.js', file, keys]).catch(
    (error) => error,
  )
  return stdout.trim()
}

const itemsOf = (text: string, section: string) =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((line) => line.section === section)
    .map(({ item }) => item)

test('a pack has each section, no text of a call, and verifies without the gateway', async () => {
  const pack = await collected({ framework: 'soc2' })
  const text = await download(pack)
  expect(await verified(text)).toBe(
    `valid: ${pack.event_count} items in 7 sections, signed by ${pack.signature.key_id}`,
  )
  expect(
    itemsOf(text, 'access_log')
      .map(({ user_id }) => user_id)
      .sort(),
  ).toEqual([ada.userId, ada.userId, null].sort())
  expect(itemsOf(text, 'policies')).toEqual([expect.objectContaining({ name: 'markers', version: 1 })])
  expect(itemsOf(text, 'config_history').flatMap(({ changes }) => changes)).toContainEqual(
    expect.objectContaining({ section: 'policies' }),
  )
  expect(itemsOf(text, 'model_inventory')).toContainEqual(
    expect.objectContaining({ model: 'gpt-4o', requests: 3 }),
  )
  expect(itemsOf(text, 'guardrail_events')).toHaveLength(3)
  expect(itemsOf(text, 'ledger').length).toBe(pack.ledger_range.to_seq - pack.ledger_range.from_seq + 1)
  for (const section of ['access_log', 'guardrail_events', 'ledger', 'model_inventory'])
    expect(JSON.stringify(itemsOf(text, section))).not.toContain(marker)
})

test('what is added to the manifest, beside it or to its signature makes a pack invalid', async () => {
  const lines = (await download(await collected({ include: ['policies'] }))).trimEnd().split('\n')
  const end = lines.pop()!
  const changed = (from: string, to: string) => verified(`${[...lines, end.replace(from, to)].join('\n')}\n`)
  expect(await changed('{"manifest":', '{"approved_by":"somebody","manifest":')).toMatch(/INVALID/)
  expect(await changed('"signature":{', '"signature":{"by":"somebody",')).toMatch(/INVALID/)
  expect(await changed('{"manifest":{', '{"manifest":{"a":1,')).toMatch(/INVALID/)
  expect(await changed('', '')).toMatch(/^valid/)
})

test('one changed byte, wherever it is, makes a pack invalid', async () => {
  const bytes = Buffer.from(await download(await collected({ include: ['ledger', 'policies'] })))
  const places = Array.from({ length: 24 }, (_, n) => Math.floor(((bytes.length - 2) * n) / 23))
  for (const place of places) {
    const changed = Buffer.from(bytes)
    changed[place]! ^= 1
    expect(await verified(changed), `byte ${place}`).toMatch(/^INVALID/)
  }
})

test('a part that is cut off or stands twice is noticed', async () => {
  const lines = (await download(await collected({ include: ['ledger'] }))).trimEnd().split('\n')
  const says = (some: string[]) => verified(`${some.join('\n')}\n`)
  expect(await says(lines.slice(0, -1))).toBe('INVALID: the manifest is missing')
  expect(await says(lines.slice(1))).toMatch('the section ledger was changed')
  expect(await says([...lines, lines[0]!])).toMatch('something stands behind')
})

test('filters narrow the calls of a pack, and not the ledger', async () => {
  const all = await collected({ include: ['ledger', 'access_log'] })
  const some = await collected({ include: ['ledger', 'access_log'], filters: { user_id: ada.userId } })
  expect(itemsOf(await download(some), 'access_log')).toHaveLength(2)
  expect(some.sections[0].count).toBeGreaterThan(all.sections[0].count)
})

test('a pack still verifies when its traces were deleted and its person was erased', async () => {
  const pack = await collected()
  const before = await download(pack)
  expect((await gateway.api('DELETE', `/api/auth/users/${ada.userId}/data`)).status).toBe(200)
  expect((await gateway.api('GET', '/api/observe/traces')).body.total).toBe(1)
  const after = await download(pack)
  expect(after).toBe(before)
  expect(await verified(after)).toMatch(/^valid/)
  expect((await gateway.api('GET', '/api/trust/ledger/verify')).body.valid).toBe(true)
})

test('campaigns of the red team are in it with what they found, and without what was said', async () => {
  const system_prompt = `${marker} ${Array.from({ length: 30 }, (_, n) => `word${n}`).join(' ')}`
  upstream.reply({ content: system_prompt, times: 6 })
  const campaign = { name: marker, purpose: marker, target: { system_prompt } }
  const { body: made } = await gateway.api('POST', '/api/redteam/campaigns', campaign)
  const hunt = { generations: 1, population: 6, wait_ms: 60_000 }
  const { body: hunted } = await gateway.api('POST', `/api/redteam/campaigns/${made.id}/hunt`, hunt)
  expect([hunted.total_attacks, hunted.vulnerabilities.length > 0]).toEqual([6, true])
  const text = await download(await collected({ include: ['redteam'] }))
  expect(itemsOf(text, 'redteam')).toEqual([
    expect.objectContaining({ kind: 'campaign', id: made.id, target: 'gateway', attacks: 6 }),
    ...hunted.vulnerabilities.map(() =>
      expect.objectContaining({ kind: 'vulnerability', campaign_id: made.id, status: 'open' }),
    ),
  ])
  expect(text).not.toContain(marker)
  const others = await collected({ include: ['redteam'], filters: { user_id: ada.userId } })
  expect(others.event_count).toBe(0)
})

test('packs are listed, and deleted with their file', async () => {
  const { id, download_url } = await collected({ include: ['policies'] })
  const { body } = await gateway.api('GET', '/api/trust/evidence')
  expect(body.packs[0]).toMatchObject({ id, status: 'ready', sections: [{ name: 'policies' }] })
  expect((await gateway.api('DELETE', `/api/trust/evidence/${id}`)).status).toBe(200)
  for (const at of [`/api/trust/evidence/${id}`, download_url])
    expect((await gateway.api('GET', at)).status).toBe(404)
})

test('a pack whose job is cancelled has failed, and says why', async () => {
  await gateway.api('POST', '/api/jobs/pause', { kind: 'trust.evidence' })
  const { body } = await gateway.api('POST', '/api/trust/evidence', { name: 'Audit', ...range() })
  await gateway.api('POST', `/api/jobs/${encodeURIComponent(`trust.evidence:${body.id}`)}/cancel`)
  await expect
    .poll(async () => (await gateway.api('GET', `/api/trust/evidence/${body.id}`)).body)
    .toMatchObject({ status: 'failed', error: 'An admin cancelled it.', download_url: null })
  await gateway.api('POST', '/api/jobs/resume', { kind: 'trust.evidence' })
})

test('a pack that is being collected is deleted only by force, and its job goes with it', async () => {
  await gateway.api('POST', '/api/jobs/pause', { kind: 'trust.evidence' })
  const { body } = await gateway.api('POST', '/api/trust/evidence', { name: 'Audit', ...range() })
  const at = `/api/trust/evidence/${body.id}`
  const job = `/api/jobs/${encodeURIComponent(`trust.evidence:${body.id}`)}`
  const refused = await gateway.api('DELETE', at)
  expect([refused.status, refused.body.error.param]).toEqual([409, 'force'])
  expect((await gateway.api('GET', at)).body.status).toBe('collecting')
  expect((await gateway.api('GET', job)).status).toBe(200)
  expect((await gateway.api('DELETE', `${at}?force=true`)).body).toEqual({ deleted: true, id: body.id })
  expect([(await gateway.api('GET', at)).status, (await gateway.api('GET', job)).status]).toEqual([404, 404])
  expect((await gateway.api('DELETE', at)).status).toBe(404)
  await gateway.api('POST', '/api/jobs/resume', { kind: 'trust.evidence' })
})

test('packs are for admins, and wrong ones are refused, naming the field', async () => {
  expect((await gateway.api('GET', '/api/trust/evidence', undefined, ada.key)).status).toBe(403)
  const refused = async (input: object) => {
    const { status, body } = await gateway.api('POST', '/api/trust/evidence', {
      name: 'Audit',
      ...range(),
      ...input,
    })
    return [status, body.error.param]
  }
  expect(await refused({ include: ['everything'] })).toEqual([400, 'include.0'])
  expect(await refused({ date_to: '2020-01-01T00:00:00Z' })).toEqual([400, 'date_to'])
  expect(await refused({ what: 1 })).toEqual([400, 'what'])
  expect(await refused({ name: 'Audit \ud800' })).toEqual([400, 'name'])
  expect(await refused({ description: '\udc00' })).toEqual([400, 'description'])
})

test('whatever names callers make up, a pack over their calls is collected and verifies', async () => {
  const include = ['ledger', 'guardrail_events', 'access_log', 'model_inventory']
  const before = (await gateway.api('GET', '/api/observe/traces')).body.total
  for (const model of ['gpt-4o\u2028x', 'gpt-\ud800']) await ask(gateway.adminKey, model)
  await expect.poll(async () => (await gateway.api('GET', '/api/observe/traces')).body.total).toBe(before + 2)
  const text = await download(await collected({ include }))
  expect(itemsOf(text, 'access_log').map(({ model_requested }) => model_requested)).toEqual(
    expect.arrayContaining(['gpt-4o\u2028x', 'gpt-\ufffd']),
  )
  expect(await verified(text)).toMatch(/^valid/)
  const asked = await collected({ include, filters: { model: 'gpt-\ud800' } })
  expect(await verified(await download(asked))).toMatch(/^valid/)
})
