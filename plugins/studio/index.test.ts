import { hash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'

const path = '/api/studio/templates'

let gateway: TestGateway
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }

beforeAll(async () => {
  gateway = await startGateway()
  ada = await gateway.signUp('ada')
  bob = await gateway.signUp('bob')
})

afterEach(async () => {
  const { body } = await gateway.api('GET', `${path}?limit=500`)
  for (const { slug, user_id } of body.templates)
    await gateway.api('DELETE', `${path}/${slug}${user_id ? `?user_id=${user_id}` : ''}`)
})

afterAll(() => gateway.close())

const api = (method: string, at: string, body?: unknown, key?: string) =>
  gateway.api(method, path + at, body, key)

async function make(slug: string, more: object = {}, key?: string) {
  const { status, body } = await api('POST', '', { slug, content: 'Hello {{name}}!', ...more }, key)
  expect([status, body.error]).toEqual([201, undefined])
  return body
}

const refusal = ({
  status,
  body,
}: {
  status: number
  body: { error?: { param?: string; message: string } }
}) => [status, body.error?.param, body.error?.message]

test('a template is made, shown, listed, changed and deleted', async () => {
  const made = await make('greet', {
    name: 'Greeting',
    tags: ['kind'],
    model: 'gpt-4o',
    params: { temperature: 0 },
  })
  expect(made).toMatchObject({
    id: expect.stringMatching(/^tpl_/),
    slug: 'greet',
    user_id: null,
    visibility: 'private',
    type: 'text',
    name: 'Greeting',
    description: null,
    status: 'active',
    labels: {},
    current_version: 1,
    content: 'Hello {{name}}!',
    variables: [{ name: 'name', type: null, required: true }],
    model: 'gpt-4o',
    params: { temperature: 0 },
    tools: [],
    response_format: null,
  })
  expect((await api('GET', '/greet')).body).toEqual(made)
  const { body: list } = await api('GET', '?tag=kind')
  expect(list).toMatchObject({ total: 1, templates: [{ slug: 'greet' }] })
  expect(list.templates[0]).not.toHaveProperty('content')
  const { body: changed } = await api('PUT', '/greet', {
    name: null,
    description: 'Greets.',
    labels: { production: 1 },
  })
  expect(changed).toMatchObject({
    name: null,
    description: 'Greets.',
    labels: { production: 1 },
    tags: ['kind'],
  })
  expect((await gateway.api('GET', '/api/studio/status')).body).toEqual({
    status: 'healthy',
    templates: { total: 1, versions: 1, private: 1, shared: 0, draft: 0, active: 1, archived: 0 },
    experiments: { total: 0 },
    benchmarks: { total: 0 },
    snapshots: { total: 0 },
  })
  expect((await api('DELETE', '/greet')).body).toEqual({ deleted: true, id: made.id, versions: 1 })
  expect((await api('GET', '/greet')).status).toBe(404)
  expect((await api('GET', '/greet/versions/1')).status).toBe(404)
})

test('versions are numbered without gaps, keep what they say, and take over what is left out', async () => {
  await make('greet', { model: 'gpt-4o', variables: [{ name: 'name', default: 'you', type: 'string' }] })
  const note = { change_note: 'Warmer.', labels: ['production'] }
  const second = await api('POST', '/greet/versions', { content: 'Dear {{name}} of {{town}}', ...note })
  expect(second.status).toBe(201)
  expect(second.body).toMatchObject({
    version: 2,
    parent_version: 1,
    change_note: 'Warmer.',
    author: expect.any(String),
    sha256: hash('sha256', 'Dear {{name}} of {{town}}'),
    labels: ['production'],
    model: 'gpt-4o',
    variables: [
      { name: 'name', type: 'string', required: false, default: 'you' },
      { name: 'town', type: null, required: true },
    ],
  })
  const third = await api('POST', '/greet/versions', {
    content: 'Dear {{town}}',
    model: null,
    labels: ['production'],
  })
  expect(third.body).toMatchObject({
    version: 3,
    model: null,
    change_note: null,
    variables: [{ name: 'town' }],
  })
  const { body: list } = await api('GET', '/greet/versions')
  expect(list.versions).toMatchObject([
    { version: 3, labels: ['production'] },
    { version: 2, labels: [] },
    { version: 1, parent_version: null },
  ])
  expect((await api('GET', '/greet/versions/1')).body.content).toBe('Hello {{name}}!')
  expect((await api('GET', '/greet')).body).toMatchObject({ current_version: 3, content: 'Dear {{town}}' })
  expect(refusal(await api('GET', '/greet/versions/4'))).toEqual([404, 'version', expect.any(String)])
  const late = await api('POST', '/greet/versions', { content: 'x', parent_version: 2 })
  expect(refusal(late)).toEqual([409, 'parent_version', 'Version 3 is the newest one.'])
})

