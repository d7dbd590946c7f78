import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { runs } from '../../test/suite/runs.ts'
import { startUpstream } from '../../test/upstream/index.ts'

let folder: string
let here: TestGateway
let there: TestGateway

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-whole-'))
  ;[here, there] = await Promise.all([startGateway({ dataDir: path.join(folder, 'data') }), startGateway()])
})

afterAll(async () => {
  await Promise.all([here.close(), there.close()])
  await rm(folder, { recursive: true })
})

const marker = 'MARKERSECRET'
const secrets = [`sk-${marker}-1`, `${marker}-header`, `${marker}pagerdutykey`]

const whole = async (gateway = here) => (await gateway.api('GET', '/api/config')).body
const exported = async (gateway = here) => (await gateway.api('GET', '/api/config/export')).body
const patch = (body: object, gateway = here) => gateway.api('POST', '/api/config', body)
const take = (snapshot: object, more: object = {}, gateway = here) =>
  gateway.api('POST', '/api/config/import', { snapshot, ...more })
const compare = async (snapshot: object, gateway = here) =>
  (await gateway.api('POST', '/api/config/diff', snapshot)).body
const rule = (name: string, pattern = 'x') => ({ name, pattern, action: 'log' })
const of = (sections: object) => ({ version: 1, sections })

/** Sets something in each section by the routes of the areas. */
async function furnish(): Promise<void> {
  const made = await Promise.all([
    here.api('PUT', '/api/proxy/modules/outputcap', {
      enabled: true,
      config: { default_max_tokens: 9 },
      order: 2,
    }),
    here.api('PUT', '/api/proxy/modules/idlekill', { config: { max_seconds: null }, when: null }),
    here.api('PUT', '/api/plugins/metrics', { enabled: false }),
    here.api('POST', '/api/proxy/modules/outputcap/bindings', { name: 'docs' }),
    here.api('POST', '/api/proxy/providers', {
      name: 'mycorp',
      type: 'openai',
      base_url: 'http://127.0.0.1:9/v1',
      api_key: secrets[0],
      headers: { 'x-team': secrets[1] },
      models: ['mycorp-*'],
    }),
    here.api('POST', '/api/guardrails', { ...rule('words'), pattern: undefined, words: ['secret plan'] }),
    here.api('POST', '/api/guardrails', { name: 'mail', preset: 'email', action: 'redact', project: 'docs' }),
    here.api('POST', '/api/trust/policies', {
      name: 'long',
      action: 'warn',
      rules: [{ field: 'tokens', pattern: '> 1000' }],
    }),
    here.api('POST', '/api/observe/alerts', {
      name: 'errors',
      metric: 'error_rate',
      condition: '>',
      threshold: 0.5,
      channels: [{ type: 'log' }, { type: 'slack', target: 'https://example.com/hook' }],
    }),
  ])
  expect(made.map(({ status, body }) => [status, body.error])).toEqual(
    made.map(({ status }) => [status < 300 ? status : 200, undefined]),
  )
  const routed = await here.api('PUT', '/api/proxy/routes', {
    routes: [{ match: 'a-*', provider: 'mycorp' }],
  })
  expect(routed.status).toBe(200)
}

test('what is set in each section goes to an empty gateway, which then is as the first', async () => {
  await furnish()
  const snapshot = await exported()
  expect(
    Object.entries(snapshot.sections).map(([name, forms]) => [name, Object.keys(forms as object).length]),
  ).toEqual(
    expect.arrayContaining([
      ['modules', 2],
      ['bindings', 1],
      ['plugins', 1],
      ['providers', 1],
      ['routes', 1],
      ['guardrails', 2],
      ['policies', 1],
      ['alerts', 1],
    ]),
  )
  expect(snapshot.hash).toBe((await whole()).hash)
  expect(snapshot.hash).not.toBe((await whole(there)).hash)
  const before = await compare(snapshot, there)
  expect([before.identical, before.risk]).toEqual([false, 'high'])

  const { generation } = await whole(there)
  const { status, body } = await take(snapshot, { mode: 'replace' }, there)
  expect([status, body.generation]).toEqual([200, generation + 1])
  expect(body.warnings.sort()).toEqual([
    'providers.mycorp.api_key is a secret, which no snapshot has: set it here.',
    'providers.mycorp.headers is a secret, which no snapshot has: set it here.',
  ])
  expect(await compare(snapshot, there)).toEqual({
    identical: true,
    changes: [],
    additions: [],
    removals: [],
    modifications: [],
    risk: 'none',
    generation: generation + 1,
  })
  expect((await whole(there)).hash).toBe(snapshot.hash)
  expect(await exported(there)).toMatchObject({
    hash: snapshot.hash,
    sections: snapshot.sections,
    secrets: [],
  })
  expect((await there.api('GET', '/api/proxy/modules/outputcap')).body).toMatchObject({
    enabled: true,
    order: 2,
  })
  const { rules } = (await there.api('GET', '/api/guardrails')).body
  expect(rules.map(({ name }: { name: string }) => name).sort()).toEqual(['mail', 'words'])
})

