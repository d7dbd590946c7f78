import { expect, test } from 'vitest'
import { mostAtOnce, questionOf } from '../../../test/forge.ts'
import { refusalOf, startStudio } from '../../../test/studio.ts'

const studio = startStudio()
const { api, asAdmin, parts } = studio

const two = [
  { id: 'small', model: 'gpt-4o-mini' },
  { id: 'large', model: 'gpt-4o' },
]
const inputs = (count: number) => Array.from({ length: count }, (_, n) => `Question ${n}`)
const base = (more: object = {}) => ({
  name: 'Which model',
  variants: two,
  dataset: { test_inputs: inputs(3) },
  evaluators: [{ type: 'contains', text: 'yes' }],
  ...more,
})

const run = (body: object, key?: string) => api('POST', '/experiments/run', { wait_ms: 60_000, ...body }, key)

test('an experiment is made, changed, listed, run once, read, shared and deleted', async () => {
  const { status, body: made } = await api('POST', '/experiments', base())
  expect([status, made.error]).toEqual([201, null])
  expect(made).toMatchObject({
    id: expect.stringMatching(/^exp_/),
    status: 'draft',
    type: 'offline',
    results: null,
    user_id: parts.ada.userId,
    visibility: 'private',
    runs_per_input: 1,
    max_cost_usd: 1,
  })
  const at = `/experiments/${made.id}`
  const changed = await api('PUT', at, { description: 'x', runs_per_input: 2 })
  expect(changed.body).toMatchObject({ description: 'x', runs_per_input: 2, variants: [{ id: 'small' }, {}] })
  expect((await api('GET', '/experiments')).body).toMatchObject({ total: 1, experiments: [{ id: made.id }] })
  for (const model of ['gpt-4o-mini', 'gpt-4o'])
    parts.upstream.reply({ model }, { content: model === 'gpt-4o' ? 'Oh yes.' : 'No.', times: 6 })
  const { status: ran, body } = await run({ experiment_id: made.id })
  expect([ran, body.status, body.error]).toEqual([200, 'completed', null])
  expect(body).toMatchObject({ experiment_id: made.id, progress: { done: 12, total: 12 } })
  const [small, large] = body.results.variants
  expect(small).toMatchObject({ id: 'small', runs: 6, errors: 0, eval_score: 0, pass_rate: { mean: 0 } })
  expect(large).toMatchObject({
    id: 'large',
    provider: 'openai',
    eval_score: 1,
    scores: { contains: { mean: 1 } },
  })
  expect(large.outputs[0]).toMatchObject({ input: '1', output: 'Oh yes.' })
  expect(body.results).toMatchObject({
    verdict: 'not_enough_samples',
    winner: null,
    samples: 3,
    confidence: null,
  })
  expect(body.results.win_reason).toContain('Not enough samples')
  expect(body.total_cost_usd).toBeCloseTo(small.cost_usd + large.cost_usd, 9)
  expect(body.total_cost_usd).toBeGreaterThan(0)
  expect((await run({ experiment_id: made.id })).status).toBe(409)
  expect((await api('PUT', at, { seed: 3 })).status).toBe(409)
  expect((await api('PUT', at, { name: 'Renamed' })).body.name).toBe('Renamed')
  expect((await api('POST', `${at}/stop`)).status).toBe(409)
  const { body: answers } = await api('GET', `${at}/answers?limit=5`)
  expect(answers).toMatchObject({
    total: 12,
    has_more: true,
    answers: [{ variant: 'small', input: '1' }, {}, {}, {}, {}],
  })
  expect(await api('GET', at, undefined, parts.bob.key)).toMatchObject({ status: 404 })
  expect((await asAdmin('GET', at)).body.id).toBe(made.id)
  expect((await api('DELETE', at)).body).toEqual({ deleted: true, id: made.id })
  expect((await api('GET', at)).status).toBe(404)
})

test('calls are those of the caller, past caches, with a source of their own that figures leave out', async () => {
  await parts.gateway.module('cachelayer', { enabled: true })
  parts.upstream.reply({ content: 'yes', times: 4 })
  const { body } = await run(base({ dataset: { test_inputs: ['Same'] }, runs_per_input: 2 }))
  await parts.gateway.module('cachelayer', { enabled: false })
  expect(parts.upstream.requests).toHaveLength(4)
  const { body: answers } = await api('GET', `/experiments/${body.id}/answers`)
  const trace = `/api/observe/traces/${answers.answers[0].trace_id}`
  await expect
    .poll(async () => (await parts.gateway.api('GET', trace, undefined, parts.ada.key)).body)
    .toMatchObject({ source: 'calibration', session_id: body.id, tags: { experiment: body.id } })
  const { body: overview } = await parts.gateway.api('GET', '/api/observe/overview')
  expect(overview.total_requests).toBe(0)
})