test('of versions that are published at the same moment each has a number of its own', async () => {
  await make('greet')
  const texts = Array.from({ length: 8 }, (_, n) => `Text ${n}`)
  const sent = await Promise.all(texts.map((content) => api('POST', '/greet/versions', { content })))
  const published = sent.filter(({ status }) => status === 201).map(({ body }) => body.version)
  expect(sent.every(({ status }) => status === 201 || status === 409)).toBe(true)
  const { body } = await api('GET', '/greet/versions')
  expect(body.versions.map(({ version }: { version: number }) => version).toReversed()).toEqual(
    Array.from({ length: published.length + 1 }, (_, n) => n + 1),
  )
})

test('a template is filled without a call, in the version that is asked for', async () => {
  await make('greet', {
    content: [
      { role: 'system', content: 'Be kind to {{name}}.' },
      { role: 'user', content: 'Hi{{#n}} {{.}}{{/n}}' },
    ],
  })
  await api('POST', '/greet/versions', {
    content: [{ role: 'user', content: 'New {{name}}' }],
    labels: ['staging'],
  })
  const render = (body: object) => api('POST', '/greet/render', body)
  expect((await render({ version: 1, variables: { name: '<Ada>', n: [1, 2] } })).body).toEqual({
    slug: 'greet',
    version: 1,
    messages: [
      { role: 'system', content: 'Be kind to <Ada>.' },
      { role: 'user', content: 'Hi 1 2' },
    ],
  })
  const expected = { version: 2, messages: [{ role: 'user', content: 'New a' }] }
  expect((await render({ variables: { name: 'a' } })).body).toMatchObject(expected)
  expect((await render({ label: 'staging', variables: { name: 'a' } })).body).toMatchObject(expected)
  expect(await render({ version: 1 }).then(refusal)).toEqual([
    400,
    'variables',
    'The template needs values for name.',
  ])
  expect(await render({ label: 'none' }).then(refusal)).toEqual([404, 'label', expect.any(String)])
  expect(await render({ label: 'staging', version: 2 }).then(refusal)).toEqual([
    400,
    'label',
    expect.any(String),
  ])
  expect(await render({ variables: { name: 'a', nam: 1 } }).then(refusal)).toEqual([
    400,
    'variables',
    expect.stringContaining('nam'),
  ])
})

describe('what cannot be published is refused with its field', () => {
  test.each([
    [{ content: '{{#a}}\n{{/b}}' }, 'content', 'content: line 2, column 1: unclosed section "a".'],
    [
      { content: [{ role: 'user', content: 'a{{' }] },
      'content.0.content',
      expect.stringContaining('column 4'),
    ],
    [{ content: '{{> none}}' }, 'content', expect.stringContaining('no template none')],
    [{ content: '\ud800' }, 'content', expect.any(String)],
    [{ content: 'x', type: 'chat' }, 'type', expect.any(String)],
    [
      { content: 'x', variables: [{ name: 'y' }] },
      'variables',
      expect.stringContaining('no tag has the name y'),
    ],
    [{ variables: [{ name: 'name' }, { name: 'name' }] }, 'variables', expect.stringContaining('twice')],
    [
      { variables: [{ name: 'name', type: 'number', default: 'x' }] },
      'variables',
      expect.stringContaining('no number'),
    ],
    [{ params: { messages: [] } }, 'params', expect.stringContaining('may hold anything but model')],
    [{ model: 'template:other' }, 'model', expect.any(String)],
    [{ slug: 'A b' }, 'slug', expect.any(String)],
    [{ prompt: 'x' }, 'prompt', expect.any(String)],
  ])('%j', async (fields, param, message) => {
    const sent = await api('POST', '', { slug: 'x', content: '{{name}}', ...fields })
    expect(refusal(sent)).toEqual([400, param, message])
  })
})

test('a version says what the linter finds in it, with its partials in place', async () => {
  await make('brief', { content: 'Be concise.' })
  await make('both', { content: '{{> brief}} Explain {{topic}} in great detail.' })
  const lint = async (slug: string) => (await api('GET', `/${slug}/versions/1`)).body.lint
  expect(await lint('brief')).toEqual([])
  expect(await lint('both')).toEqual([
    { rule: 'contradiction', at: 'messages.0', message: expect.any(String) },
  ])
})