test('to send back what was got, of the whole or of any part, changes nothing and makes no generation', async () => {
  const got = await whole()
  const all = await patch(got)
  expect([all.status, all.body]).toMatchObject([
    200,
    { generation: got.generation, hash: got.hash, applied: [], restart_required: [], warnings: [] },
  ])
  const { generation: _, hash: _h, secrets: _s, key_status: _k, sources: _so, server: _se, ...sections } = got
  const keys = Object.entries(sections).flatMap(([name, forms]) =>
    Object.keys(forms as object).map((key) => [name, key] as const),
  )
  await fc.assert(
    fc.asyncProperty(fc.subarray(keys, { minLength: 1 }), fc.boolean(), async (chosen, asImport) => {
      const part: Record<string, Record<string, unknown>> = {}
      for (const [name, key] of chosen) part[name] = { ...part[name], [key]: sections[name][key] }
      const { status, body } = await (asImport ? take(of(part)) : patch(part))
      expect([status, body.applied, body.generation]).toEqual([200, [], got.generation])
    }),
    runs(25),
  )
})

test('no secret is in a document, a difference, an answer, the history or the log', async () => {
  const key = await here.api('POST', '/api/observe/alerts', {
    name: 'page',
    metric: 'error_rate',
    condition: '>',
    threshold: 0.5,
    channels: [{ type: 'pagerduty', target: secrets[2] }],
  })
  expect(key.status).toBe(201)
  const options = await patch({ providers: { mycorp: { api_key: `sk-${marker}-2`, org_id: 'o' } } })
  expect([options.status, options.body.applied]).toEqual([200, ['providers.mycorp']])
  const snapshot = await exported()
  expect(snapshot.secrets).toEqual([
    `alerts.${key.body.id}.channels.0.target`,
    'providers.mycorp.api_key',
    'providers.mycorp.headers',
  ])
  const said = [
    await whole(),
    snapshot,
    options.body,
    (await take({ ...snapshot, sections: { providers: { mycorp: { api_key: `sk-${marker}-3` } } } })).body,
    await compare(snapshot),
    (await here.api('GET', '/api/config/history?limit=100')).body,
    here.logged,
  ]
  for (const one of said) expect(JSON.stringify(one)).not.toContain(marker)
})

test('a document without a secret leaves the one that is there, and other fields as it says', async () => {
  const { sections } = await exported()
  const id = Object.keys(sections.alerts).find((one) => sections.alerts[one].name === 'page')!
  const { status } = await take(of({ alerts: { [id]: { ...sections.alerts[id], threshold: 0.7 } } }))
  expect(status).toBe(200)
  const after = await exported()
  expect(after.sections.alerts[id].threshold).toBe(0.7)
  expect(after.secrets).toContain(`alerts.${id}.channels.0.target`)
  const elsewhere = await take(of({ alerts: { [id]: sections.alerts[id] } }), {}, there)
  expect([elsewhere.status, elsewhere.body.error.param]).toEqual([400, `alerts.${id}.channels.0.target`])
})

test('null for a secret clears it, in a patch and in a document, and no part of one', async () => {
  const upstream = await startUpstream({ apiKey: 'sk-test' })
  const field = { 'x-team': 'platform', 'x-site': 'one' }
  const said = { type: 'openai', base_url: upstream.baseUrl() }
  const set = () => patch({ providers: { held: { ...said, api_key: 'sk-test', headers: field } } })
  const sent = async () => {
    const request = { model: 'held/any', messages: [{ role: 'user', content: 'Hello' }] }
    await here.api('POST', '/v1/chat/completions', request)
    const { key, headers } = upstream.last()
    return [key, headers['x-team']]
  }
  const named = async () => (await exported()).secrets.filter((name: string) => name.includes('held'))
  const both = ['providers.held.api_key', 'providers.held.headers']
  expect([(await set()).status, await named(), await sent()]).toEqual([200, both, ['sk-test', 'platform']])

  const part = await patch({ providers: { held: { headers: { 'x-team': null } } } })
  expect([part.status, part.body.error.param, await named()]).toEqual([400, 'headers', both])

  const { body } = await patch({ providers: { held: { api_key: null, headers: null } } })
  expect([body.applied, await named()]).toEqual([['providers.held'], []])
  expect(await sent()).toEqual([undefined, undefined])
  expect((await patch({ providers: { held: { api_key: null } } })).body.applied).toEqual([])

  await set()
  expect((await patch({ providers: { held: { api_key: null, region: 'eu' } } })).status).toBe(200)
  expect([await named(), await sent()]).toEqual([['providers.held.headers'], [undefined, 'platform']])
  const emptied = await take(of({ providers: { held: { ...said, headers: null } } }))
  expect([emptied.body.applied, await named()]).toEqual([['providers.held'], []])
  await patch({ providers: { held: null } })
  await upstream.close()
})

