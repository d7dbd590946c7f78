import { expect, test } from 'vitest'
import { questionOf } from '../../../test/forge.ts'
import { refusalOf, startStudio } from '../../../test/studio.ts'

const studio = startStudio()
const { api, asAdmin, parts } = studio

const question = { name: 'Sky', model: 'gpt-4o-mini', prompt: 'Which colour is the sky?' }

async function save(fields: object = {}, key?: string) {
  const { status, body } = await api('POST', '/snapshots', { ...question, ...fields }, key)
  expect([status, body.error]).toEqual([201, undefined])
  return body
}

async function again(id: string, content: string) {
  parts.upstream.reply({ content })
  const { status, body } = await api('POST', `/snapshots/${id}/run`, {})
  expect(status).toBe(200)
  return body
}

test('a snapshot pins what a model says, and tells how far later answers are from it', async () => {
  parts.upstream.reply({ content: 'The sky is blue by day.' })
  const made = await save({ params: { temperature: 0 } })
  expect(made).toMatchObject({
    id: expect.stringMatching(/^snp_/),
    status: 'unverified',
    baseline_output: 'The sky is blue by day.',
    last_output: null,
    match_score: null,
    history: [],
    match: { method: 'similarity', threshold: 0.8 },
  })
  const same = await again(made.id, 'The sky is blue by day.')
  expect(same).toMatchObject({
    status: 'passing',
    match_score: 1,
    drift: { exact: true, schema: null, similarity: 1 },
  })
  const far = await again(made.id, 'Grey.')
  expect(far).toMatchObject({
    status: 'failing',
    last_output: 'Grey.',
    drift: { exact: false, similarity: 0 },
  })
  expect(far.history).toMatchObject([
    { status: 'failing', score: 0, model: 'gpt-4o-mini' },
    { status: 'passing' },
  ])
  expect(far.history[0].cost_usd).toBeGreaterThan(0)
  expect(parts.upstream.last().body).toMatchObject({
    temperature: 0,
    messages: [{ content: question.prompt }],
  })
  const trace = `/api/observe/traces/${far.history[0].trace_id}`
  await expect
    .poll(async () => (await parts.gateway.api('GET', trace)).body)
    .toMatchObject({ source: 'calibration', tags: { snapshot: made.id } })
  expect((await api('POST', `/snapshots/${made.id}/accept`)).body).toMatchObject({
    status: 'unverified',
    baseline_output: 'Grey.',
  })
  expect((await again(made.id, 'Grey.')).status).toBe('passing')
  const list = await api('GET', '/snapshots')
  expect(list.body).toMatchObject({
    total: 1,
    snapshots: [{ id: made.id, status: 'passing', match_score: 1 }],
  })
  expect(list.body.snapshots[0]).not.toHaveProperty('baseline_output')
  const changed = await api('PUT', `/snapshots/${made.id}`, {
    expected_output: 'Blue.',
    match: { method: 'exact' },
  })
  expect(changed.body).toMatchObject({
    status: 'unverified',
    baseline_output: 'Blue.',
    match: { method: 'exact' },
  })
  expect((await again(made.id, 'Blue. ')).status).toBe('passing')
  expect((await again(made.id, 'blue.')).status).toBe('failing')
  expect((await api('DELETE', `/snapshots/${made.id}`)).body).toEqual({ deleted: true, id: made.id })
  expect((await api('GET', `/snapshots/${made.id}`)).status).toBe(404)
})

test('no answer is no drift', async () => {
  const { id } = await save({ expected_output: 'Blue.' })
  await again(id, 'Blue.')
  parts.upstream.reply({ status: 400, error: { message: 'qxwords' } })
  const { status, body } = await api('POST', `/snapshots/${id}/run`, {})
  expect(status).toBe(200)
  expect(body).toMatchObject({ status: 'passing', match_score: 1, last_output: 'Blue.' })
  expect(body.history[0]).toMatchObject({ status: 'error', score: null, error: { code: 'bad_request' } })
  expect(JSON.stringify(body)).not.toContain('qxwords')
  parts.upstream.reply({ status: 400 })
  expect((await api('POST', '/snapshots', question)).status).toBe(422)
  await api('DELETE', `/snapshots/${id}`)
})

test('an answer keeps its form when other values stand in the same fields, and with a schema when it matches', async () => {
  const own = await save({ expected_output: '{"a": 1, "b": ["x"]}', match: { method: 'schema' } })
  expect((await again(own.id, '```json\n{"b": ["y", "z"], "a": 7}\n```')).status).toBe('passing')
  expect((await again(own.id, '{"a": "1", "b": []}')).status).toBe('failing')
  const schema = {
    type: 'object',
    properties: { a: { type: 'string', pattern: '^(a+)+$' } },
    required: ['a'],
  }
  const given = await save({ expected_output: 'none', match: { method: 'schema', schema } })
  expect((await again(given.id, '{"a": "aaa"}')).drift).toMatchObject({ schema: true, exact: false })
  expect((await again(given.id, JSON.stringify({ a: `${'a'.repeat(19_000)}!` }))).status).toBe('failing')
})

