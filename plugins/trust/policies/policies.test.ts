import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

beforeEach(() => upstream.reset())

afterEach(async () => {
  const { body } = await gateway.api('GET', '/api/trust/policies?limit=500')
  for (const { id } of body.policies) await gateway.api('DELETE', `/api/trust/policies/${id}`)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const post = (policy: object) =>
  gateway.api('POST', '/api/trust/policies', { name: 'a policy', action: 'block', ...policy })

const add = async (policy: object) => {
  const { status, body } = await post(policy)
  expect([status, body.error]).toEqual([201, undefined])
  return body
}

const ask = (content: string, headers: Record<string, string> = {}) =>
  fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  })

describe('policies', () => {
  test('are added, shown, changed and deleted, and each change is in the history', async () => {
    const policy = await add({ name: 'No badges', rules: [{ field: 'request.content', pattern: 'BADGE' }] })
    expect(policy).toMatchObject({
      id: expect.stringMatching(/^pol_/),
      rules: [{ field: 'request', pattern: 'BADGE' }],
      scope: {},
      enabled: true,
      mode: 'enforce',
      priority: 0,
      version: 1,
      hits_24h: 0,
    })
    const path = `/api/trust/policies/${policy.id}`
    const changed = await gateway.api('PUT', path, { action: 'warn', scope: { projects: ['docs'] } })
    expect(changed.body).toMatchObject({ action: 'warn', version: 2, name: 'No badges', rules: policy.rules })
    expect((await gateway.api('PUT', path, { scope: null })).body.scope).toEqual({})
    expect((await gateway.api('GET', path)).body).toMatchObject({ version: 3, created_at: policy.created_at })
    expect((await gateway.api('GET', '/api/trust/policies')).body).toMatchObject({ total: 1 })
    expect((await gateway.api('DELETE', path)).body).toEqual({ deleted: true, id: policy.id })
    expect((await gateway.api('GET', path)).status).toBe(404)
    const { body } = await gateway.api('GET', '/api/config/history?limit=4')
    expect(JSON.stringify(body).match(/"policies"/g)?.length).toBeGreaterThanOrEqual(4)
  })

  test('lose none of the changes that come at the same time, and stay deleted', async () => {
    const { id } = await add({ rules: [{ field: 'request.content', pattern: 'at-once' }] })
    const path = `/api/trust/policies/${id}`
    const changes = [{ name: 'Renamed' }, { action: 'warn' }, { mode: 'shadow' }]
    const answers = await Promise.all(changes.map((change) => gateway.api('PUT', path, change)))
    expect(answers.map(({ body }) => body.version).sort()).toEqual([2, 3, 4])
    expect((await gateway.api('GET', path)).body).toMatchObject(Object.assign({}, ...changes))
    const [first, second] = await Promise.all([
      gateway.api('DELETE', path),
      gateway.api('DELETE', path),
      gateway.api('PUT', path, { name: 'Back again' }),
    ])
    expect([first.status, second.status].sort()).toEqual([200, 404])
    expect((await gateway.api('GET', path)).status).toBe(404)
  })

  const rule = { field: 'request', pattern: 'a' }
  test.each<[object, string, RegExp]>([
    [{}, 'rules', /looks for/],
    [{ rules: [rule], config: { pattern: 'a' } }, 'config', /one of them/],
    [{ rules: [{ ...rule, pattern: '(' }] }, 'rules.0.pattern', /RE2/],
    [{ rules: [rule, { ...rule, pattern: '(?=x)' }] }, 'rules.1.pattern', /RE2/],
    [{ rules: [{ ...rule, field: 'respons' }] }, 'rules.0.field', /respons/],
    [{ rules: [{ ...rule, field: 'tags.' }] }, 'rules.0.field', /tags/],
    [{ rules: [{ field: 'tokens', pattern: '1000' }] }, 'rules.0.pattern', /> 1000/],
    [{ rules: [{ field: 'cost', pattern: '> 1e3' }] }, 'rules.0.pattern', /comparison/],
    [{ rules: [{ ...rule, field: 'user', target: 'system' }] }, 'rules.0.target', /request and response/],
    [{ rules: [{ ...rule, field: 'response', target: 'user' }] }, 'rules.0.target', /assistant/],
    [{ rules: [{ ...rule, negate: true }] }, 'rules.0.negate', /values/],
    [{ rules: [{ field: 'model', pattern: 'a', max_length: 5 }] }, 'rules.0.max_length', /texts/],
    [{ rules: [{ ...rule, max_length: 5000 }] }, 'max_length', /1000/],
    [{ action: 'redact', rules: [{ field: 'model', pattern: 'a' }] }, 'action', /redact/],
    [{ action: 'redact', rules: [rule, { field: 'cost', pattern: '> 1' }] }, 'action', /costs/],
    [{ rules: [rule], action: 'explode' }, 'action', /block/],
    [{ rules: [rule], shadow: true }, '', /shadow/],
    [{ rules: [rule], scope: { teams: ['a'] } }, 'scope', /teams/],
    [{ config: { pattern: 'a', max_tokens: 1 } }, 'config', /exactly one/],
    [{ config: { max_tokens: 1, target: 'request' } }, 'config.target', /pattern/],
    [{ config: { models: { allow: ['a'], deny: ['b'] } } }, 'config.models', /either/],
    [{ config: { pattern: 'a', target: 'both' } }, 'rules.0.field', /both/],
  ])('%j is refused, with its field', async (policy, param, message) => {
    const { status, body } = await post(policy)
    expect(status).toBe(400)
    expect(body.error.message).toMatch(message)
    expect(`${body.error.param} ${body.error.message}`).toContain(param)
  })

  test.each<[object, object]>([
    [
      { type: 'regex', config: { pattern: 'a' } },
      { field: 'request', pattern: 'a' },
    ],
    [{ config: { pattern: 'a', target: 'response.content' } }, { field: 'response', pattern: 'a' }],
    [{ config: { max_tokens: 8000 } }, { field: 'tokens', pattern: '> 8000' }],
    [{ config: { max_cost: 0.05 } }, { field: 'cost', pattern: '> 0.05' }],
    [{ config: { models: { deny: ['gpt-4*'] } } }, { field: 'model', pattern: '(?i)^(?:gpt-4.*)$' }],
    [
      { config: { models: { allow: ['a.b', 'c?'] } } },
      { field: 'model', pattern: '(?i)^(?:a\\.b|c.)$', negate: true },
    ],
  ])('the older form %j is the rule %j', async (policy, rule) => {
    expect((await add(policy)).rules).toEqual([rule])
  })

  test('a change that leaves a policy unsound is refused, and changes nothing', async () => {
    const { id } = await add({ rules: [{ field: 'model', pattern: 'a' }] })
    const path = `/api/trust/policies/${id}`
    for (const [change, param] of [
      [{ rules: null }, 'rules'],
      [{ name: null }, 'name'],
      [{ action: 'redact' }, 'action'],
    ] as const) {
      const { status, body } = await gateway.api('PUT', path, change)
      expect([status, body.error.param]).toEqual([400, param])
    }
    expect((await gateway.api('GET', path)).body.version).toBe(1)
  })

  test('only admins see them', async () => {
    const { key } = await gateway.signUp('policies-reader')
    expect((await gateway.api('GET', '/api/trust/policies', undefined, key)).status).toBe(403)
    expect((await gateway.api('POST', '/api/trust/policies/test', {}, key)).status).toBe(403)
  })

  test('come back with a rollback', async () => {
    const { body: before } = await gateway.api('GET', '/api/config/history?limit=1')
    const policy = await add({ rules: [{ field: 'request', pattern: 'rolled' }] })
    await gateway.api('DELETE', `/api/trust/policies/${policy.id}`)
    const generation = before.generations[0].generation + 1
    expect((await gateway.api('POST', '/api/config/rollback', { generation })).status).toBe(200)
    expect((await ask('rolled')).status).toBe(400)
  })
})

