import { expect, test } from 'vitest'
import { mostAtOnce, questionOf } from '../../../test/forge.ts'
import { refusalOf, startStudio } from '../../../test/studio.ts'

const studio = startStudio()
const { api, asAdmin, parts } = studio

const cases = [
  { name: 'capital', prompt: 'Capital of Peru?', expected: 'Lima', assertions: [{ type: 'equals' }] },
  { name: 'year', prompt: 'Which year?', eval: 'regex', eval_arg: '^\\d{4}$' },
  {
    name: 'form',
    prompt: 'As JSON.',
    assertions: [
      { type: 'json_schema', schema: { type: 'object', required: ['a'] } },
      { type: 'contains', text: 'a' },
    ],
  },
]
const suite = (more: object = {}) => ({
  name: 'Facts',
  models: ['gpt-4o-mini', 'gpt-4o'],
  prompts: cases,
  ...more,
})

async function make(more: object = {}, key?: string) {
  const { status, body } = await api('POST', '/benchmarks', suite(more), key)
  expect([status, body.error]).toEqual([201, undefined])
  return body
}

const run = (benchmark_id: string, more: object = {}, key?: string) =>
  api('POST', '/benchmarks/run', { benchmark_id, wait_ms: 60_000, ...more }, key)

/** The good model answers all cases well, and the other one only the first. */
function answer() {
  for (const [text, content] of [
    ['Peru', 'Lima'],
    ['year', '2026'],
    ['JSON', '{"a": 1}'],
  ] as const) {
    const isAsked = (model: string) => (request: { body: unknown }) =>
      JSON.stringify(request.body).includes(text) && (request.body as { model: string }).model === model
    parts.upstream.reply(isAsked('gpt-4o'), { content, times: 50 })
    parts.upstream.reply(isAsked('gpt-4o-mini'), { content: text === 'Peru' ? content : 'no', times: 50 })
  }
}

test('a benchmark is made, changed, listed, run, read and deleted with its runs', async () => {
  const made = await make()
  expect(made).toMatchObject({
    id: expect.stringMatching(/^bm_/),
    runs: 1,
    max_cost_usd: 1,
    user_id: parts.ada.userId,
  })
  const at = `/benchmarks/${made.id}`
  expect((await api('PUT', at, { description: 'x', runs: 2 })).body).toMatchObject({
    description: 'x',
    runs: 2,
  })
  answer()
  const { status, body } = await run(made.id)
  expect([status, body.status, body.error]).toEqual([200, 'completed', null])
  expect(body).toMatchObject({
    benchmark_id: made.id,
    run_id: expect.stringMatching(/^run_/),
    progress: { done: 12, total: 12 },
    win_counts: { 'gpt-4o': 2, 'gpt-4o-mini': 0 },
    overall_winner: null,
    leaderboard: [
      { model: 'gpt-4o', score: 1, pass_rate: 1, runs: 6, errors: 0 },
      { model: 'gpt-4o-mini', pass_rate: 1 / 3 },
    ],
    prompts: [
      { name: 'capital', winner: null, results: [{ score: 1, passed: 2 }, { score: 1 }] },
      { name: 'year', winner: 'gpt-4o' },
      {
        name: 'form',
        winner: 'gpt-4o',
        results: [{ model: 'gpt-4o-mini', score: 0, passed: 0 }, { score: 1 }],
      },
    ],
  })
  const [best] = body.leaderboard
  expect(best.cost_usd).toBeGreaterThan(0)
  expect(best.latency_ms).toBeGreaterThan(0)
  expect(body.total_cost_usd).toBeCloseTo(best.cost_usd + body.leaderboard[1].cost_usd, 9)
  answer()
  const second = await run(made.id, { models: ['gpt-4o'] })
  expect(second.body.leaderboard).toMatchObject([{ model: 'gpt-4o', score: 1 }])
  const { body: list } = await api('GET', `${at}/runs`)
  expect(list).toMatchObject({ total: 2, runs: [{ run_id: second.body.run_id }, { run_id: body.run_id }] })
  expect((await api('GET', `${at}/runs/${body.run_id}`)).body).toEqual(body)
  const { body: answers } = await api('GET', `${at}/runs/${body.run_id}/answers?limit=1`)
  expect(answers).toMatchObject({
    total: 12,
    answers: [{ input: 'capital', variant: 'gpt-4o-mini', output: 'Lima' }],
  })
  const trace = `/api/observe/traces/${body.prompts[0].results[0].output_trace_id}`
  await expect
    .poll(async () => (await parts.gateway.api('GET', trace)).body)
    .toMatchObject({ source: 'calibration', tags: { benchmark: made.id }, session_id: body.run_id })
  expect((await api('DELETE', `${at}/runs/${second.body.run_id}`)).status).toBe(200)
  expect((await api('GET', '/status')).body).toMatchObject({ benchmarks: { total: 1 } })
  expect((await api('DELETE', at)).body).toEqual({ deleted: true, id: made.id })
  expect((await api('GET', at)).status).toBe(404)
  expect((await api('GET', `${at}/runs/${body.run_id}`)).status).toBe(404)
})

