import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({
    config: {
      secrets: { MYCORP_KEY: 'sk-MARKERSECRET' },
      providers: { taken: { type: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: 'k' } },
    },
  })
})

afterAll(() => gateway.close())

beforeEach(async () => {
  for (const { id } of await installed()) await api('DELETE', `installed/${id}`)
  for (const { slug } of (await api('GET', 'packs')).body.packs) await api('DELETE', `packs/${slug}`)
  const { sections } = (await gateway.api('GET', '/api/config/export')).body
  const snapshot = {
    version: 1,
    sections: Object.fromEntries(Object.keys(sections).map((name) => [name, {}])),
  }
  await gateway.api('POST', '/api/config/import', { snapshot, mode: 'replace' })
})

const api = (method: string, at: string, body?: object, key?: string) =>
  gateway.api(method, `/api/exchange/${at}`, body, key)
const installed = async () => (await api('GET', 'installed')).body.installed
const hash = async () => (await gateway.api('GET', '/api/config')).body.hash
const patch = (body: object) => gateway.api('POST', '/api/config', body)
const formOf = async (section: string, key: string) =>
  (await gateway.api('GET', '/api/config/export')).body.sections[section][key]
const rule = (name: string) => ({ name, pattern: name, action: 'log' })
const publish = (slug: string, content: object, more: object = {}) =>
  api('POST', 'packs', { slug, name: slug, version: '1.0.0', content, ...more })
const publishNext = (slug: string, version: string, content: object) =>
  api('POST', `packs/${slug}/versions`, { version, content })
const install = (slug: string, body: object = {}) => api('POST', `packs/${slug}/install`, body)

const content = {
  modules: { outputcap: { enabled: true, config: { default_max_tokens: 50 } } },
  guardrails: { gr_one: rule('one'), gr_two: rule('two') },
}

test('a pack is published, listed, shown, changed and deleted, and its versions never change', async () => {
  const made = await publish('safe-start', content, { tags: ['safety'], readme: '# Hello' })
  expect(made.status).toBe(201)
  expect(made.body).toMatchObject({ slug: 'safe-start', version: '1.0.0', content, installs: 0 })
  expect(made.body.id).toMatch(/^pk_/)
  expect((await publish('safe-start', content)).status).toBe(409)
  expect((await publishNext('safe-start', '1.0.0', {})).status).toBe(409)
  expect((await publishNext('safe-start', '1.10.0', { modules: {} })).status).toBe(201)
  expect((await publishNext('safe-start', '1.9.0', {})).status).toBe(201)
  expect((await publishNext('safe-start', '2.0.0-beta.1', {})).status).toBe(201)
  const { packs, total } = (await api('GET', 'packs')).body
  expect([total, packs[0].version, packs[0].versions.length]).toEqual([1, '1.10.0', 4])
  const first = (await api('GET', 'packs/safe-start?version=1.0.0')).body
  expect([first.content, first.content_sha256]).toEqual([content, made.body.content_sha256])
  expect((await api('GET', 'packs/safe-start?version=3.0.0')).status).toBe(404)
  const changed = await api('PUT', 'packs/safe-start', { name: 'Safe start', readme: null })
  expect(changed.body).toMatchObject({ name: 'Safe start', readme: '', tags: ['safety'] })
  expect((await api('DELETE', 'packs/safe-start')).body).toEqual({ deleted: true, id: 'safe-start' })
  expect((await api('GET', 'packs/safe-start')).status).toBe(404)
})

test('what is no pack is refused with the field at fault', async () => {
  for (const [body, param] of [
    [{ slug: 'A B' }, 'slug'],
    [{ version: 'one' }, 'version'],
    [{ content: { providers: { x: { api_key: 'sk-1' } } } }, 'content.providers.x.api_key'],
    [{ content: { providers: { x: { keys: [] } } } }, 'content.providers.x.keys'],
    [
      {
        content: {
          alerts: { a: { channels: [{ type: 'log' }, { type: 'pagerduty', target: 'a-key-of-theirs' }] } },
        },
      },
      'content.alerts.a.channels.1.target',
    ],
    [
      { content: { alerts: { a: { channel: 'pagerduty', channel_config: { target: 'a-key-of-theirs' } } } } },
      'content.alerts.a.channel_config.target',
    ],
    [{ content: { providers: { x: { headers: { a: 'b' } } } } }, 'content.providers.x.headers'],
    [{ content: { nope: {} } }, 'content.nope'],
    [
      { content: { guardrails: { gr_x: { ...rule('x'), pattern: '(' } } } },
      'content.guardrails.gr_x.pattern',
    ],
    [{ content: { modules: { outputcap: { on: true } } } }, 'content.modules.outputcap'],
    [{ requires: { gateway: 'new' } }, 'requires.gateway'],
    [{ colour: 'red' }, 'colour'],
  ] as const) {
    const answer = await api('POST', 'packs', {
      slug: 'x',
      name: 'x',
      version: '1.0.0',
      content: {},
      ...body,
    })
    expect([answer.status, answer.body.error.param]).toEqual([400, param])
  }
  expect((await api('GET', 'packs')).body.total).toBe(0)
})

