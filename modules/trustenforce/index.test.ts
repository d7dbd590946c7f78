import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Policies that were posted, one for each field, on every wire, plain and with the stream cut at every byte. */

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

beforeEach(() => upstream.reset())

const added: string[] = []
afterEach(async () => {
  for (const id of added.splice(0)) await gateway.api('DELETE', `/api/trust/policies/${id}`)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function add(policy: object): Promise<string> {
  const { status, body } = await gateway.api('POST', '/api/trust/policies', {
    name: 'a policy',
    action: 'block',
    ...policy,
  })
  expect(body).toMatchObject({ id: expect.stringMatching(/^pol_/) })
  expect(status).toBe(201)
  added.push(body.id)
  return body.id
}

const model = 'gpt-4o-mini'
const system = 'You are a BADGER.'
const user = (content: string) => [{ role: 'user', content }]

/** What a client of each wire sends, with a system prompt where the wire has one. */
const wires: Readonly<Record<string, readonly [path: string, body: (text: string) => object]>> = {
  chat: [
    '/v1/chat/completions',
    (text) => ({ model, messages: [{ role: 'system', content: system }, ...user(text)] }),
  ],
  completions: ['/v1/completions', (text) => ({ model, prompt: text })],
  messages: ['/v1/messages', (text) => ({ model, system, max_tokens: 4000, messages: user(text) })],
  responses: ['/v1/responses', (text) => ({ model, instructions: system, input: text })],
  gemini: [
    '',
    (text) => ({
      systemInstruction: { parts: [{ text: system }] },
      contents: [{ role: 'user', parts: [{ text }] }],
    }),
  ],
}

async function ask(
  wire: string,
  text: string,
  stream: boolean,
  { key = gateway.adminKey, headers = {}, more = {} } = {},
) {
  const gemini = `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
  const [path, body] = wires[wire]!
  const response = await fetch(gateway.url + (wire === 'gemini' ? gemini : path), {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'x-service-tags': 'team=red',
      ...headers,
    },
    body: JSON.stringify({ ...body(text), ...(stream && wire !== 'gemini' && { stream }), ...more }),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

const secret = 'K-1234-XYZ'
const sent = () => JSON.stringify(upstream.requests.at(-1)?.body)

describe.each(Object.keys(wires))('on the wire %s', (wire) => {
  describe.each([false, true])('streamed: %s', (stream) => {
    const values: [string, string][] = [
      ['request', 'K-\\d{4}'],
      ['user', 'K-\\d{4}'],
      ['model', '^gpt-4o-'],
      ['tags.team', '^red$'],
      ['tags.*', 'red'],
      ['ip', '127.0.0.0/8'],
      ['tokens', '> 5'],
      ['cost', '> 0.00000001'],
      ...(wire === 'completions' ? [] : [['system', 'BADGER'] as [string, string]]),
    ]
    test.each(values)('a policy for %s refuses the call, and another does not', async (field, pattern) => {
      const id = await add({ rules: [{ field, pattern }] })
      const refused = await ask(wire, `My key is ${secret}`, stream)
      expect([refused.status, upstream.requests.length]).toEqual([expect.toBeOneOf([400, 403]), 0])
      // An id may have any digits.
      expect(refused.text.replaceAll(/\b[a-z]+_[0-9A-Z]{26}\b/g, '')).not.toContain('1234')
      const other = field === 'ip' ? '10.0.0.0/8' : /^[>]/.test(pattern) ? '> 1000000' : 'no such thing'
      await gateway.api('PUT', `/api/trust/policies/${id}`, { rules: [{ field, pattern: other }] })
      expect((await ask(wire, `My key is ${secret}`, stream)).status).toBe(200)
    })

    test('a policy for user.id refuses that user, and no other', async () => {
      const [one, other] = [
        await gateway.signUp(`one-${wire}-${stream}`),
        await gateway.signUp(`two-${wire}-${stream}`),
      ]
      await add({ rules: [{ field: 'user.id', pattern: one.userId }] })
      expect((await ask(wire, 'Hello', stream, { key: one.key })).status).toBe(403)
      expect((await ask(wire, 'Hello', stream, { key: other.key })).status).toBe(200)
      expect((await ask(wire, 'Hello', stream)).status).toBe(200)
    })

    test('no matched byte leaves, in either direction', async () => {
      const rules = [{ field: 'request', pattern: 'K-\\d{4}(?:-[A-Z]+)?' }]
      await add({ action: 'redact', rules })
      await add({ action: 'redact', rules: [{ ...rules[0], field: 'response' }] })
      upstream.reply({ content: `It is ${secret}, as I said: ${secret}.`, splitBytes: 1 })
      const { status, text } = await ask(wire, `My key is ${secret}`, stream)
      expect(status).toBe(200)
      expect(sent()).toContain('[REDACTED:policy]')
      expect(sent()).not.toMatch(/1234|XYZ/)
      expect(withoutIds(text)).not.toMatch(/K-|1234|XYZ/)
    })

    test('a match in an answer ends it before the match, if what was asked matches too', async () => {
      await add({
        rules: [
          { field: 'user', pattern: 'my key' },
          { field: 'response', pattern: 'K-\\d{4}' },
        ],
      })
      const answer = { content: `${'So far so good. '.repeat(60)}It is ${secret}.`, splitBytes: 7 }
      upstream.reply(answer)
      const refused = await ask(wire, 'What is my key?', stream)
      expect(refused.status).toBe(stream ? 200 : 400)
      expect(withoutIds(refused.text)).not.toContain('1234')
      expect(refused.text).toMatch(/trustenforce|content_filter|refus/i)
      upstream.reply(answer)
      expect((await ask(wire, 'What is yours?', stream)).text).toContain('1234')
    })

    test('two rules for an answer act when the whole of it matches both, and before any of it leaves', async () => {
      const rules = [
        { field: 'response', pattern: 'Ada' },
        { field: 'response', pattern: 'K-\\d{4}' },
      ]
      const id = await add({ rules })
      upstream.reply({ content: `Ada has ${secret}.`, splitBytes: 3 })
      const refused = await ask(wire, 'Who has it?', stream)
      expect(withoutIds(refused.text)).not.toMatch(/Ada|1234/)
      await gateway.api('PUT', `/api/trust/policies/${id}`, { action: 'redact' })
      upstream.reply({ content: `Ada has ${secret}.`, splitBytes: 3 })
      const redacted = await ask(wire, 'Who has it?', stream)
      expect(redacted.status).toBe(200)
      expect(withoutIds(redacted.text)).not.toMatch(/Ada|1234/)
      upstream.reply({ content: 'Ada has none.', splitBytes: 3 })
      expect(textOf((await ask(wire, 'Who has it?', stream)).text)).toContain('Ada has none')
    })
  })
})

/** Ids and times may have the characters of a match. */
const withoutIds = (text: string): string =>
  text.replaceAll(/"(?:id|created\w*|responseId|response_id|item_id)":\s*"?[^",}]*"?/g, '')

/** What an answer says, of a stream its deltas one after another. */
const textOf = (text: string): string =>
  [...text.matchAll(/"(?:content|text|delta|arguments)":\s*"((?:[^"\\]|\\.)*)"/g)]
    .map(([, said]) => said)
    .join('')

const tools = [{ type: 'function', function: { name: 'shell', parameters: { type: 'object' } } }]

describe.each([false, true])('in a chat (streamed: %s)', (stream) => {
  const call = (name: string, args: object) => ({
    content: 'I will run it.',
    toolCalls: [{ name, arguments: JSON.stringify(args) }],
    splitBytes: 5,
  })
  const run = () => ask('chat', 'Clean up', stream, { more: { tools } })

  test('a policy for the name of a tool stops calls of it, and lets calls of others pass', async () => {
    await add({ rules: [{ field: 'tool.name', pattern: '^shell$' }] })
    upstream.reply(call('shell', { command: 'ls' }))
    const refused = await run()
    expect(refused.text).not.toContain('shell')
    expect(refused.text).toContain('content_blocked')
    upstream.reply(call('search', { query: 'ls' }))
    expect((await run()).text).toContain('search')
  })

  test('a policy for arguments reads them decoded, beside the name of the tool', async () => {
    const rules = [
      { field: 'tool.name', pattern: '^shell$' },
      { field: 'tool_args', pattern: 'say "rm -rf' },
    ]
    const id = await add({ rules })
    upstream.reply(call('shell', { command: 'say "rm -rf /"' }))
    expect(textOf((await run()).text)).not.toContain('rm ')
    upstream.reply(call('search', { command: 'say "rm -rf /"' }))
    expect(textOf((await run()).text)).toContain('rm -rf')
    await gateway.api('PUT', `/api/trust/policies/${id}`, { action: 'redact' })
    upstream.reply(call('shell', { command: 'say "rm -rf /"' }))
    const redacted = await run()
    expect(redacted.text).toContain('shell')
    expect(textOf(redacted.text)).not.toContain('rm ')
  })

  test('a policy that warns or logs holds nothing back, and is recorded', async () => {
    const id = await add({
      action: 'log',
      rules: [
        { field: 'response', pattern: 'Ada' },
        { field: 'response', pattern: 'K-\\d{4}' },
      ],
    })
    upstream.reply({ content: `Ada has ${secret}.`, splitBytes: 3 })
    const { headers } = await ask('chat', 'Who?', stream)
    await expect
      .poll(async () => (await gateway.api('GET', `/api/trust/policies/${id}`)).body.hits_24h)
      .toBe(1)
    const { body } = await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
    expect(body.guardrails).toMatchObject([
      { module: 'trustenforce', type: 'policy', action: 'log', direction: 'response', rule_id: id },
    ])
  })

  test('what a policy forbids by the name of a model is not reached by another name', async () => {
    await add({ rules: [{ field: 'model', pattern: '^gpt-4o-mini$' }] })
    await gateway.module('modelalias', { config: { aliases: { fast: 'gpt-4o-mini' } } })
    try {
      const { status, text } = await ask('chat', 'Hello', stream, { more: { model: 'fast' } })
      expect(status).toBeGreaterThanOrEqual(400)
      expect(text).toContain('policy')
      expect(upstream.requests).toEqual([])
    } finally {
      await gateway.module('modelalias', { config: null })
    }
  })

  test('a policy in shadow changes nothing, and tells of itself', async () => {
    const id = await add({ mode: 'shadow', rules: [{ field: 'request', pattern: 'K-\\d{4}' }] })
    const { status, headers } = await ask('chat', secret, stream)
    expect(status).toBe(200)
    expect(sent()).toContain('1234')
    await expect
      .poll(async () => (await gateway.api('GET', `/api/trust/policies/${id}`)).body.hits_24h)
      .toBe(1)
    const { body } = await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
    expect(body.guardrails).toMatchObject([{ module: 'trustenforce', action: 'log', rule_id: id }])
  })
})

test('a scope holds a policy to projects and models, and a change holds for the next call', async () => {
  const rules = [{ field: 'request', pattern: 'plan [A-Z]' }]
  const id = await add({ rules, scope: { projects: ['alpha'] } })
  const in_ = (project: string) => ask('chat', 'See plan B', false, { headers: { 'x-project': project } })
  expect([(await in_('alpha')).status, (await in_('beta')).status]).toEqual([400, 200])
  const change = (fields: object) => gateway.api('PUT', `/api/trust/policies/${id}`, fields)
  await change({ scope: { models: ['gpt-4'] } })
  expect((await in_('alpha')).status).toBe(200)
  await change({ scope: null })
  expect((await in_('beta')).status).toBe(400)
  await change({ enabled: false })
  expect((await in_('beta')).status).toBe(200)
})

test('a policy that warns names itself in a header', async () => {
  const ids = [
    await add({ action: 'warn', rules: [{ field: 'request', pattern: 'K-\\d{4}' }] }),
    await add({ action: 'warn', rules: [{ field: 'model', pattern: 'gpt' }] }),
  ]
  const { status, headers } = await ask('chat', `${secret} ${secret}`, false)
  expect(status).toBe(200)
  expect(headers.get('x-policy-warnings')!.split(', ').toSorted()).toEqual(ids.toSorted())
})

test('in shadow the module refuses nothing, and says so in the ledger', async () => {
  const id = await add({ rules: [{ field: 'request', pattern: 'K-\\d{4}' }] })
  await gateway.module('trustenforce', { mode: 'shadow' })
  try {
    expect((await ask('chat', secret, false)).status).toBe(200)
    await expect
      .poll(async () => (await gateway.api('GET', `/api/trust/policies/${id}`)).body.hits_24h)
      .toBe(1)
  } finally {
    await gateway.module('trustenforce', { mode: 'enforce' })
  }
})
