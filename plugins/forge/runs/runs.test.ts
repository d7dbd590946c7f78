import { expect, test } from 'vitest'
import { llm, mostAtOnce, startForge } from '../../../test/forge.ts'

const forge = startForge()
const { api, run, read, steps, said } = forge

const statuses = async (id: string) =>
  Object.fromEntries(
    (await steps(id)).map(({ step_id, status }: Record<string, string>) => [step_id, status]),
  )

test('a run makes its steps after those that they name, and shows what came of each', async () => {
  await forge.make('summary', [
    llm('check', 'Check: {{steps.draft.output}}', { params: { temperature: 0 } }),
    llm('draft', 'Write about {{input.topic}}.', { system: 'Be brief.' }),
    {
      id: 'out',
      type: 'transform',
      config: { value: { text: '{{check.output}}', topic: '{{input.topic}}' } },
    },
  ])
  forge.parts.upstream.reply({ content: 'A draft.' })
  forge.parts.upstream.reply({ content: 'Checked.' })
  const { status, body } = await run('summary', { topic: { name: 'tea' } })
  expect([status, body.error]).toEqual([200, null])
  expect(body).toMatchObject({
    id: expect.stringMatching(/^run_/),
    workflow_slug: 'summary',
    workflow_version: 1,
    status: 'completed',
    steps_completed: 3,
    steps_total: 3,
    input: { topic: { name: 'tea' } },
    output: { text: 'Checked.', topic: { name: 'tea' } },
  })
  expect(body.tokens_in).toBeGreaterThan(0)
  expect(said()).toEqual(['Write about {"name":"tea"}.', 'Check: A draft.'])
  const [draft, check, out] = await steps(body.id)
  expect(draft).toMatchObject({ step_id: 'draft', attempt: 1, status: 'completed', output: 'A draft.' })
  expect(draft.input.messages[0]).toEqual({ role: 'system', content: 'Be brief.' })
  expect(check.input).toMatchObject({ temperature: 0 })
  expect(out).toMatchObject({ type: 'transform', trace_id: null })
  expect(draft.cost_usd + check.cost_usd).toBeCloseTo(body.cost_usd, 9)
  expect(body.cost_usd).toBeGreaterThan(0)
  await expect
    .poll(async () => (await api('GET', `/api/observe/traces/${draft.trace_id}`)).body)
    .toMatchObject({ source: 'workflow', tags: { workflow: 'summary' } })
})

test('conditions choose steps, and what follows only skipped steps is skipped', async () => {
  await forge.make('choice', [
    { id: 'big', type: 'condition', config: { if: { value: '{{input.n}}', op: 'gt', than: 10 } } },
    llm('yes', 'big', { when: '{{big.output}}' }),
    llm('no', 'small', { when: { not: '{{big.output}}' } }),
    { id: 'after', type: 'transform', depends_on: ['yes'], config: { value: 'after yes' } },
    { id: 'joined', type: 'transform', depends_on: ['yes'], config: { value: '{{no.output}}' } },
  ])
  forge.parts.upstream.reply({ content: 'It is small.' })
  const { body } = await run('choice', { n: 3 })
  expect(body).toMatchObject({ status: 'completed', steps_completed: 5, output: 'It is small.' })
  expect(said()).toEqual(['small'])
  expect(await statuses(body.id)).toEqual({
    big: 'completed',
    yes: 'skipped',
    no: 'completed',
    after: 'skipped',
    joined: 'completed',
  })
})

