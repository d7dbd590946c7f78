import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

beforeEach(() => upstream.reset())

afterEach(async () => {
  const { body } = await gateway.api('GET', '/api/guardrails?limit=500')
  for (const { id } of body.rules) await gateway.api('DELETE', `/api/guardrails/${id}`)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const add = async (rule: object) => {
  const { status, body } = await gateway.api('POST', '/api/guardrails', {
    name: 'a rule',
    action: 'redact',
    ...rule,
  })
  expect(status).toBe(201)
  return body
}

const ask = async (content: string, headers: Record<string, string> = {}, key = gateway.adminKey) => {
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
  const { response } = await client.chat.completions
    .create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }, { headers })
    .withResponse()
  return response.headers
}

const sent = () => JSON.stringify(upstream.requests.at(-1)?.body)

describe('rules', () => {
  test('are added, shown, changed and deleted, and each change is in the history', async () => {
    const rule = await add({ name: 'No badges', pattern: 'BADGE-\\d{4}', type: 'pii' })
    expect(rule).toMatchObject({
      id: expect.stringMatching(/^gr_/),
      project: '*',
      direction: 'both',
      mode: 'enforce',
      version: 1,
      hits_24h: 0,
      last_hit_at: null,
    })
    const path = `/api/guardrails/${rule.id}`
    const changed = await gateway.api('PUT', path, { words: ['badge'], description: 'By word.' })
    expect(changed.body).toMatchObject({ words: ['badge'], version: 2, name: 'No badges', type: 'pii' })
    expect(changed.body).not.toHaveProperty('pattern')
    expect((await gateway.api('PUT', path, { description: null })).body.description).toBe('')
    expect((await gateway.api('GET', path)).body).toMatchObject({ version: 3 })
    expect((await gateway.api('GET', '/api/guardrails?project=docs')).body).toMatchObject({ total: 0 })
    expect((await gateway.api('GET', '/api/guardrails?project=*')).body).toMatchObject({ total: 1 })
    expect((await gateway.api('DELETE', path)).body).toEqual({ deleted: true, id: rule.id })
    expect((await gateway.api('GET', path)).status).toBe(404)
    const { body } = await gateway.api('GET', '/api/config/history?limit=4')
    expect(JSON.stringify(body).match(/"guardrails"/g)?.length).toBeGreaterThanOrEqual(4)
  })

  test.each([
    [{ pattern: '(' }, 'pattern', /RE2/],
    [{ pattern: '(?=x)' }, 'pattern', /RE2/],
    [{}, 'pattern', /exactly one/],
    [{ pattern: 'a', words: ['b'] }, 'pattern', /exactly one/],
    [{ preset: 'emial' }, 'preset', /email/],
    [{ pattern: 'a', flags: 'g' }, 'flags', /letters/],
    [{ pattern: 'a', action: 'explode' }, 'action', /block/],
    [{ pattern: 'a', max_length: 5000 }, 'max_length', /1000/],
    [{ pattern: 'a', projct: 'x' }, '', /projct/],
  ])('%j is refused, with its field', async (rule, param, message) => {
    const { status, body } = await gateway.api('POST', '/api/guardrails', {
      name: 'a',
      action: 'block',
      ...rule,
    })
    expect(status).toBe(400)
    expect(body.error.message).toMatch(message)
    expect(body.error.message).toContain(param)
  })

  test('of changes at the same time none is lost, and a deleted rule stays deleted', async () => {
    const { id } = await add({ pattern: 'at-once' })
    const path = `/api/guardrails/${id}`
    const changes = [{ name: 'Renamed' }, { description: 'Described.' }, { severity: 'critical' }]
    const answers = await Promise.all(changes.map((change) => gateway.api('PUT', path, change)))
    expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3, 4])
    expect((await gateway.api('GET', path)).body).toMatchObject(Object.assign({}, ...changes))
    const [first, second, late] = await Promise.all([
      gateway.api('DELETE', path),
      gateway.api('DELETE', path),
      gateway.api('PUT', path, { name: 'Back again' }),
    ])
    expect([first.status, second.status].sort()).toEqual([200, 404])
    expect([200, 404]).toContain(late.status)
    expect((await gateway.api('GET', path)).status).toBe(404)
  })

  test('a change that leaves a rule without what it looks for is refused', async () => {
    const { id } = await add({ pattern: 'a' })
    const { status, body } = await gateway.api('PUT', `/api/guardrails/${id}`, { pattern: null })
    expect([status, body.error.param]).toEqual([400, 'pattern'])
    const unnamed = await gateway.api('PUT', `/api/guardrails/${id}`, { name: null })
    expect([unnamed.status, unnamed.body.error.param]).toEqual([400, 'name'])
  })

  test('only admins see them', async () => {
    const { key } = await gateway.signUp('rules-reader')
    for (const path of ['', '/stats', '/events', '/presets'])
      expect((await gateway.api('GET', `/api/guardrails${path}`, undefined, key)).status).toBe(403)
  })

  test('come back with a rollback', async () => {
    const { body: before } = await gateway.api('GET', '/api/config/history?limit=1')
    const rule = await add({ pattern: 'rolled' })
    await gateway.api('DELETE', `/api/guardrails/${rule.id}`)
    const [{ generation }] = before.generations
    const rolled = await gateway.api('POST', '/api/config/rollback', { generation: generation + 1 })
    expect(rolled.status).toBe(200)
    await ask('rolled')
    expect(sent()).toContain('[REDACTED:custom]')
  })
})