test('a document that leaves out defaults is no difference once it was taken in, and one that cannot be set is one', async () => {
  const brief = of({
    modules: { outputcap: { enabled: true, config: { default_max_tokens: 9 } }, idlekill: {} },
    guardrails: { gr_brief: rule('brief') },
    routes: { table: [{ match: 'a-*', provider: 'mycorp' }] },
  })
  const before = await exported()
  expect((await compare(brief)).additions).toMatchObject([
    { path: 'guardrails.gr_brief', value: { enabled: true } },
  ])
  expect((await take(brief)).status).toBe(200)
  const { changes, additions } = await compare(brief)
  expect([changes, additions]).toEqual([[], []])
  const wrong = of({ guardrails: { gr_brief: { name: 'x', colour: 'red' } } })
  expect((await compare(wrong)).additions).toEqual([{ path: 'guardrails.gr_brief.colour', value: 'red' }])
  expect((await take(before, { mode: 'replace' })).body.hash).toBe(before.hash)
})

test('half a character in a name keeps nobody from reading and changing the whole, nor from packs', async () => {
  const before = await whole()
  const half = { guardrails: { gr_half: rule('half \ud800') } }
  expect((await take(of(half))).status).toBe(200)
  expect((await here.api('GET', '/api/config')).status).toBe(200)
  const snapshot = await exported()
  expect((await compare(snapshot)).identical).toBe(true)
  const pack = { slug: 'half', name: 'half', version: '1.0.0', content: half }
  expect((await here.api('POST', '/api/exchange/packs', pack)).status).toBe(201)
  const installed = await here.api('POST', '/api/exchange/packs/half/install', { on_conflict: 'overwrite' })
  expect(installed.status).toBe(200)
  expect((await here.api('GET', '/api/exchange/installed')).body.installed[0].drift).toBe(false)
  await here.api('DELETE', `/api/exchange/installed/${installed.body.id}`)
  await take(of({ guardrails: { gr_half: null } }))
  expect((await whole()).hash).toBe(before.hash)
})

test('with one bad item of 200 nothing changes, and the answer names it', async () => {
  const before = await whole()
  const rules = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`gr_${n}`, rule(`n${n}`)]))
  const bad = {
    guardrails: { ...rules, gr_77: rule('bad', '(') },
    modules: { outputcap: { enabled: false } },
  }
  const refused = await take(of(bad))
  expect([refused.status, refused.body.error.param]).toEqual([400, 'guardrails.gr_77.pattern'])
  expect(refused.body.error.message).toMatch(/^guardrails\.gr_77: pattern/)
  const late = await take(
    of({ guardrails: rules, modules: { outputcap: { config: { default_max_tokens: 'x' } } } }),
  )
  expect([late.status, late.body.error.message]).toEqual([400, expect.stringContaining('outputcap')])
  const unknown = await take(of({ guardrails: rules, modules: { outputcapp: { enabled: true } } }))
  expect([unknown.status, unknown.body.error.message]).toEqual([400, expect.stringContaining('outputcap.')])
  for (const [sections, param] of [
    [{ guardrail: {} }, 'guardrail'],
    [{ guardrails: { gr_0: { ...rule('a'), patern: 1 } } }, 'guardrails.gr_0'],
    [{ guardrails: { 'a b': rule('a') } }, 'guardrails.a b'],
    [{ routes: { other: [] } }, 'routes.other'],
    [{ routes: { table: [{ match: 'a' }] } }, 'routes.table.routes.0.provider'],
    [{ routes: { table: [{ match: 'a', provider: 'nowhere' }] } }, 'routes.table.0.provider'],
    [{ providers: { 'A B': {} } }, 'providers.A B.name'],
    [{ providers: { nowhere: {} } }, 'providers.nowhere.type'],
    [{ bindings: { 'outputcap/A': {} } }, 'bindings.outputcap/A.name'],
    [{ plugins: { outputcap: { enabled: true } } }, 'plugins.outputcap'],
  ] as const) {
    const { status, body } = await take(of(sections))
    expect([status, body.error.param]).toEqual([400, param])
  }
  expect(await whole()).toEqual(before)
})