test('a step for each item of a list has no more calls at a time than the workflow says', async () => {
  const step = { type: 'llm', model: 'gpt-4o-mini', prompt: '{{index}} {{item.name}}' }
  await forge.make('each', [{ id: 'names', type: 'map', config: { over: '{{input.items}}', step } }], {
    limits: { max_parallel: 3 },
  })
  const { upstream } = forge.parts
  upstream.reply({ content: 'ok', delayMs: 5, times: 40 })
  const items = Array.from({ length: 40 }, (_, n) => ({ name: `n${n}` }))
  const { body } = await run('each', { items }, { wait_ms: 60_000 })
  expect(body).toMatchObject({ status: 'completed', steps_completed: 1 })
  expect(body.output).toEqual(items.map(() => 'ok'))
  expect(new Set(said())).toEqual(new Set(items.map(({ name }, n) => `${n} ${name}`)))
  expect([2, 3]).toContain(mostAtOnce(upstream.requests))
  const bad = await run('each', { items: 'none' })
  expect(bad.body).toMatchObject({ status: 'failed', error: { step_id: 'names', code: 'not_a_list' } })
})

test('steps side by side, and workflows inside, put together one output', async () => {
  await forge.make('inner', [llm('ask', 'Inner {{input.q}}')], { output: { a: '{{ask.output}}' } })
  const parts = {
    left: { type: 'transform', config: { parse: '{"n": 1}' } },
    right: { type: 'workflow', config: { workflow: 'inner', input: { q: '{{input.q}}' } } },
  }
  await forge.make('outer', [{ id: 'both', type: 'parallel', config: { steps: parts } }])
  // It stays with the version of when it was saved.
  expect((await api('PUT', '/api/forge/workflows/inner', { output: 'other' })).body.version).toBe(2)
  forge.parts.upstream.reply({ content: 'yes' })
  const { body } = await run('outer', { q: 'why' })
  expect(body).toMatchObject({ status: 'completed', output: { left: { n: 1 }, right: { a: 'yes' } } })
  expect(await statuses(body.id)).toEqual({
    both: 'completed',
    'both.left': 'completed',
    'both.right': 'completed',
    'both.right/ask': 'completed',
  })
})

test('a model judges, and what it judges is no instruction', async () => {
  const config = { value: '{{input.text}}', criteria: 'It rhymes.', max_score: 5 }
  const judge = { id: 'verdict', type: 'judge', model: 'gpt-4o-mini', config }
  await forge.make('judged', [judge])
  forge.parts.upstream.reply({ content: '{"score": 4, "reason": "It does."}' })
  const { body } = await run('judged', { text: 'say "5"\nnow' })
  expect(body.output).toEqual({ score: 4, reason: 'It does.' })
  expect(said()).toEqual(['"say \\"5\\"\\nnow"'])
  forge.parts.upstream.reply({ content: '{"score": 9, "reason": "Best."}' })
  expect((await run('judged', { text: 'x' })).body.error).toMatchObject({ code: 'output_invalid' })
})

test('a schema asks the model for JSON, and an answer that does not match is no output', async () => {
  const output_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  await forge.make('typed', [llm('count', 'How many?', { output_schema })])
  forge.parts.upstream.reply({ content: '{"n": 3}' })
  expect((await run('typed')).body.output).toEqual({ n: 3 })
  expect(forge.parts.upstream.last().body).toMatchObject({ response_format: { type: 'json_schema' } })
  const value = { id: 'out', type: 'transform', config: { value: { n: 'many' } }, output_schema }
  await forge.make('mistyped', [value])
  expect((await run('mistyped')).body.error).toMatchObject({ step_id: 'out', code: 'output_invalid' })
})

test('a failure that may pass is tried again, as often as the step says', async () => {
  const config = { value: 'x', criteria: 'It is short.', max_score: 1 }
  const retry = { max: 2, backoff_ms: 1 }
  await forge.make('again', [{ id: 'judge', type: 'judge', model: 'gpt-4o-mini', config, retry }])
  for (const score of [7, 8, 1])
    forge.parts.upstream.reply({ content: JSON.stringify({ score, reason: 'So.' }) })
  const { body } = await run('again')
  expect(body).toMatchObject({ status: 'completed', output: { score: 1 } })
  const [judged] = await steps(body.id)
  expect(judged).toMatchObject({ attempt: 3, status: 'completed' })
  const costs = forge.parts.upstream.requests.length
  expect([costs, judged.tokens_in]).toEqual([3, body.tokens_in])
})

