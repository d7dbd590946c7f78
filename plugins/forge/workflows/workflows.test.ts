import { describe, expect, test } from 'vitest'
import { llm, startForge } from '../../../test/forge.ts'

const forge = startForge()
const { api, make, save } = forge
const path = '/api/forge/workflows'

const refusal = ({
  status,
  body,
}: {
  status: number
  body: { error?: { param?: string; message: string } }
}) => [status, body.error?.param, body.error?.message]

test('a workflow is made, shown, listed, changed and deleted', async () => {
  const steps = [{ id: 'ask', type: 'llm', model: 'gpt-4o', prompt: 'Hi {{input.name}}' }]
  const { status, body: made } = await api('POST', path, { name: 'Daily Report', steps })
  expect([status, made.error]).toEqual([201, undefined])
  expect(made).toMatchObject({
    id: expect.stringMatching(/^wf_/),
    slug: 'daily-report',
    user_id: null,
    visibility: 'private',
    description: null,
    enabled: true,
    version: 1,
    input_schema: null,
    output: null,
    limits: {},
    workflows: [],
  })
  expect(made.steps).toMatchObject([{ ...steps[0], depends_on: [] }])
  expect((await api('GET', `${path}/daily-report`)).body).toEqual(made)
  const named = await api('PUT', `${path}/daily-report`, { name: 'Report', description: 'Daily.' })
  expect(named.body).toMatchObject({ name: 'Report', description: 'Daily.', version: 1 })
  const output = { text: '{{ask.output}}' }
  const second = await api('PUT', `${path}/daily-report`, { output, description: null })
  expect(second.body).toMatchObject({ output, description: null, version: 2, steps: made.steps })
  expect((await api('PUT', `${path}/daily-report`, { output: null })).body).toMatchObject({
    output: null,
    version: 3,
  })
  expect((await api('GET', `${path}/daily-report?version=2`)).body).toMatchObject({ version: 2, output })
  const late = await api('PUT', `${path}/daily-report`, { output, version: 2 })
  expect(refusal(late)).toEqual([409, 'version', 'Version 3 is the newest one.'])
  const { body: list } = await api('GET', path)
  expect(list).toMatchObject({ total: 1, workflows: [{ slug: 'daily-report', version: 3 }] })
  expect(list.workflows[0]).not.toHaveProperty('steps')
  expect((await api('GET', '/api/forge/status')).body.workflows).toEqual({ total: 1, enabled: 1 })
  expect((await api('DELETE', `${path}/daily-report`)).body).toEqual({
    deleted: true,
    id: made.id,
    versions: 3,
  })
  expect((await api('GET', `${path}/daily-report`)).status).toBe(404)
})

test('what a workflow says can be saved again as it is shown', async () => {
  const made = await make('same', [llm('a', 'A', { when: { all: ['{{input.x}}'] } })], {
    limits: { timeout_s: 5 },
  })
  const { steps, output, limits, input_schema } = made
  const { status, body } = await api('PUT', `${path}/same`, { steps, output, limits, input_schema })
  expect([status, body.steps]).toEqual([200, steps])
})

describe('what cannot be saved is refused with its field', () => {
  const value = (id: string, value: unknown, more: object = {}) => ({
    id,
    type: 'transform',
    config: { value },
    ...more,
  })
  test.each([
    ['a circle', [value('a', '{{b.output}}'), value('b', 1, { depends_on: ['a'] })], 'steps.0.depends_on'],
    ['a circle of one', [value('a', '{{steps.a.output}}')], 'steps.0.depends_on'],
    ['a step that is not there', [value('a', 1, { depends_on: ['b'] })], 'steps.0.depends_on.0'],
    ['a tag of no step', [value('a', { deep: ['x', 'Hi {{b.output}}'] })], 'steps.0.config.value.deep.1'],
    [
      'a tag of no step in a condition',
      [value('a', 1, { when: { not: '{{b.output}}' } })],
      'steps.0.when.not',
    ],
    ['a fact that steps lack', [value('a', 1), llm('b', '{{a.text}}')], 'steps.1.prompt'],
    ['an item outside of a list', [llm('a', '{{item}}')], 'steps.0.prompt'],
    ['a partial', [llm('a', '{{> other}}')], 'steps.0.prompt'],
    ['two of one name', [value('a', 1), value('a', 2)], 'steps.1.id'],
    ['a reserved name', [value('input', 1)], 'steps.0.id'],
    ['an unclosed section', [llm('a', '{{#b}}')], 'steps.0.prompt'],
    ['a type that is not there', [{ id: 'a', type: 'magic' }], 'steps.0.type'],
    ['an unknown field', [llm('a', 'A', { promt: 'B' })], 'steps.0.promt'],
    ['messages as a parameter', [llm('a', 'A', { params: { messages: [] } })], 'steps.0.params'],
    [
      'a fallback without a model',
      [value('a', 1, { on_error: { action: 'fallback', fallback_model: 'm' } })],
      'steps.0.on_error.action',
    ],
    ['a wrong schema', [llm('a', 'A', { output_schema: { type: 'thing' } })], 'steps.0.output_schema'],
    [
      'a workflow that is not there',
      [{ id: 'a', type: 'workflow', config: { workflow: 'none' } }],
      'steps.0.config.workflow',
    ],
    ['itself', [{ id: 'a', type: 'workflow', config: { workflow: 'bad' } }], 'steps.0.config.workflow'],
    [
      'a bad pattern',
      [value('a', 1, { when: { value: 'x', op: 'matches', pattern: '(' } })],
      'steps.0.when.pattern',
    ],
    ['text that is too long to be read', [value('a', `${' '.repeat(500_000)}{{x`)], 'steps', 413],
    ['too many steps', Array.from({ length: 21 }, (_, n) => value(`s${n}`, n)), 'steps'],
  ])('%s', async (_, steps, param, status = 400) => {
    const sent = await save('bad', steps)
    expect(refusal(sent)).toEqual([status, param, expect.any(String)])
  })

  test('a tag of no step in the output, and a limit above that of the gateway', async () => {
    expect(refusal(await save('bad', [value('a', 1)], { output: '{{b.output}}' }))).toEqual([
      400,
      'output',
      expect.any(String),
    ])
    const limits = { timeout_s: 61 }
    expect(refusal(await save('bad', [value('a', 1)], { limits }))).toEqual([
      400,
      'limits.timeout_s',
      expect.any(String),
    ])
  })

  test('a workflow that leads back to itself by another one', async () => {
    await make('one', [value('a', 1)])
    await make('two', [{ id: 'a', type: 'workflow', config: { workflow: 'one' } }])
    const steps = [
      {
        id: 'a',
        type: 'map',
        config: { over: '{{input}}', step: { type: 'workflow', config: { workflow: 'two' } } },
      },
    ]
    expect(refusal(await api('PUT', `${path}/one`, { steps }))).toEqual([
      400,
      'steps.0.config.step.config.workflow',
      expect.stringContaining('leads back'),
    ])
  })
})