test('the short form asks one prompt of several models', async () => {
  parts.upstream.reply({ content: 'a cup of tea', times: 4 })
  const models = ['gpt-4o-mini', 'gpt-4o']
  const { status, body } = await run({ prompt: 'Drink?', models, runs: 2, eval: 'contains', eval_arg: 'tea' })
  expect([status, body.results?.variants.map((one: { eval_score: number }) => one.eval_score)]).toEqual([
    200,
    [1, 1],
  ])
  expect(parts.upstream.requests.map(questionOf)).toEqual(Array(4).fill('Drink?'))
})

test('a clear difference is found, and a run that may end early does', async () => {
  parts.upstream.reply({ model: 'gpt-4o-mini' }, { content: 'no', times: 500 })
  parts.upstream.reply({ model: 'gpt-4o' }, { content: 'yes', times: 500 })
  const { body } = await run(
    base({ dataset: { test_inputs: inputs(300) }, stop_rule: { min_samples: 10, early: true } }),
  )
  expect(body.results).toMatchObject({
    verdict: 'winner',
    winner: 'large',
    confidence: 0.95,
    warnings: ['stopped_early'],
    pairs: [{ a: 'small', b: 'large', difference: -1 }],
  })
  expect(body.results.pairs[0].high).toBeLessThan(0)
  expect(body.progress.done).toBeLessThan(200)
  expect(parts.upstream.requests.length).toBe(body.progress.done)
})

test('the failures of a provider are no failures of a model', async () => {
  parts.upstream.reply({ model: 'gpt-4o' }, { status: 400, error: { message: 'qxprompt' }, times: 2 })
  parts.upstream.reply({ model: 'gpt-4o-mini' }, { status: 500, times: 1 })
  parts.upstream.reply({ content: 'yes', times: 10 })
  const { body } = await run(base())
  const [small, large] = body.results.variants
  // What may pass is asked again; what does not is no answer.
  expect(small).toMatchObject({ runs: 3, errors: 0, eval_score: 1 })
  expect(large).toMatchObject({ runs: 3, errors: 2, eval_score: 1 })
  expect(body.results).toMatchObject({ samples: 1, warnings: ['errors'] })
  const { body: answers } = await api('GET', `/experiments/${body.id}/answers`)
  const failed = answers.answers.filter(({ status }: { status: string }) => status === 'error')
  expect(failed[0]).toMatchObject({ score: null, output: null, error: { code: 'bad_request' } })
  expect(JSON.stringify(failed)).not.toContain('qxprompt')
})

test('where nobody answers, the run has failed and says so', async () => {
  parts.upstream.reply({ status: 401, times: 50 })
  expect((await run(base())).body).toMatchObject({ status: 'failed', error: { code: 'no_answers' } })
})

test('a run ends at its limit of money, one call above it at the most, with calls side by side', async () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
  parts.upstream.reply({ content: 'yes', usage, times: 200 })
  const { body } = await run(base({ dataset: { test_inputs: inputs(40) }, max_cost_usd: 0.02 }))
  expect(body).toMatchObject({ status: 'stopped_budget', error: { code: 'budget_exceeded' } })
  const dearest = Math.max(...body.results.variants.map((one: { avg_cost_usd: number }) => one.avg_cost_usd))
  expect(body.total_cost_usd).toBeGreaterThanOrEqual(0.02)
  expect(body.total_cost_usd).toBeLessThan(0.02 + dearest)
  expect(mostAtOnce(parts.upstream.requests)).toBeLessThanOrEqual(5)
})

test('a stopped run closes its connections, and only force deletes one that goes on', async () => {
  parts.upstream.reply({ hang: true, times: 50 })
  const { status, body } = await run(base({ wait_ms: 0 }))
  expect([status, body.results.verdict]).toEqual([202, 'not_enough_samples'])
  const asked = await parts.upstream.received(1)
  expect((await api('DELETE', `/experiments/${body.id}`)).status).toBe(409)
  expect((await api('POST', `/experiments/${body.id}/stop`)).body.status).toBe('cancelled')
  await asked.closed
  expect(asked.aborted).toBe(true)
  const second = await run(base({ wait_ms: 0 }))
  expect((await api('DELETE', `/experiments/${second.body.id}?force=true`)).status).toBe(200)
  expect((await api('GET', `/experiments/${second.body.id}`)).status).toBe(404)
})