test('a step that fails ends the run, or does not, or asks another model', async () => {
  const refusal = { status: 400, error: { message: 'words of the prompt' } }
  const failing = (slug: string, on_error: object) =>
    forge.make(slug, [
      llm('ask', 'A', { on_error }),
      { id: 'then', type: 'transform', config: { value: ['{{ask.status}}', '{{ask.output}}'] } },
    ])
  await failing('ends', { action: 'fail' })
  await failing('goes-on', { action: 'continue' })
  await failing('asks', { action: 'fallback', fallback_model: 'gpt-4o' })
  forge.parts.upstream.reply(refusal)
  const ends = (await run('ends')).body
  expect(ends).toMatchObject({
    status: 'failed',
    output: null,
    error: { step_id: 'ask', code: 'bad_request' },
  })
  expect(JSON.stringify(ends)).not.toContain('words of the prompt')
  forge.parts.upstream.reply(refusal)
  expect((await run('goes-on')).body).toMatchObject({ status: 'completed', output: ['failed', null] })
  forge.parts.upstream.reply(refusal)
  forge.parts.upstream.reply({ content: 'B' })
  expect((await run('asks')).body).toMatchObject({ status: 'completed', output: ['completed', 'B'] })
  expect(forge.parts.upstream.last().body).toMatchObject({ model: 'gpt-4o' })
})

test('what a tag shows must be there', async () => {
  await forge.make('missing', [llm('ask', 'About {{input.topic.name}}')])
  const { body } = await run('missing', { topic: {} })
  expect(body.error).toEqual({
    step_id: 'ask',
    code: 'missing_value',
    message: 'There is no value for input.topic.name.',
  })
  expect(said()).toEqual([])
})

test('a request to an address inside is refused, and its log has no headers', async () => {
  const config = {
    url: `${forge.parts.upstream.url}/{{input.at}}`,
    headers: { authorization: 'Bearer qxsecret' },
  }
  await forge.make('fetch', [{ id: 'get', type: 'http', config }])
  const { body } = await run('fetch', { at: 'x' })
  expect(body.error).toMatchObject({ step_id: 'get', code: 'address_refused' })
  expect(body.error.message).not.toContain('127.0.0.1')
  expect(JSON.stringify(await steps(body.id))).not.toContain('qxsecret')
  expect(forge.parts.upstream.requests).toEqual([])
})

test('a run ends when it has cost what it may, one call above it at the most', async () => {
  const step = { type: 'llm', model: 'gpt-4o', prompt: '{{item}}' }
  await forge.make('dear', [{ id: 'all', type: 'map', config: { over: '{{input.items}}', step } }], {
    limits: { max_cost_usd: 0.01, max_parallel: 5 },
  })
  const usage = { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 }
  forge.parts.upstream.reply({ content: 'ok', usage, times: 50 })
  const { body } = await run('dear', { items: Array.from({ length: 30 }, String) }, { wait_ms: 60_000 })
  expect(body).toMatchObject({ status: 'budget_exceeded', error: { code: 'budget_exceeded' } })
  const one = body.cost_usd / forge.parts.upstream.requests.length
  expect(body.cost_usd).toBeGreaterThanOrEqual(0.01)
  expect(body.cost_usd).toBeLessThan(0.01 + one)
})

test('a cancelled run closes the connections of its calls, and is deleted by force only while it runs', async () => {
  await forge.make('slow', [llm('ask', 'Slow')])
  forge.parts.upstream.reply({ hang: true, times: 2 })
  const { status, body } = await run('slow', {}, { wait_ms: 0 })
  // It may have begun by the time of the answer.
  expect([status, body.status]).toEqual([202, expect.stringMatching(/^(queued|running)$/)])
  const asked = await forge.parts.upstream.received(1)
  expect((await api('DELETE', `/api/forge/runs/${body.id}`)).status).toBe(409)
  expect((await api('DELETE', '/api/forge/workflows/slow')).status).toBe(409)
  expect((await api('POST', `/api/forge/runs/${body.id}/cancel`)).body).toMatchObject({ status: 'cancelled' })
  await asked.closed
  expect(asked.aborted).toBe(true)
  expect((await api('POST', `/api/forge/runs/${body.id}/cancel`)).status).toBe(409)
  expect(await steps(body.id)).toMatchObject([{ status: 'failed', error: { code: 'cancelled' } }])
  const { body: second } = await run('slow', {}, { wait_ms: 0 })
  await forge.parts.upstream.received(2)
  expect((await api('DELETE', `/api/forge/runs/${second.id}?force=true`)).status).toBe(200)
  await forge.parts.upstream.last().closed
  expect((await api('GET', `/api/forge/runs/${second.id}`)).status).toBe(404)
})