test('a run refuses an input that does not match, and a workflow that is off', async () => {
  const input_schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
  await make('strict', [{ id: 'a', type: 'transform', config: { value: '{{input.n}}' } }], { input_schema })
  expect(refusal(await forge.run('strict', { n: 'x' }))).toEqual([
    400,
    'input',
    expect.stringContaining('/n'),
  ])
  expect((await forge.run('strict', { n: 4 })).body).toMatchObject({ status: 'completed', output: 4 })
  expect(refusal(await forge.run('strict', { n: 4, text: 'x'.repeat(100_000) }))).toEqual([
    413,
    'input',
    expect.any(String),
  ])
  await api('PUT', `${path}/strict`, { enabled: false })
  expect((await forge.run('strict', { n: 4 })).status).toBe(409)
})

test('a run stays on its version', async () => {
  await make('moving', [llm('first', 'First'), llm('second', 'Second {{first.output}}')])
  const { promise, resolve } = Promise.withResolvers<void>()
  forge.parts.upstream.reply({ content: 'one', gate: { opened: promise } })
  forge.parts.upstream.reply({ content: 'two' })
  const { body } = await forge.run('moving', {}, { wait_ms: 0 })
  await forge.parts.upstream.received(1)
  expect((await api('PUT', `${path}/moving`, { steps: [llm('other', 'Other')] })).body.version).toBe(2)
  resolve()
  await expect.poll(async () => (await forge.read(body.id)).status, { timeout: 20_000 }).toBe('completed')
  expect(forge.said()).toEqual(['First', 'Second one'])
  expect(await forge.read(body.id)).toMatchObject({ workflow_version: 1, output: 'two' })
})

test('users have their own workflows and runs, run shared ones, and take theirs with them', async () => {
  const { gateway } = forge.parts
  const ada = await gateway.signUp('ada')
  const bob = await gateway.signUp('bob')
  const steps = [llm('a', 'A')]
  await make('shared', steps, { visibility: 'shared' })
  await make('mine', steps, {}, ada.key)
  expect(refusal(await save('open', steps, { visibility: 'shared' }, ada.key))).toEqual([
    403,
    'visibility',
    expect.any(String),
  ])
  expect((await api('PUT', `${path}/shared`, { enabled: false }, ada.key)).status).toBe(403)
  for (const [method, at] of [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['POST', '/run'],
  ] as const)
    expect([
      method,
      (await api(method, `${path}/mine${at}`, method === 'GET' ? undefined : {}, bob.key)).status,
    ]).toEqual([method, 404])
  forge.parts.upstream.reply({ content: 'ok', times: 2 })
  const { body: run } = await forge.run('shared', {}, {}, ada.key)
  expect(run).toMatchObject({ status: 'completed', user_id: ada.userId })
  expect((await api('GET', `/api/forge/runs/${run.id}`, undefined, bob.key)).status).toBe(404)
  expect((await api('GET', '/api/forge/runs', undefined, bob.key)).body.total).toBe(0)
  const { body: runs } = await api(
    'GET',
    '/api/forge/runs?workflow=shared&status=completed',
    undefined,
    ada.key,
  )
  expect(runs.runs.map(({ id }: { id: string }) => id)).toEqual([run.id])
  expect((await api('GET', '/api/forge/runs?status=failed', undefined, ada.key)).body.total).toBe(0)
  expect((await api('DELETE', `/api/auth/users/${ada.userId}`)).status).toBe(200)
  expect((await api('GET', `/api/forge/runs/${run.id}`)).status).toBe(404)
  expect((await api('GET', `${path}/mine?user_id=${ada.userId}`)).status).toBe(404)
  expect((await api('GET', `${path}/shared`)).status).toBe(200)
})