test('an admin who cancels the job of a run stops the run', async () => {
  parts.upstream.reply({ hang: true, times: 50 })
  const { body } = await run(base({ wait_ms: 0 }))
  const asked = await parts.upstream.received(1)
  const { jobs } = (await parts.gateway.api('GET', '/api/jobs?kind=studio.run&status=running')).body
  await parts.gateway.api('POST', `/api/jobs/${encodeURIComponent(jobs[0].id)}/cancel`)
  await asked.closed
  await expect.poll(async () => (await api('GET', `/experiments/${body.id}`)).body.status).toBe('cancelled')
})

test('a run goes on under changed settings, and one that takes too long ends', async () => {
  const settle = (config: Record<string, unknown>) =>
    parts.gateway.kernel.registry.change('studio', { config })
  const gate = Promise.withResolvers<void>()
  parts.upstream.reply({ content: 'yes', gate: { opened: gate.promise } })
  const { body } = await run(base({ wait_ms: 0 }))
  await parts.upstream.received(1)
  await settle({ timeout_s: 1 })
  parts.upstream.reply({ content: 'yes', times: 6 })
  gate.resolve()
  const read = async () => (await api('GET', `/experiments/${body.id}`)).body
  await expect.poll(async () => (await read()).status, { timeout: 20_000 }).toBe('completed')
  expect((await read()).progress).toEqual({ done: 6, total: 6 })
  parts.upstream.reset()
  parts.upstream.reply({ hang: true })
  const long = await run(base())
  expect(long.body).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
  await parts.upstream.last().closed
  await settle({})
})

test('variants differ in versions of a template, in what the user says, and in parameters', async () => {
  const template = { slug: 'answer', content: 'Be {{tone}}.', model: 'gpt-4o', params: { temperature: 0.5 } }
  await api('POST', '/templates', template)
  await api('POST', '/templates/answer/versions', { content: 'Be very {{tone}}.' })
  parts.upstream.reply({ content: 'yes', times: 4 })
  const { body } = await run(
    base({
      template_slug: 'answer',
      variants: [{ template_version: 1 }, { prompt: 'Please: {{input}}', params: { temperature: 0 } }],
      dataset: { test_inputs: [{ prompt: 'Hi', variables: { tone: 'kind' } }] },
    }),
  )
  expect(body.results.variants.map((one: { template_version: number }) => one.template_version)).toEqual([
    1, 2,
  ])
  const bodies = parts.upstream.requests.map(({ body }) => body)
  expect(bodies).toContainEqual(
    expect.objectContaining({
      model: 'gpt-4o',
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hi' },
      ],
    }),
  )
  expect(bodies).toContainEqual(
    expect.objectContaining({
      temperature: 0,
      messages: [
        { role: 'system', content: 'Be very kind.' },
        { role: 'user', content: 'Please: Hi' },
      ],
    }),
  )
})

test('a judge scores answers, and what it fails to say leaves them without a score', async () => {
  const judge = { type: 'judge', model: 'gpt-4.1', criteria: 'It is kind.' }
  parts.upstream.reply({ model: 'gpt-4.1' }, { content: '{"score": 9, "reason": "Kind."}' })
  parts.upstream.reply({ model: 'gpt-4.1' }, { content: 'No idea.', times: 20 })
  parts.upstream.reply({ content: 'Hello.', times: 2 })
  const { body } = await run(base({ dataset: { test_inputs: ['Hi'] }, evaluators: [judge] }))
  const scores = body.results.variants.map((one: { eval_score: number }) => one.eval_score)
  expect(scores.toSorted()).toEqual([0.9, null])
  const unscored = body.results.variants.map((one: { unscored: number }) => one.unscored)
  expect(unscored.toSorted()).toEqual([0, 1])
  const asked = parts.upstream.requests.map(questionOf).filter((text) => String(text).includes('"answer"'))
  expect(JSON.parse(asked[0] as string)).toEqual({ question: 'Hi', answer: 'Hello.' })
})