describe('partials', () => {
  test('are those of the moment of publishing, so that a version never changes', async () => {
    await make('foot', { content: 'Yours, {{name}}' })
    await make('letter', { content: 'Dear {{you}},\n{{> foot}}' })
    await api('POST', '/foot/versions', { content: 'Bye' })
    const { body } = await api('POST', '/letter/render', { variables: { you: 'Bob', name: 'Ada' } })
    expect(body.messages[0].content).toBe('Dear Bob,\nYours, Ada')
    expect((await api('GET', '/letter/versions/1')).body).toMatchObject({
      content: 'Dear {{you}},\n{{> foot}}',
      partials: [{ slug: 'foot', version: 1 }],
      variables: [{ name: 'you' }, { name: 'name' }],
    })
    await api('DELETE', '/foot')
    expect((await api('POST', '/letter/render', { variables: { you: 'Bob', name: 'Ada' } })).status).toBe(200)
  })

  test('form no circle, and are not too many inside each other', async () => {
    await make('p0', { content: 'x' })
    for (let n = 1; n <= 5; n++) await make(`p${n}`, { content: `{{> p${n - 1}}}` })
    const deep = await api('POST', '', { slug: 'p6', content: '{{> p5}}' })
    expect(refusal(deep)).toEqual([
      400,
      'content',
      'body content: more than 5 partials are inside each other.',
    ])
    const circle = await api('POST', '/p0/versions', { content: '{{> p3}}' })
    expect(refusal(circle)).toEqual([
      400,
      'content',
      'body content: the partial p3 leads back to this template.',
    ])
    const itself = await api('POST', '/p0/versions', { content: '{{> p0}}' })
    expect(refusal(itself)).toEqual([
      400,
      'content',
      'body content: the partial p0 leads back to this template.',
    ])
  })
})

describe('of users', () => {
  test('private ones are theirs and the admins, and a slug is theirs before it is a shared one', async () => {
    await make('greet', { content: 'shared', visibility: 'shared' })
    const seen = (key?: string, query = '') =>
      api('GET', `/greet${query}`, undefined, key).then(({ status, body }) => body.content ?? status)
    expect([await seen(ada.key), await seen(bob.key)]).toEqual(['shared', 'shared'])
    await make('greet', { content: "ada's" }, ada.key)
    expect([await seen(ada.key), await seen(bob.key), await seen()]).toEqual(["ada's", 'shared', 'shared'])
    const owner = `?user_id=${ada.userId}`
    expect([await seen(undefined, owner), await seen(bob.key, owner)]).toEqual(["ada's", 403])
    await make('mine', {}, ada.key)
    for (const [method, at, body] of [
      ['GET', '/mine'],
      ['GET', '/mine/versions'],
      ['GET', '/mine/versions/1'],
      ['PUT', '/mine', {}],
      ['DELETE', '/mine'],
      ['POST', '/mine/versions', { content: 'x' }],
      ['POST', '/mine/render', {}],
    ] as const)
      expect([method, at, (await api(method, at, body, bob.key)).status]).toEqual([method, at, 404])
    expect((await api('GET', '', undefined, bob.key)).body.total).toBe(1)
    expect((await api('GET', '', undefined, ada.key)).body.total).toBe(3)
  })

  test('shared ones are the admins, drafts are not shown, and users change neither', async () => {
    const shared = await api('POST', '', { slug: 'x', content: 'x', visibility: 'shared' }, ada.key)
    expect(refusal(shared)).toEqual([403, 'visibility', expect.any(String)])
    await make('greet', { visibility: 'shared' })
    expect((await api('POST', '/greet/versions', { content: 'x' }, ada.key)).status).toBe(403)
    expect((await api('PUT', '/greet', { status: 'draft' }, ada.key)).status).toBe(403)
    expect((await api('DELETE', '/greet', undefined, ada.key)).status).toBe(403)
    await api('PUT', '/greet', { status: 'draft' })
    expect((await api('GET', '/greet', undefined, ada.key)).status).toBe(404)
    await make('mine', {}, ada.key)
    const made = await api('PUT', `/mine?user_id=${ada.userId}`, { visibility: 'shared' })
    expect(refusal(made)).toEqual([403, 'visibility', expect.any(String)])
  })

  test('are as many as fit, a slug is taken once, and they go with the user', async () => {
    const cleo = await gateway.signUp('cleo')
    await make('t0', {}, cleo.key)
    expect(refusal(await api('POST', '', { slug: 't0', content: 'x' }, cleo.key))).toEqual([
      409,
      'slug',
      expect.any(String),
    ])
    for (let n = 1; n < 100; n++) await make(`t${n}`, {}, cleo.key)
    const full = await api('POST', '', { slug: 'more', content: 'x' }, cleo.key)
    expect(refusal(full)).toEqual([409, 'slug', expect.stringContaining('100 templates')])
    await make('of-ada', {}, ada.key)
    const kept = async () => (await api('GET', `?user_id=${cleo.userId}`)).body.total
    expect(await kept()).toBe(100)
    expect((await gateway.api('DELETE', `/api/auth/users/${cleo.userId}`)).status).toBe(200)
    expect(await kept()).toBe(0)
    expect((await api('GET', `?user_id=${ada.userId}`)).body.total).toBe(1)
  })
})