test('a version that no install would take is refused, and the next one has its number', async () => {
  await publish('safe', content)
  const refused = await publishNext('safe', '1.1.0', { guardrial: { gr_one: rule('one') } })
  expect([refused.status, refused.body.error]).toMatchObject([
    400,
    { param: 'content.guardrial', message: expect.stringContaining('The nearest is guardrails') },
  ])
  expect((await publishNext('safe', '1.1.0', content)).status).toBe(201)
})

test('what only an install can judge is published: filled forms, and settings of plugins from elsewhere', async () => {
  const filled = { guardrails: { gr_v: { ...rule('x'), action: '{{action}}' } } }
  expect((await publish('filled', filled, { variables: { action: {} } })).status).toBe(201)
  const elsewhere = { modules: { nowhere: { enabled: true } }, bindings: { 'nowhere/a': { enabled: true } } }
  expect((await publish('elsewhere', elsewhere)).status).toBe(201)
  const before = await hash()
  const routed = { routes: { table: [{ match: '*', provider: 'absent' }] } }
  expect(await publish('routed', routed)).toMatchObject({ status: 201 })
  expect(await hash()).toBe(before)
})

test('to install and to uninstall what nobody touched leaves the configuration as it was', async () => {
  await patch({ guardrails: { gr_two: rule('before') } })
  const before = await hash()
  await publish('safe', content)
  const refused = await install('safe')
  expect([refused.status, refused.body.error.details]).toEqual([409, { conflicts: ['guardrails.gr_two'] }])
  expect(await hash()).toBe(before)

  const done = await install('safe', { on_conflict: 'overwrite' })
  expect(done.body).toMatchObject({
    status: 'installed',
    version: '1.0.0',
    applied: { modules: 1, guardrails: 2 },
    skipped: {},
  })
  expect((await gateway.api('GET', '/api/proxy/modules/outputcap')).body.enabled).toBe(true)
  expect(await installed()).toMatchObject([
    { id: done.body.id, slug: 'safe', drift: false, update_available: false },
  ])
  expect((await api('GET', 'packs/safe')).body.installs).toBe(1)
  expect((await api('DELETE', 'packs/safe')).status).toBe(409)

  const gone = await api('DELETE', `installed/${done.body.id}`)
  expect(gone.body).toMatchObject({ deleted: true, left: [] })
  expect(gone.body.restored.sort()).toEqual(['guardrails.gr_one', 'guardrails.gr_two', 'modules.outputcap'])
  expect(await hash()).toBe(before)
  expect((await formOf('guardrails', 'gr_two')).name).toBe('before')
  expect((await api('DELETE', `installed/${done.body.id}`)).status).toBe(404)
})

test('what a pack clears is there again when it goes', async () => {
  await patch({ guardrails: { gr_two: rule('before') } })
  const before = await hash()
  await publish('clears', { guardrails: { gr_two: null, gr_never: null } })
  const { body } = await install('clears', { on_conflict: 'overwrite' })
  expect(await formOf('guardrails', 'gr_two')).toBeUndefined()
  const gone = await api('DELETE', `installed/${body.id}`)
  expect(gone.body).toMatchObject({ restored: ['guardrails.gr_two'], left: [] })
  expect(await hash()).toBe(before)
})

test('a key that was changed since is drift, stays when the pack goes, and is listed', async () => {
  await publish('safe', content)
  const { id } = (await install('safe')).body
  await patch({ guardrails: { gr_one: { action: 'block' } } })
  const [item] = await installed()
  expect(item.drift).toBe(true)
  const modified = item.objects.filter(
    (one: { modified_since_install: boolean }) => one.modified_since_install,
  )
  expect(modified).toEqual([{ type: 'guardrails', id: 'gr_one', modified_since_install: true }])
  expect((await api('GET', 'status')).body).toEqual({
    status: 'ready',
    packs: 1,
    versions: 1,
    installed: 1,
    drifted: 1,
    environments: 0,
    last_synced_at: null,
  })
  const { body } = await api('DELETE', `installed/${id}`)
  expect([body.left, body.restored.sort()]).toEqual([
    ['guardrails.gr_one'],
    ['guardrails.gr_two', 'modules.outputcap'],
  ])
  expect((await formOf('guardrails', 'gr_one')).action).toBe('block')
})