test('a judge with a rubric judges the cases that ask for it, and weights count in the score', async () => {
  const judge = { model: 'gpt-4.1', rubric: 'It is kind.' }
  const made = await make({
    models: ['gpt-4o'],
    judge,
    prompts: [
      { name: 'kind', prompt: 'Greet.', eval: 'judge' },
      { name: 'fact', prompt: 'Two?', eval: 'equals', eval_arg: '2', weight: 3 },
    ],
  })
  parts.upstream.reply({ model: 'gpt-4.1' }, { content: '{"score": 8, "reason": "Kind."}' })
  parts.upstream.reply({ content: 'Hello', times: 2 })
  const { body } = await run(made.id)
  expect(body.prompts[0].results).toMatchObject([{ score: 0.8, passed: 1 }])
  expect(body.leaderboard).toMatchObject([{ score: 0.2, ci: null, pass_rate: 0.5 }])
  expect(parts.upstream.requests).toHaveLength(3)
})

test('the failures of a provider count for nobody', async () => {
  const made = await make({ prompts: cases.slice(0, 1) })
  parts.upstream.reply({ model: 'gpt-4o' }, { status: 400, times: 5 })
  parts.upstream.reply({ model: 'gpt-4o-mini' }, { content: 'Lima' })
  const { body } = await run(made.id)
  expect(body.leaderboard).toMatchObject([
    { model: 'gpt-4o-mini', score: 1, pass_rate: 1 },
    { model: 'gpt-4o', score: null, pass_rate: null, errors: 1 },
  ])
})

test('many runs keep to their limits of money and of calls at a time, and a stopped one closes its connections', async () => {
  const prompts = Array.from({ length: 40 }, (_, n) => ({ name: `${n}`, prompt: `${n}`, eval: 'json' }))
  const made = await make({ prompts, max_cost_usd: 0.02, models: ['gpt-4o'] })
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
  parts.upstream.reply({ content: 'x', usage, times: 200 })
  const ended = await Promise.all([run(made.id), run(made.id), run(made.id)])
  for (const { body } of ended) {
    const one = body.total_cost_usd / body.progress.done
    expect([body.status, body.error.code]).toEqual(['stopped_budget', 'budget_exceeded'])
    expect(body.total_cost_usd).toBeGreaterThanOrEqual(0.02)
    expect(body.total_cost_usd).toBeLessThan(0.02 + one)
  }
  expect(mostAtOnce(parts.upstream.requests)).toBeLessThanOrEqual(10)
  parts.upstream.reset()
  parts.upstream.reply({ hang: true, times: 50 })
  const { status, body } = await run(made.id, { wait_ms: 0 })
  expect(status).toBe(202)
  const asked = await parts.upstream.received(1)
  expect((await api('DELETE', `/benchmarks/${made.id}`)).status).toBe(409)
  const at = `/benchmarks/${made.id}/runs/${body.run_id}`
  expect((await api('DELETE', at)).status).toBe(409)
  expect((await api('POST', `${at}/stop`)).body.status).toBe('cancelled')
  await asked.closed
  expect(asked.aborted).toBe(true)
  expect((await api('POST', `${at}/stop`)).status).toBe(409)
})

test('a shared benchmark is run by others on their own account, who see their own runs only', async () => {
  expect(refusalOf(await api('POST', '/benchmarks', suite({ visibility: 'shared' })))).toEqual([
    403,
    'visibility',
  ])
  const { body: made } = await asAdmin('POST', '/benchmarks', suite({ visibility: 'shared' }))
  answer()
  const { body } = await run(made.id)
  expect(body).toMatchObject({ status: 'completed', user_id: parts.ada.userId })
  const at = `/benchmarks/${made.id}`
  expect((await api('GET', `${at}/runs`, undefined, parts.bob.key)).body.total).toBe(0)
  expect((await api('GET', `${at}/runs/${body.run_id}`, undefined, parts.bob.key)).status).toBe(404)
  expect((await asAdmin('GET', `${at}/runs`)).body.total).toBe(1)
  expect((await api('PUT', at, { runs: 2 })).status).toBe(403)
  expect((await api('DELETE', at)).status).toBe(403)
  expect((await api('GET', '/benchmarks?visibility=shared')).body).toMatchObject({ total: 1 })
  const { body: own } = await api('POST', '/benchmarks', suite(), parts.bob.key)
  expect((await run(own.id)).status).toBe(404)
  expect(parts.upstream.requests.map(questionOf)).toHaveLength(6)
})

test.each<[string, object]>([
  ['name', { name: undefined }],
  ['models', { models: [] }],
  ['models.1', { models: ['a', 'a'] }],
  ['prompts', { prompts: [] }],
  ['prompts.0', { prompts: [{ name: 'x', eval: 'json' }] }],
  ['prompts.0.assertions', { prompts: [{ name: 'x', prompt: 'x' }] }],
  ['prompts.0.assertions', { prompts: [{ ...cases[0], eval: 'json' }] }],
  ['prompts.0.assertions.0', { prompts: [{ ...cases[0], expected: undefined }] }],
  ['prompts.1.eval', { prompts: [cases[0], { ...cases[1], eval: 'guess' }] }],
  ['prompts.1.eval_arg', { prompts: [cases[0], { ...cases[1], eval_arg: '(?=x)' }] }],
  ['prompts.0.eval_arg', { prompts: [{ name: 'x', prompt: 'x', eval: 'judge', eval_arg: 'Kind.' }] }],
  ['runs', { runs: 11 }],
  ['judge.rubric', { judge: { model: 'm' } }],
  ['max_cost_usd', { max_cost_usd: -1 }],
  ['unknown', { unknown: 1 }],
])('a mistake in %s is refused by its name', async (param, more) => {
  expect(refusalOf(await api('POST', '/benchmarks', suite(more)))).toEqual([400, param])
})