describe('a test of a text', () => {
  test('names every match, gives the verdict and the redacted text, and calls no provider', async () => {
    await add({ name: 'Mail', preset: 'email' })
    await add({ name: 'Words', words: ['secret'], action: 'warn', project: 'docs' })
    const text = 'A secret for ada@example.com'
    const { body } = await gateway.api('POST', '/api/guardrails/test', { text, project: 'docs' })
    expect(body).toMatchObject({
      count: 2,
      verdict: 'redact',
      output: 'A secret for [REDACTED:pii]',
      matches: [
        { rule_name: 'Words', match: 'secret', start: 2, end: 8, action: 'warn' },
        { rule_name: 'Mail', rule_type: 'pii', match: 'ada@example.com' },
      ],
    })
    expect((await gateway.api('POST', '/api/guardrails/test', { text })).body.count).toBe(1)
    expect(upstream.requests).toEqual([])
  })

  test('takes rules that are not stored', async () => {
    const rules = [
      { name: 'x', pattern: 'x+', action: 'block' },
      { name: 'y', pattern: 'y', action: 'log', targets: ['tool_args'] },
    ]
    const ofUser = await gateway.api('POST', '/api/guardrails/test', { text: 'xxy', rules })
    expect(ofUser.body).toMatchObject({ count: 1, verdict: 'block', matches: [{ rule_id: 'rules[0]' }] })
    const question = { text: 'xxy', rules, direction: 'response', target: 'tool_args' }
    expect((await gateway.api('POST', '/api/guardrails/test', question)).body.count).toBe(2)
    expect((await gateway.api('POST', '/api/guardrails/test', { text: 'z', rules })).body.verdict).toBe(
      'pass',
    )
    const many = { text: 'x '.repeat(3000), rules: [{ name: 'x', pattern: 'x', action: 'redact' }] }
    const { body } = await gateway.api('POST', '/api/guardrails/test', many)
    expect([body.count, body.matches.length]).toEqual([3000, 1000])
  })
})

test('the presets say what they look for', async () => {
  const { body } = await gateway.api('GET', '/api/guardrails/presets')
  expect(body.presets).toContainEqual(
    expect.objectContaining({ name: 'credit_card', type: 'pii', checked: true, pattern: expect.any(String) }),
  )
})

test('calls of the past are searched with rules that are not stored', async () => {
  const project = 'past'
  upstream.reply({ content: 'The code is K-12.', times: 6 })
  for (const n of [1, 2, 3]) await ask(`Call ${n}`, { 'x-project': project })
  await ask('Code K-77', { 'x-project': project })
  await ask('Code K-78', { 'x-project': 'elsewhere' })
  const rules = [
    { name: 'In', pattern: 'K-\\d+', action: 'block', direction: 'request' },
    { name: 'Out', pattern: 'K-\\d+', action: 'log', direction: 'response' },
    { name: 'None', pattern: 'nothing of the kind', action: 'log' },
  ]
  const search = (more: object) => gateway.api('POST', '/api/guardrails/history', { rules, project, ...more })
  await expect.poll(async () => (await search({})).body.checked).toBe(4)
  const { body } = await search({})
  expect(body).toMatchObject({
    matched: 4,
    without_bodies: 0,
    complete: true,
    by_rule: [
      { rule_name: 'In', calls: 1, matches: 1 },
      { rule_name: 'Out', calls: 4, matches: 4 },
      { rule_name: 'None', calls: 0, matches: 0 },
    ],
  })
  expect(body.examples[0]).toMatchObject({ trace_id: expect.stringMatching(/^tr_/), match_preview: 'x-00' })
  expect((await search({ calls: 2, examples: 1 })).body).toMatchObject({ checked: 2, examples: [{}] })
  const stored = await add({ name: 'Stored', pattern: 'Call \\d', enabled: false })
  const byId = await gateway.api('POST', '/api/guardrails/history', { rule_ids: [stored.id], project })
  expect(byId.body.by_rule).toMatchObject([{ rule_name: 'Stored', calls: 3 }])
  const twice = { rule_ids: [stored.id, stored.id], project }
  expect((await gateway.api('POST', '/api/guardrails/history', twice)).body.by_rule).toEqual(
    byId.body.by_rule,
  )
  expect((await gateway.api('POST', '/api/guardrails/history', { rule_ids: ['gr_0'] })).status).toBe(404)
})