test('a preview says of each key what would become of it, and changes nothing', async () => {
  await patch({ guardrails: { gr_one: rule('mine'), gr_two: rule('two') } })
  await publish('safe', content, {
    requires: { gateway: '>=99', modules: { nowhere: '*' }, secrets: ['ABSENT'] },
  })
  const before = await hash()
  const { body, status } = await api('GET', 'packs/safe/preview')
  expect(status).toBe(200)
  const actions = body.changes.map(({ key, action }: { key: string; action: string }) => [key, action])
  expect(actions.sort()).toEqual([
    ['gr_one', 'conflict'],
    ['gr_two', 'unchanged'],
    ['outputcap', 'create'],
  ])
  expect(body.modules).toEqual([{ name: 'outputcap', enabled: true, action: 'create' }])
  expect(body.missing_secrets).toEqual(['ABSENT'])
  expect(body.unmet).toHaveLength(2)
  expect(body.permissions).toEqual(expect.any(Array))
  const refused = await install('safe', { on_conflict: 'skip' })
  expect([refused.status, refused.body.error.details]).toMatchObject([409, { missing_secrets: ['ABSENT'] }])
  expect(await hash()).toBe(before)
})

test('with skip, keys of others stay, and the pack does not take them away later', async () => {
  await patch({ guardrails: { gr_one: rule('mine') } })
  await publish('safe', content)
  const { body } = await install('safe', { on_conflict: 'skip' })
  expect(body).toMatchObject({
    status: 'partial',
    applied: { modules: 1, guardrails: 1 },
    skipped: { guardrails: 1 },
  })
  await api('DELETE', `installed/${body.id}`)
  expect((await formOf('guardrails', 'gr_one')).name).toBe('mine')
})

test('a newer version changes what nobody touched, takes away what it has no more, and goes with what was first', async () => {
  await patch({ guardrails: { gr_one: rule('first') } })
  const before = await hash()
  await publish('safe', content)
  await install('safe', { on_conflict: 'overwrite' })
  const { gr_one } = content.guardrails
  await publishNext('safe', '1.1.0', {
    guardrails: { gr_one: { ...gr_one, severity: 'high' }, gr_new: rule('new') },
  })
  const [item] = await installed()
  expect([item.update_available, item.latest_version]).toEqual([true, '1.1.0'])
  const { body, status } = await install('safe')
  expect([status, body.id, body.version]).toEqual([200, item.id, '1.1.0'])
  const { sections } = (await gateway.api('GET', '/api/config/export')).body
  expect([Object.keys(sections.guardrails).sort(), sections.modules]).toEqual([['gr_new', 'gr_one'], {}])
  await api('DELETE', `installed/${item.id}`)
  expect(await hash()).toBe(before)
})

test('an update does not take back what an admin has changed since', async () => {
  await publish('safe', content)
  await install('safe')
  await patch({ guardrails: { gr_one: { action: 'block' } } })
  await publishNext('safe', '1.1.0', { guardrails: { gr_one: { ...rule('one'), severity: 'low' } } })
  expect((await install('safe')).status).toBe(409)
  const { body } = await install('safe', { on_conflict: 'skip' })
  expect(body.skipped).toEqual({ guardrails: 1 })
  expect((await formOf('guardrails', 'gr_one')).action).toBe('block')
})

test('variables fill texts and numbers, and one without a value is asked for', async () => {
  await publish(
    'filled',
    {
      modules: { outputcap: { enabled: true, config: { default_max_tokens: '{{tokens}}' } } },
      guardrails: { gr_v: { ...rule('x'), name: 'For {{team}}, {{other}}' } },
    },
    { variables: { tokens: { default: 30 }, team: {} } },
  )
  const asked = await install('filled')
  expect([asked.status, asked.body.error.param]).toEqual([400, 'variables.team'])
  expect((await api('GET', 'packs/filled/preview')).body.missing_variables).toEqual(['team'])
  expect((await install('filled', { variables: { team: 'a', nobody: 1 } })).body.error.param).toBe(
    'variables.nobody',
  )
  expect((await install('filled', { variables: { team: 'docs', tokens: 31 } })).status).toBe(200)
  expect((await formOf('guardrails', 'gr_v')).name).toBe('For docs, {{other}}')
  expect((await formOf('modules', 'outputcap')).config).toEqual({ default_max_tokens: 31 })
})

