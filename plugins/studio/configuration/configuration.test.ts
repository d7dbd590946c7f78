import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'

/** Templates of the admins as a section of the configuration, and in packs. */

let here: TestGateway
let there: TestGateway

beforeAll(async () => {
  ;[here, there] = await Promise.all([startGateway(), startGateway()])
})

afterAll(() => Promise.all([here.close(), there.close()]))

afterEach(async () => {
  for (const gateway of [here, there]) await take({ templates: {} }, { mode: 'replace' }, gateway)
})

const path = '/api/studio/templates'
const whole = async (gateway = here) => (await gateway.api('GET', '/api/config')).body
const exported = async (gateway = here) => (await gateway.api('GET', '/api/config/export')).body
const formOf = async (slug: string, gateway = here) => (await exported(gateway)).sections.templates[slug]
const patch = (body: object) => here.api('POST', '/api/config', body)
const take = (sections: object, more: object = {}, gateway = here) =>
  gateway.api('POST', '/api/config/import', { snapshot: { version: 1, sections }, ...more })
const rollback = (generation: number) => here.api('POST', '/api/config/rollback', { generation })
const shown = async (slug: string, gateway = here) => (await gateway.api('GET', `${path}/${slug}`)).body
const render = async (slug: string, more: object = {}, gateway = here) =>
  (await gateway.api('POST', `${path}/${slug}/render`, more)).body.messages?.[0].content

async function make(slug: string, more: object = {}, key?: string) {
  const { status, body } = await here.api('POST', path, { slug, content: 'Hello {{name}}!', ...more }, key)
  expect([status, body.error]).toEqual([201, undefined])
  return body
}

async function publish(slug: string, content: string, more: object = {}) {
  const { status, body } = await here.api('POST', `${path}/${slug}/versions`, { content, ...more })
  expect([status, body.error]).toEqual([201, undefined])
  return body
}

const full = {
  name: 'Greeting',
  description: 'Greets.',
  tags: ['kind'],
  visibility: 'shared',
  variables: [{ name: 'name', type: 'string', default: 'you' }],
  model: 'gpt-4o',
  params: { temperature: 0 },
  tools: [{ type: 'function', function: { name: 'f' } }],
  response_format: { type: 'json_object' },
}

test('what is exported here makes the same templates elsewhere, and is as it was when it comes back', async () => {
  await make('sign', { content: 'Yours, {{team}}', labels: ['production'] })
  await make('greet', { ...full, content: 'Old {{name}}', labels: ['production', 'staging'] })
  await publish('greet', 'Hello {{name}}! {{> sign}}', { labels: ['staging'] })
  await publish('sign', 'Later, {{team}}')
  await make('chat', { content: [{ role: 'user', content: 'Hi {{name}}' }], status: 'draft' })
  const ada = await here.signUp('ada')
  await make('mine', {}, ada.key)
  const snapshot = await exported()
  expect(Object.keys(snapshot.sections.templates).sort()).toEqual(['chat', 'greet', 'sign'])
  expect(snapshot.sections.templates.greet).toEqual({
    ...full,
    status: 'active',
    content: 'Hello {{name}}! {{> sign}}',
    partials: { sign: 'Yours, {{team}}' },
    labels: ['staging'],
  })

  const { body } = await there.api('POST', '/api/config/import', { snapshot })
  expect([body.applied.sort(), body.warnings]).toEqual([
    ['templates.chat', 'templates.greet', 'templates.sign'],
    [],
  ])
  expect((await whole(there)).hash).toBe(snapshot.hash)
  expect(await shown('greet', there)).toMatchObject({
    ...full,
    variables: [{ name: 'name', type: 'string', default: 'you' }, { name: 'team' }],
    current_version: 1,
    labels: { staging: 1 },
    author: 'configuration',
  })
  const variables = { name: 'Ada', team: 'us' }
  expect(await render('greet', { variables, label: 'staging' }, there)).toBe('Hello Ada! Yours, us')
  expect(await render('sign', { variables: { team: 'us' } }, there)).toBe('Later, us')

  for (const gateway of [here, there]) {
    const again = await gateway.api('POST', '/api/config/import', { snapshot, mode: 'replace' })
    expect(again.body.applied).toEqual([])
    const { body: same } = await gateway.api('POST', '/api/config', await whole(gateway))
    expect(same.applied).toEqual([])
    expect((await gateway.api('POST', '/api/config/diff', snapshot)).body.identical).toBe(true)
  }
  const { versions } = (await here.api('GET', `${path}/greet/versions`)).body
  expect(versions).toHaveLength(2)
})