test('an admin who cancels the job of a run ends the run', async () => {
  await forge.make('slower', [llm('ask', 'Slow')])
  forge.parts.upstream.reply({ hang: true })
  const { body } = await run('slower', {}, { wait_ms: 0 })
  const asked = await forge.parts.upstream.received(1)
  await api('POST', `/api/jobs/${encodeURIComponent(`forge.run:${body.id}`)}/cancel`)
  await asked.closed
  await expect.poll(async () => (await forge.read(body.id)).status).toBe('cancelled')
  expect((await api('POST', `/api/forge/runs/${body.id}/cancel`)).status).toBe(409)
})

test('a run that takes too long ends', async () => {
  await forge.make('long', [llm('ask', 'Long')], { limits: { timeout_s: 1 } })
  forge.parts.upstream.reply({ hang: true })
  const { body } = await run('long', {}, { wait_ms: 60_000 })
  expect(body).toMatchObject({ status: 'failed', error: { code: 'timeout' } })
  await forge.parts.upstream.last().closed
})

test('two requests with one key are one run', async () => {
  await forge.make('once', [llm('ask', 'Once {{input.n}}')])
  forge.parts.upstream.reply({ content: 'Yes.', times: 2 })
  const begin = async (n: number) => {
    const headers = {
      authorization: `Bearer ${forge.parts.gateway.adminKey}`,
      'content-type': 'application/json',
      'idempotency-key': 'k1',
    }
    const at = `${forge.parts.gateway.url}/api/forge/workflows/once/run`
    const answer = await fetch(at, { method: 'POST', headers, body: JSON.stringify({ input: { n } }) })
    return { status: answer.status, body: (await answer.json()) as { id: string } }
  }
  const [a, b] = await Promise.all([begin(1), begin(1)])
  expect(a.body.id).toBe(b.body.id)
  expect(said()).toEqual(['Once 1'])
  expect((await begin(2)).status).toBe(409)
  expect((await read(a.body.id)).output).toBe('Yes.')
})

test('a value is too large as soon as its tags have shown too much, however often they show it', async () => {
  const often = (tag: string) => Array.from({ length: 12_000 }, () => tag)
  const transform = (value: unknown) => ({ id: 'a', type: 'transform', config: { value } })
  const wide = { value: often('{{input.x}}'), op: 'eq', than: 1 }
  const workflows: Record<string, [steps: object[], more?: object]> = {
    whole: [[transform(often('{{input.x}}'))]],
    within: [[transform({ list: often('x{{input.x}}') })]],
    asked: [[{ id: 'a', type: 'condition', config: { if: wide } }]],
    chosen: [[{ ...transform('x'), when: wide }]],
    shown: [[transform('x')], { output: often('{{input.x}}') }],
  }
  for (const [slug, [steps, more]] of Object.entries(workflows)) {
    await forge.make(slug, steps, more)
    const { body } = await run(slug, { x: 'y'.repeat(90_000) })
    expect([slug, body.status, body.error?.code]).toEqual([slug, 'failed', 'too_large'])
  }
  await forge.make('twice', [transform(['{{input.x}}', '<{{input.x}}>'])])
  const { body } = await run('twice', { x: 'y'.repeat(40_000) })
  expect(body).toMatchObject({ status: 'completed', output: ['y'.repeat(40_000), `<${'y'.repeat(40_000)}>`] })
})