test('past chats of the caller, and of nobody else, are inputs with their answers expected', async () => {
  const chat = async (content: string, key: string) => {
    const { headers } = await fetch(`${parts.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-project': 'past' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
    })
    const trace = `/api/observe/traces/${headers.get('x-trace-id')}`
    await expect.poll(async () => (await parts.gateway.api('GET', trace)).status).toBe(200)
  }
  parts.upstream.reply({ content: 'Blue.', times: 2 })
  await chat('Sky?', parts.ada.key)
  await chat('Secret?', parts.bob.key)
  parts.upstream.reset()
  parts.upstream.reply({ content: 'Blue.', times: 2 })
  const dataset = { traces: { project: 'past' } }
  const { body } = await run(base({ dataset, evaluators: [{ type: 'equals' }] }))
  expect(body.results.variants).toMatchObject([
    { runs: 1, eval_score: 1 },
    { runs: 1, eval_score: 1 },
  ])
  expect(parts.upstream.requests.map(questionOf)).toEqual(['Sky?', 'Sky?'])
  const none = await api('POST', '/experiments', base({ dataset: { traces: { project: 'none' } } }))
  expect(refusalOf(none)).toEqual([400, 'dataset.traces'])
})

test('an ab_test asks each input of one variant, the same for the same seed', async () => {
  const assigned = async (seed: number) => {
    parts.upstream.reply({ content: 'yes', times: 20 })
    const { body } = await run(base({ type: 'ab_test', seed, dataset: { test_inputs: inputs(20) } }))
    const { body: list } = await api('GET', `/experiments/${body.id}/answers?limit=50`)
    return list.answers.map(({ input, variant }: Record<string, string>) => `${input} ${variant}`)
  }
  const first = await assigned(1)
  expect(first).toHaveLength(20)
  expect(await assigned(1)).toEqual(first)
  expect(await assigned(2)).not.toEqual(first)
})

test.each<[string, object]>([
  ['variants', { variants: [two[0]] }],
  ['variants', { variants: undefined }],
  ['variants.1.id', { variants: [two[0], two[0]] }],
  ['variants.0.model', { variants: [{}, two[1]] }],
  ['variants.0.template_version', { variants: [{ ...two[0], template_version: 1 }, two[1]] }],
  ['variants.0.prompt', { variants: [{ ...two[0], prompt: '{{#x}}' }, two[1]] }],
  ['dataset', { dataset: {} }],
  ['dataset.test_inputs.0', { dataset: { test_inputs: [{ expected: 'x' }] } }],
  [
    'dataset.test_inputs.0.messages',
    { dataset: { test_inputs: [{ prompt: 'x', messages: [{ role: 'user', content: 'x' }] }] } },
  ],
  ['dataset.test_inputs.0.variables', { variants: [{ ...two[0], prompt: '{{x}}' }, two[1]] }],
  ['dataset.test_inputs', { dataset: { test_inputs: inputs(600) }, runs_per_input: 10 }],
  ['evaluators', { evaluators: [] }],
  ['evaluators.0', { evaluators: [{ type: 'equals' }] }],
  ['evaluators.0.pattern', { evaluators: [{ type: 'regex', pattern: '(?=x)' }] }],
  ['runs_per_input', { runs_per_input: 11 }],
  ['max_cost_usd', { max_cost_usd: 0 }],
  ['type', { type: 'shadow' }],
  ['stop_rule.confidence', { stop_rule: { confidence: 1 } }],
  ['prompt', { prompt: 'x' }],
  [
    'eval',
    { variants: undefined, dataset: undefined, evaluators: undefined, models: ['a', 'b'], prompt: 'x' },
  ],
  ['unknown', { unknown: 1 }],
])('a mistake in %s is refused by its name', async (param, more) => {
  const refused = await api('POST', '/experiments', base(more))
  expect(refusalOf(refused)).toEqual([400, param])
  expect(refusalOf(await run(base(more)))).toEqual([400, param])
})

test('a template that the caller cannot use is not found', async () => {
  const missing = await api('POST', '/experiments', base({ template_slug: 'absent' }))
  expect(refusalOf(missing)).toEqual([404, 'template_slug'])
})

test('only admins share, and others read what they share', async () => {
  expect(refusalOf(await api('POST', '/experiments', base({ visibility: 'shared' })))).toEqual([
    403,
    'visibility',
  ])
  const { body } = await asAdmin('POST', '/experiments', base({ visibility: 'shared' }))
  expect((await api('GET', `/experiments/${body.id}`)).status).toBe(200)
  expect((await api('GET', '/experiments?visibility=shared')).body).toMatchObject({ total: 1 })
  expect((await api('PUT', `/experiments/${body.id}`, { name: 'x' })).status).toBe(403)
  expect((await run({ experiment_id: body.id })).status).toBe(403)
  expect((await asAdmin('DELETE', `/experiments/${body.id}`)).status).toBe(200)
})