test('rules are tried on the past calls of their project, users and models only, and those of projects with all that are on', async () => {
  const { userId, key } = await gateway.signUp('past-user')
  const word = 'tamarind-of-the-past'
  await ask(word, { 'x-project': 'past-own' })
  await ask(word, { 'x-project': 'past-other' }, key)
  await ask(word, {}, key)
  const rule = { name: 'all', pattern: word, action: 'log' }
  const rules = [
    rule,
    { ...rule, name: 'project', project: 'past-own' },
    { ...rule, name: 'user', users: [userId] },
    { ...rule, name: 'user of a project', users: [userId], project: 'past-other' },
    { ...rule, name: 'model', models: ['gpt-*'] },
    { ...rule, name: 'other model', models: ['other-*'] },
    { ...rule, name: 'other user', users: ['usr_none'] },
  ]
  const callsBy = async (input: object): Promise<Record<string, number>> => {
    const { body } = await gateway.api('POST', '/api/guardrails/history', input)
    return Object.fromEntries(
      body.by_rule.map(({ rule_name, calls }: { rule_name: string; calls: number }) => [rule_name, calls]),
    )
  }
  await expect.poll(async () => (await callsBy({ rules })).all).toBe(3)
  expect(await callsBy({ rules })).toEqual({
    all: 3,
    project: 1,
    user: 2,
    'user of a project': 1,
    model: 3,
    'other model': 0,
    'other user': 0,
  })
  const stored = await add({ name: 'of a project', pattern: word, action: 'log', project: 'past-own' })
  expect((await callsBy({}))['of a project']).toBe(1)
  expect(await callsBy({ rule_ids: [stored.id] })).toEqual({ 'of a project': 1 })
  expect(await callsBy({ project: 'past-other' })).not.toHaveProperty('of a project')
})

test('the header of warnings names every rule that warns, wherever in the request', async () => {
  const [first, second] = [
    await add({ pattern: 'one', action: 'warn' }),
    await add({ pattern: 'two', action: 'warn' }),
  ]
  const headers = await ask('one and two, and one')
  expect(headers.get('x-guardrail-warnings')?.split(', ').sort()).toEqual([first.id, second.id].sort())
})

test('matches in calls are counted, listed and told, without their text', async () => {
  const heard: unknown[] = []
  const end = gateway.kernel.events.onAny((data, occurrence) => {
    if ((occurrence as { type: { name: string } }).type.name === 'guardrail.violation') heard.push(data)
  })
  const { key, userId } = await gateway.signUp('violator')
  const rule = await add({ name: 'Numbers', pattern: '\\d{4}', type: 'pii', project: 'counted' })
  const before = (await gateway.api('GET', '/api/guardrails/stats')).body
  const headers = await ask('1234 and 5678', { 'x-project': 'counted' }, key)
  await ask('nothing', { 'x-project': 'counted' }, key)
  await expect
    .poll(async () => (await gateway.api('GET', '/api/guardrails/stats')).body.total_checks)
    .toBe(before.total_checks + 4)
  end()
  const { body: stats } = await gateway.api('GET', '/api/guardrails/stats')
  expect(stats.redacted - before.redacted).toBe(2)
  expect(stats.rule_hits).toContainEqual({ rule_id: rule.id, name: 'Numbers', hits: 2 })
  const { body } = await gateway.api('GET', `/api/guardrails/events?rule_id=${rule.id}`)
  expect(body.events).toEqual([
    {
      id: expect.stringMatching(/^gv_/),
      timestamp: expect.any(String),
      rule_id: rule.id,
      rule_name: 'Numbers',
      rule_type: 'pii',
      action: 'redact',
      mode: 'enforce',
      direction: 'request',
      project: 'counted',
      user_id: userId,
      model: 'gpt-4o-mini',
      trace_id: headers.get('x-trace-id'),
      matches: 2,
      match_preview: '0000',
    },
  ])
  expect(heard).toEqual([
    {
      rule_id: rule.id,
      rule_name: 'Numbers',
      action: 'redact',
      mode: 'enforce',
      direction: 'request',
      project: 'counted',
      trace_id: headers.get('x-trace-id'),
    },
  ])
  const shown = await gateway.api('GET', `/api/guardrails/${rule.id}`)
  expect(shown.body).toMatchObject({ hits_24h: 2, last_hit_at: body.events[0].timestamp })
  expect((await gateway.api('DELETE', `/api/auth/users/${userId}/data`)).status).toBe(200)
  expect((await gateway.api('GET', `/api/guardrails/events?user_id=${userId}`)).body.total).toBe(0)
})