test('a past call is pinned with its answer, by those who may see it', async () => {
  parts.upstream.reply({ content: 'Blue.' })
  const { headers } = await fetch(`${parts.gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${parts.ada.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Sky?' }],
      temperature: 0.3,
    }),
  })
  const trace_id = headers.get('x-trace-id')
  await expect
    .poll(async () => (await parts.gateway.api('GET', `/api/observe/traces/${trace_id}`)).status)
    .toBe(200)
  const { body: made } = await api('POST', '/snapshots', { name: 'Past', trace_id })
  expect(made).toMatchObject({ baseline_output: 'Blue.', model: 'gpt-4o-mini' })
  expect((await again(made.id, 'Blue.')).status).toBe('passing')
  expect(parts.upstream.requests.map(questionOf)).toEqual(['Sky?', 'Sky?'])
  expect(parts.upstream.last().body).toMatchObject({ temperature: 0.3 })
  const other = await api('POST', '/snapshots', { name: 'Past', trace_id }, parts.bob.key)
  expect(refusalOf(other)).toEqual([404, 'trace_id'])
  expect(refusalOf(await api('POST', '/snapshots', { name: 'x', trace_id, prompt: 'x' }))).toEqual([
    400,
    'prompt',
  ])
})

test("what an admin's snapshot asks again of a user's call is data of that user, and goes with it", async () => {
  const { userId, key } = await parts.gateway.signUp('cleo')
  const { gateway, upstream } = parts
  const seen = async (id: string) => (await gateway.api('GET', `/api/observe/traces/${id}`)).status
  upstream.reply({ content: 'Blue.', times: 2 })
  const { headers } = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Sky?' }] }),
  })
  const trace_id = headers.get('x-trace-id')!
  await expect.poll(() => seen(trace_id)).toBe(200)
  const { body: made } = await asAdmin('POST', '/snapshots', { name: 'Past', trace_id })
  const { body: run } = await asAdmin('POST', `/snapshots/${made.id}/run`, {})
  const asked = run.history[0].trace_id
  await expect.poll(() => seen(asked)).toBe(200)
  expect((await gateway.api('DELETE', `/api/auth/users/${userId}/data`)).status).toBe(200)
  expect([await seen(trace_id), await seen(asked)]).toEqual([404, 404])
})

test('a template is pinned in the version that it had', async () => {
  await api('POST', '/templates', { slug: 'sky', content: 'Be {{tone}}.', model: 'gpt-4o' })
  const fields = { name: 'Sky', template_slug: 'sky', variables: { tone: 'kind' }, prompt: 'Sky?' }
  parts.upstream.reply({ content: 'Blue.' })
  const { body: made } = await api('POST', '/snapshots', fields)
  expect(made).toMatchObject({ model: 'gpt-4o', template: { slug: 'sky', version: 1 } })
  await api('POST', '/templates/sky/versions', { content: 'Be rude.' })
  await again(made.id, 'Blue.')
  expect(parts.upstream.last().body).toMatchObject({
    messages: [{ content: 'Be kind.' }, { content: 'Sky?' }],
  })
  const unfilled = await api('POST', '/snapshots', { ...fields, template_version: 1, variables: {} })
  expect(refusalOf(unfilled)).toEqual([400, 'variables'])
})

test('others see what admins share, and nothing else', async () => {
  const own = await save({ expected_output: 'x' })
  expect((await api('GET', `/snapshots/${own.id}`, undefined, parts.bob.key)).status).toBe(404)
  expect((await api('POST', `/snapshots/${own.id}/run`, {}, parts.bob.key)).status).toBe(404)
  const shared = { ...question, expected_output: 'x', visibility: 'shared' }
  expect(refusalOf(await api('POST', '/snapshots', shared))).toEqual([403, 'visibility'])
  const { body } = await asAdmin('POST', '/snapshots', shared)
  expect((await api('GET', `/snapshots/${body.id}`)).body.baseline_output).toBe('x')
  expect((await api('POST', `/snapshots/${body.id}/run`, {})).status).toBe(403)
  expect((await api('POST', `/snapshots/${own.id}/accept`)).status).toBe(409)
})

test.each<[string, object]>([
  ['name', { name: undefined }],
  ['model', { model: undefined }],
  ['prompt', { prompt: undefined }],
  ['messages', { messages: [{ role: 'user', content: 'x' }] }],
  ['template_version', { template_version: 1 }],
  ['match.method', { match: { method: 'guess' } }],
  ['match.threshold', { match: { threshold: 2 } }],
  ['match.schema', { match: { schema: {} } }],
  ['match.schema', { match: { method: 'schema' } }],
  ['match.schema', { match: { method: 'schema', schema: { type: 'nothing' } } }],
  ['match.schema', { match: { method: 'schema', schema: { pattern: '\\pL{0,600}\\pN' } } }],
  ['unknown', { unknown: 1 }],
])('a mistake in %s is refused by its name', async (param, more) => {
  const refused = await api('POST', '/snapshots', { ...question, expected_output: 'x', ...more })
  expect(refusalOf(refused)).toEqual([400, param])
})

test('a question may be given as `input`, a text or messages', async () => {
  const messages = [{ role: 'user', content: 'Which colour is the sea?' }]
  for (const [input, asked] of [
    ['Which colour is the sky?', [{ role: 'user', content: 'Which colour is the sky?' }]],
    [messages, messages],
  ] as const) {
    parts.upstream.reply({ content: 'Blue.' })
    await save({ prompt: undefined, input })
    expect(parts.upstream.last().body).toMatchObject({ messages: asked })
  }
  const twice = await api('POST', '/snapshots', { ...question, input: 'x' })
  expect([twice.status, twice.body.error.param]).toEqual([400, 'input'])
})