test('another content is published as the next version, and another head is none', async () => {
  await make('greet', { ...full, labels: ['production', 'old'] })
  const { id } = await shown('greet')
  const head = await patch({ templates: { greet: { name: 'Other', tags: [], description: null } } })
  expect(head.body.applied).toEqual(['templates.greet'])
  expect(await shown('greet')).toMatchObject({
    name: 'Other',
    description: null,
    tags: [],
    current_version: 1,
  })
  await patch({ templates: { greet: { content: 'Dear {{name}}', labels: ['production', 'new'] } } })
  expect(await shown('greet')).toMatchObject({
    id,
    current_version: 2,
    labels: { production: 2, new: 2, old: 1 },
    model: 'gpt-4o',
    params: { temperature: 0 },
  })
  expect(await render('greet')).toBe('Dear you')
  expect(await render('greet', { version: 1 })).toBe('Hello you!')
  expect(await render('greet', { label: 'old' })).toBe('Hello you!')
  await patch({ templates: { greet: { labels: ['new'], params: { temperature: null, top_p: 1 } } } })
  expect(await shown('greet')).toMatchObject({ params: { top_p: 1 }, current_version: 3, labels: { new: 3 } })
  await patch({ templates: { greet: { labels: [] } } })
  expect((await shown('greet')).labels).toEqual({ production: 2, old: 1 })
})

test('a partial that a form does not bring is looked up, and one that it names anew is put in place', async () => {
  await make('sign', { content: 'Yours' })
  await make('greet', { content: 'Hi' })
  await patch({ templates: { greet: { content: 'Hi. {{> sign}}' } } })
  expect(await render('greet')).toBe('Hi. Yours')
  const { body } = await here.api('GET', `${path}/greet/versions/2`)
  expect(body.partials).toEqual([{ slug: 'sign', version: 1 }])
  await patch({ templates: { greet: { content: 'Hey. {{> sign}}', partials: { sign: 'Theirs' } } } })
  expect(await render('greet')).toBe('Hey. Theirs')
  await patch({ templates: { greet: { partials: null } } })
  expect(await render('greet')).toBe('Hey. Yours')
})

test('what is wrong is told with its name and field, and nothing changes', async () => {
  await make('greet')
  const before = await whole()
  const good = { content: 'Hi' }
  for (const [key, wrong, param] of [
    ['bad', { content: '{{#a}}' }, 'templates.bad.content'],
    ['bad', { content: '{{> nowhere}}' }, 'templates.bad.content'],
    ['bad', { content: '{{> bad}}' }, 'templates.bad.content'],
    ['bad', { content: '{{> x}}', partials: { x: '{{> y}}' } }, 'templates.bad.partials.x'],
    ['bad', { ...good, variables: [{ name: 'none' }] }, 'templates.bad.variables'],
    ['bad', { ...good, labels: ['A B'] }, 'templates.bad.labels.0'],
    ['bad', { ...good, params: { messages: [] } }, 'templates.bad.params'],
    ['bad', { ...good, status: 'gone' }, 'templates.bad.status'],
    ['bad', { ...good, colour: 'red' }, 'templates.bad'],
    ['bad', {}, 'templates.bad.content'],
    ['A b', good, 'templates.A b.slug'],
    ['greet', { content: [{ role: 'user', content: 'Hi' }] }, 'templates.greet.content'],
  ] as const) {
    const { status, body } = await take({ templates: { good, [key]: wrong } })
    expect([status, body.error?.param, body.error?.message]).toEqual([400, param, expect.anything()])
  }
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`t${n}`, good]))
  expect((await take({ templates: many })).status).toBe(400)
  expect(await whole()).toEqual(before)
})

test('every change by an admin is in the history, and a rollback says again what was said', async () => {
  const { generation } = await whole()
  await make('greet', { labels: ['production'] })
  await publish('greet', 'Second {{name}}')
  const second = await whole()
  await publish('greet', 'Third {{name}}', { labels: ['production'] })
  await here.api('PUT', `${path}/greet`, { name: 'Named', labels: { staging: 2 } })
  expect((await whole()).generation).toBe(generation + 4)
  expect((await rollback(second.generation)).status).toBe(200)
  const variables = { name: 'Ada' }
  expect(await render('greet', { variables })).toBe('Second Ada')
  expect(await render('greet', { variables, version: 3 })).toBe('Third Ada')
  expect(await shown('greet')).toMatchObject({ name: null, current_version: 4, labels: { production: 1 } })
  expect((await whole()).hash).toBe(second.hash)

  const { id } = await shown('greet')
  const last = await whole()
  expect((await here.api('DELETE', `${path}/greet`)).body).toMatchObject({ id, versions: 4 })
  await rollback(last.generation)
  expect(await shown('greet')).toMatchObject({ current_version: 1, labels: {} })
  expect((await shown('greet')).id).not.toBe(id)
  expect([await render('greet', { variables }), (await whole()).hash]).toEqual(['Second Ada', last.hash])
  await rollback(generation)
  expect((await here.api('GET', `${path}/greet`)).status).toBe(404)
})