describe('a test', () => {
  test('says which rules match, and what would become of the call', async () => {
    await add({
      name: 'Both',
      rules: [
        { field: 'user', pattern: 'key (\\d+)' },
        { field: 'tags.team', pattern: '^red$' },
      ],
    })
    await add({ name: 'Tried', mode: 'shadow', rules: [{ field: 'response', pattern: 'key' }] })
    const tried = async (fields: object) =>
      (await gateway.api('POST', '/api/trust/policies/test', { text: 'My key 12', ...fields })).body
    expect(await tried({})).toMatchObject({
      verdict: 'pass',
      violated: 1,
      policies: expect.arrayContaining([
        expect.objectContaining({
          name: 'Both',
          violated: false,
          rules: [
            { field: 'user', matched: true, match: 'key 12' },
            { field: 'tags.team', matched: false },
          ],
        }),
      ]),
    })
    expect(await tried({ tags: { team: 'red' } })).toMatchObject({ verdict: 'block', violated: 2 })
    expect(upstream.requests).toEqual([])
  })

  test('takes policies that are not stored, and names those that do not exist', async () => {
    const policies = [
      { name: 'x', action: 'warn', rules: [{ field: 'tokens', pattern: '> 10' }] },
      { name: 'y', action: 'log', rules: [{ field: 'tool.name', pattern: 'rm' }] },
      { name: 'z', action: 'log', rules: [{ field: 'ip', pattern: '10.0.0.0/8', negate: true }] },
    ]
    const body = { policies, tokens: 11, tool_name: 'ls', ip: '10.1.1.1' }
    const { body: tried } = await gateway.api('POST', '/api/trust/policies/test', body)
    expect(tried.policies.map(({ violated }: { violated: boolean }) => violated)).toEqual([
      true,
      false,
      false,
    ])
    const unknown = await gateway.api('POST', '/api/trust/policies/test', { policy_ids: ['pol_none'] })
    expect([unknown.status, unknown.body.error.param]).toEqual([404, 'policy_ids'])
    const unsound = { policies: [{ name: 'a', action: 'log', rules: [{ field: 'request', pattern: '(' }] }] }
    expect((await gateway.api('POST', '/api/trust/policies/test', unsound)).status).toBe(400)
  })

  test('of the past finds the calls that would have violated a policy', async () => {
    const headers = { 'x-project': 'archive' }
    upstream.reply({ content: 'It is K-1234.' })
    const first = (await ask('What is my key?', headers)).headers.get('x-trace-id')
    await (await ask('Hello', headers)).text()
    const question = {
      project: 'archive',
      policies: [
        {
          name: 'both',
          action: 'block',
          rules: [
            { field: 'user', pattern: 'my key' },
            { field: 'response', pattern: 'K-\\d+' },
          ],
        },
        { name: 'model', action: 'block', rules: [{ field: 'model', pattern: 'gpt' }] },
        { name: 'ip', action: 'block', rules: [{ field: 'ip', pattern: '.' }] },
      ],
    }
    const past = async () => (await gateway.api('POST', '/api/trust/policies/history', question)).body
    await expect.poll(async () => (await past()).checked).toBe(2)
    expect(await past()).toMatchObject({
      without_bodies: 0,
      complete: true,
      policies: [
        { name: 'both', violations: 1, trace_ids: [first] },
        { name: 'model', violations: 2 },
        { name: 'ip', violations: null },
      ],
    })
  })
})