test('a provider gets its key from the secrets of service.yaml, and the key is shown nowhere', async () => {
  const provider = { type: 'openai', base_url: 'http://127.0.0.1:9/v1', api_key: { secret: 'MYCORP_KEY' } }
  await publish('corp', { providers: { mycorp: provider } })
  const preview = await api('GET', 'packs/corp/preview')
  expect(preview.body.warnings).toEqual([expect.stringContaining('providers.mycorp')])
  const done = await install('corp')
  expect(done.status).toBe(200)
  const { secrets } = (await gateway.api('GET', '/api/config')).body
  expect(secrets).toEqual(['providers.mycorp.api_key'])
  const said = [
    preview.body,
    done.body,
    await installed(),
    (await gateway.api('GET', '/api/config/history')).body,
  ]
  expect(JSON.stringify([said, gateway.logged])).not.toContain('MARKERSECRET')
})

test('the key of a pack goes with it, and not to the address that was there before', async () => {
  const before = { type: 'openai', base_url: 'http://127.0.0.1:9/before' }
  const own = { ...before, base_url: 'http://127.0.0.1:9/pack', api_key: { secret: 'MYCORP_KEY' } }
  const secrets = async () => (await gateway.api('GET', '/api/config')).body.secrets
  await patch({
    providers: { mycorp: { ...before, api_key: 'sk-own' }, kept: { ...before, api_key: 'sk-own' } },
  })
  await publish('corp', { providers: { mycorp: own, kept: { ...own, api_key: undefined } } })
  const { body } = await install('corp', { on_conflict: 'overwrite' })
  expect(await secrets()).toEqual(['providers.kept.api_key', 'providers.mycorp.api_key'])
  expect((await api('DELETE', `installed/${body.id}`)).body.restored).toHaveLength(2)
  expect((await formOf('providers', 'mycorp')).base_url).toBe(before.base_url)
  expect(await secrets()).toEqual(['providers.kept.api_key'])

  await publishNext('corp', '2.0.0', {})
  await install('corp', { version: '1.0.0', on_conflict: 'overwrite' })
  await install('corp', { version: '2.0.0' })
  expect((await formOf('providers', 'mycorp')).base_url).toBe(before.base_url)
  expect(await secrets()).toEqual(['providers.kept.api_key'])
})

test('a pack does not lead a key of service.yaml to another address unless an admin says so', async () => {
  await publish('bad', { providers: { taken: { base_url: 'https://elsewhere.example.com/v1' } } })
  const refused = await install('bad')
  expect([refused.status, refused.body.error.details]).toEqual([409, { conflicts: ['providers.taken'] }])
  const { changes } = (await api('GET', 'packs/bad/preview')).body
  expect(changes[0].action).toBe('conflict')
})

test('with one bad item nothing of a pack is installed, and a dry run refuses it, too', async () => {
  await publish(
    'bad',
    { ...content, guardrails: { ...content.guardrails, gr_bad: { ...rule('x'), pattern: '{{open}}' } } },
    { variables: { open: { default: '(' } } },
  )
  const before = await hash()
  for (const dry_run of [true, false]) {
    const { status, body } = await install('bad', { dry_run })
    expect([status, body.error.param]).toEqual([400, 'guardrails.gr_bad.pattern'])
  }
  expect([await hash(), await installed()]).toEqual([before, []])
})

test('of two packs that set one key at a time, one is refused', async () => {
  await publish('left', { guardrails: { gr_same: rule('left') } })
  await publish('right', { guardrails: { gr_same: rule('right') } })
  const both = await Promise.all([install('left'), install('right')])
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
})

test('a rollback takes an install back with its record', async () => {
  const { generation } = (await gateway.api('GET', '/api/config')).body
  const before = await hash()
  await publish('safe', content)
  await install('safe')
  expect((await gateway.api('POST', '/api/config/rollback', { generation })).status).toBe(200)
  expect([await hash(), await installed()]).toEqual([before, []])
})

test('a dry run of an install changes nothing, and only admins see packs', async () => {
  await publish('safe', content)
  const before = (await gateway.api('GET', '/api/config')).body
  const { body } = await install('safe', { dry_run: true })
  expect(body).toMatchObject({ id: null, status: 'dry_run', applied: { modules: 1, guardrails: 2 } })
  expect((await gateway.api('GET', '/api/config')).body).toEqual(before)
  expect(await installed()).toEqual([])
  const { key } = await gateway.signUp()
  expect((await api('GET', 'packs', undefined, key)).status).toBe(403)
  expect((await api('POST', 'packs/safe/install', {}, key)).status).toBe(403)
})