test('a dry run says what would come of a change, refuses what it would refuse, and changes nothing', async () => {
  const before = await whole()
  const change = {
    modules: { outputcap: { config: { default_max_tokens: 12 } } },
    guardrails: { gr_dry: rule('dry') },
  }
  const tried = await patch({ ...change, dry_run: true })
  expect(tried.body).toMatchObject({ dry_run: true, generation: before.generation })
  expect(tried.body.applied).toEqual(['modules.outputcap', 'guardrails.gr_dry'])
  const bad = await patch({ modules: { outputcap: { config: { default_max_tokens: 'x' } } }, dry_run: true })
  expect(bad.status).toBe(400)
  expect(await whole()).toEqual(before)
  const made = await patch(change)
  expect([made.body.hash, made.body.applied]).toEqual([tried.body.hash, tried.body.applied])
  expect((await whole()).hash).toBe(tried.body.hash)
  const undone = await patch({
    guardrails: { gr_dry: null },
    modules: { outputcap: { config: { default_max_tokens: 9 } } },
  })
  expect(undone.body.hash).toBe(before.hash)
})

test('an import that replaces clears what its sections have not, and leaves all others', async () => {
  const before = await exported()
  const id = Object.keys(before.sections.guardrails)[0]!
  const kept = { [id]: before.sections.guardrails[id] }
  const { body } = await take(of({ guardrails: kept, bindings: {} }), { mode: 'replace' })
  expect(body.applied.every((key: string) => /^(guardrails|bindings)\./.test(key))).toBe(true)
  const after = await exported()
  expect(after.sections).toEqual({ ...before.sections, guardrails: kept, bindings: {} })
  expect((await here.api('GET', '/api/proxy/modules/outputcap/bindings')).body.bindings).toEqual([])
  const back = await here.api('POST', '/api/config/rollback', { generation: body.generation - 1 })
  expect(back.status).toBe(200)
  expect((await exported()).hash).toBe(before.hash)
})

test('what only the file and the environment say takes a restart, and is not written', async () => {
  const { generation, server } = await whole()
  const { body } = await patch({ server: { ...server, 'server.threads': 4 } })
  expect([body.generation, body.restart_required, body.applied]).toEqual([generation, ['server.threads'], []])
})

test('of two imports from one base the second is 409', async () => {
  const { generation: if_generation } = await whole()
  const both = await Promise.all(
    ['one', 'two'].map((name) => take(of({ guardrails: { gr_two: rule(name) } }), { if_generation })),
  )
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
  expect((await whole()).generation).toBe(if_generation + 1)
})

test('a hundred toggles and an import at a time are a hundred generations and one', async () => {
  const { generation } = await whole()
  const toggles = Array.from({ length: 100 }, (_, n) =>
    here.api('PUT', '/api/proxy/modules/idlekill', { enabled: n % 2 === 0 }),
  )
  const many = Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`gr_m${n}`, rule(`m${n}`)]))
  const [taken, ...toggled] = await Promise.all([take(of({ guardrails: many })), ...toggles])
  expect(taken!.body.applied).toHaveLength(200)
  expect(new Set(toggled.map(({ status }) => status))).toEqual(new Set([200]))
  expect((await whole()).generation).toBe(generation + 101)
})

test('an import that would lock its caller out is refused, a dry run of it too', async () => {
  const before = await whole()
  const fence = of({
    modules: { ipfence: { enabled: true, config: { scope: 'all', deny: ['127.0.0.0/8'] } } },
  })
  for (const more of [{}, { dry_run: true }]) {
    const { status, body } = await take(fence, more)
    expect([status, body.error.param]).toEqual([409, 'force'])
  }
  expect(await whole()).toEqual(before)
})

test('all of it is there after a restart, and for admins only', async () => {
  const before = await whole()
  await here.close()
  here = await startGateway({ dataDir: path.join(folder, 'data') })
  const after = await whole()
  expect(after).toEqual({ ...before, generation: before.generation + 1, server: after.server })
  const { key } = await here.signUp()
  for (const [method, at] of [
    ['GET', ''],
    ['POST', ''],
    ['GET', '/export'],
    ['POST', '/import'],
    ['POST', '/diff'],
  ] as const)
    expect((await here.api(method, `/api/config${at}`, method === 'POST' ? {} : undefined, key)).status).toBe(
      403,
    )
})