test('of publications at a time each has a number of its own, or is told that another came first', async () => {
  await make('greet')
  const all = await Promise.all([
    ...Array.from({ length: 4 }, (_, n) =>
      here.api('POST', `${path}/greet/versions`, { content: `By ${n}` }),
    ),
    ...Array.from({ length: 4 }, (_, n) => patch({ templates: { greet: { content: `In ${n}` } } })),
    here.api('PUT', `${path}/greet`, { description: 'Kept.' }),
  ])
  const done = all.slice(0, -1).filter(({ status }) => status < 300)
  for (const { status } of all) expect([200, 201, 409]).toContain(status)
  expect(await shown('greet')).toMatchObject({ current_version: 1 + done.length, description: 'Kept.' })
})

test('templates of users are no configuration, and make no generation', async () => {
  const { key } = await here.signUp('eve')
  const before = await whole()
  await make('own', {}, key)
  await here.api('POST', `${path}/own/versions`, { content: 'Hi' }, key)
  await here.api('PUT', `${path}/own`, { name: 'Mine' }, key)
  expect((await here.api('DELETE', `${path}/own`, undefined, key)).body.versions).toBe(2)
  expect(await whole()).toEqual(before)
})

test('what is sealed on the disk is sealed in the history, and goes to documents opened', async () => {
  await here.module('encryptvault', { enabled: true })
  await make('secret', { content: 'qxsealed {{name}}' })
  const { generation, hash } = await whole()
  const form = await formOf('secret')
  expect(form.content).toBe('qxsealed {{name}}')
  expect((await take({ templates: { secret: form } })).body.applied).toEqual([])
  await patch({ templates: { secret: { content: 'qxother {{name}}' } } })
  const entries = []
  for await (const entry of here.kernel.registry.journal.scan(generation)) entries.push(entry)
  expect(JSON.stringify(entries)).toContain('sealed:')
  for (const word of ['qxsealed', 'qxother']) expect(JSON.stringify(entries)).not.toContain(word)
  expect((await rollback(generation)).status).toBe(200)
  expect([await render('secret', { variables: { name: 'Ada' } }), (await whole()).hash]).toEqual([
    'qxsealed Ada',
    hash,
  ])
  await here.module('encryptvault', { enabled: false })
})

test('a pack brings templates, is updated, drifts, and goes', async () => {
  const pack = (method: string, at: string, body?: object) => here.api(method, `/api/exchange/${at}`, body)
  await make('greet', { content: 'Before' })
  const before = await whole()
  const templates = {
    greet: { content: 'Hello {{name}} of {{company}}', labels: ['production'] },
    sign: { content: 'Yours' },
  }
  const first = { version: '1.0.0', content: { templates }, variables: { company: { default: 'Acme' } } }
  const bad = { ...first, content: { templates: { greet: { content: '{{#a}}' } } } }
  const refused = await pack('POST', 'packs', { ...bad, slug: 'bad', name: 'bad' })
  expect([refused.status, refused.body.error.param]).toEqual([400, 'content.templates.greet.content'])
  expect((await pack('POST', 'packs', { ...first, slug: 'words', name: 'words' })).status).toBe(201)
  const preview = (await pack('GET', 'packs/words/preview')).body
  expect(preview.changes.map(({ key, action }: { key: string; action: string }) => [key, action])).toEqual([
    ['greet', 'conflict'],
    ['sign', 'create'],
  ])
  expect(await whole()).toEqual(before)
  const installed = await pack('POST', 'packs/words/install', { on_conflict: 'overwrite' })
  expect(installed.body.applied).toEqual({ templates: 2 })
  expect(await render('greet', { variables: { name: 'Ada' }, label: 'production' })).toBe('Hello Ada of Acme')
  const item = async () => (await pack('GET', 'installed')).body.installed[0]
  expect((await item()).drift).toBe(false)

  const next = { ...templates, sign: { content: 'Ours' } }
  await pack('POST', 'packs/words/versions', { ...first, version: '1.1.0', content: { templates: next } })
  expect((await pack('POST', 'packs/words/install')).body.applied).toEqual({ templates: 1 })
  expect([await render('sign'), (await shown('sign')).current_version]).toEqual(['Ours', 2])
  await publish('sign', 'Mine')
  expect((await item()).drift).toBe(true)
  const gone = await pack('DELETE', `installed/${installed.body.id}`)
  expect([gone.body.restored, gone.body.left]).toEqual([['templates.greet'], ['templates.sign']])
  expect([await render('greet'), await render('sign')]).toEqual(['Before', 'Mine'])
  await patch({ templates: { sign: null } })
  expect((await whole()).hash).toBe(before.hash)
})
