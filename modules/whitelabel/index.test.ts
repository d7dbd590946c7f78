import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { streamsAsWhole } from '../../test/cuts.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { anthropic } from '../../test/upstream/anthropic/index.ts'
import { type Script, startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { longestMatch, mostWords, namePattern } from './hidden.ts'
import { allVendorWords, vendorWords } from './vendors.ts'

let openai: Upstream
let claude: Upstream
let gateway: TestGateway

const aliases = {
  'acme-large': 'gpt-4o-mini',
  'acme-wise': 'claude-sonnet-4-5',
  'acme-own': 'megacorp/mega-7b',
}

beforeAll(async () => {
  openai = await startUpstream({ apiKey: ['sk-test', 'sk-mega'] })
  claude = await startUpstream({ wires: [anthropic] })
  gateway = await startGateway({
    upstream: openai,
    config: {
      providers: {
        anthropic: { base_url: claude.baseUrl(), api_key: 'sk-test' },
        megacorp: { type: 'openai', base_url: openai.baseUrl(), api_key: 'sk-mega', models: ['mega-*'] },
      },
      // Many errors in a row would open a circuit.
      modules: {
        modelalias: { config: { aliases } },
        fallbackrouter: { enabled: false },
        retrypilot: { enabled: false },
      },
    },
  })
})

beforeEach(() => {
  openai.reset()
  claude.reset()
})

afterAll(async () => {
  await gateway.close()
  await openai.close()
  await claude.close()
})

const label = async (brand: object = {}): Promise<void> => {
  await gateway.module('whitelabel', { enabled: true, config: null })
  await gateway.module('whitelabel', { config: { brands: { acme: { name: 'Acme', ...brand } } } })
}

const text = 'Who are you?'
const wires: Readonly<
  Record<string, (model: string, stream: boolean) => readonly [path: string, body: object]>
> = {
  chat: (model, stream) => [
    '/v1/chat/completions',
    { model, stream, messages: [{ role: 'user', content: text }] },
  ],
  completions: (model, stream) => ['/v1/completions', { model, stream, prompt: text }],
  messages: (model, stream) => [
    '/v1/messages',
    { model, stream, max_tokens: 50, messages: [{ role: 'user', content: text }] },
  ],
  responses: (model, stream) => ['/v1/responses', { model, stream, input: text }],
  gemini: (model, stream) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text }] }] },
  ],
}

/** Everything that a client gets: status, headers and body as one text. */
async function call(wire: string, model: string, stream = false, headers = {}) {
  const [path, body] = wires[wire]!(model, stream)
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const said = await response.text()
  const lines = Array.from(response.headers, ([name, value]) => `${name}: ${value}`)
  const all = [response.status, ...lines, said].join('\n').replaceAll(ids, '')
  return { status: response.status, said, all, id: response.headers.get('x-trace-id') }
}

/** Ids have the letters of some names by chance. */
const ids = /[0-9A-HJKMNP-TV-Z]{26}/g

/** Any of the providers and models behind these calls, in any spelling. */
const names = /openai|gpt|anthropic|claude|sonnet|mega/i

const targets: Readonly<Record<string, readonly [alias: string, asked: string, said: string]>> = {
  openai: ['acme-large', 'gpt-4o-mini', 'I am GPT-4o mini (gpt-4o-mini) of OpenAI. OPENAI!'],
  anthropic: [
    'acme-wise',
    'claude-sonnet-4-5',
    'I am Claude 4.5 Sonnet, or claude-sonnet-4-5, of Anthropic.',
  ],
  megacorp: ['acme-own', 'megacorp/mega-7b', 'I am mega-7b of megacorp, megacorp/mega-7b.'],
}
const script = (script: Script): void => {
  openai.reply(script)
  claude.reply(script)
}

describe.each(Object.keys(wires))('on the wire %s', (wire) => {
  describe.each(Object.keys(targets))('a client of %s', (target) => {
    const [alias, asked, said] = targets[target]!
    // Anthropic has no completions.
    const it = test.skipIf(wire === 'completions' && target === 'anthropic')

    it.each([false, true])('gets no byte that names it (streamed: %s)', async (stream) => {
      await label()
      for (const model of wire === 'gemini' ? [alias] : [alias, asked]) {
        script({ content: said, splitBytes: 1 })
        const answer = await call(wire, model, stream)
        expect(answer.status).toBe(200)
        expect(answer.all).not.toMatch(names)
        expect(answer.said).toContain(model === alias && wire !== 'completions' ? alias : 'cme')
      }
    })

    it.each([false, true])('gets no error that names it (streamed: %s)', async (stream) => {
      await label()
      for (const status of [400, 401, 429, 500]) {
        script({
          status,
          error: { message: `${said} failed with ${status}`, type: 'openai_error' },
          times: 5,
        })
        const answer = await call(wire, alias, stream)
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(answer.all).not.toMatch(names)
        openai.reset()
        claude.reset()
      }
    })

    it('gets no name when a stream breaks off', async () => {
      await label()
      script({ content: ['One ', 'two ', said, 'end'], cutAfter: 2 })
      expect((await call(wire, alias, true)).all).not.toMatch(names)
    })
  })

  test('errors of the gateway name none, and say what a client can act upon', async () => {
    await label({ words: ['mega'] })
    const unknown = await call(wire, 'nega-7b')
    expect([unknown.status, unknown.all]).toEqual([404, expect.not.stringMatching(names)])
    const elsewhere = await call(wire, 'acme-large', false, { 'x-provider': 'nobody' })
    expect([elsewhere.status, elsewhere.all]).toEqual([400, expect.not.stringMatching(names)])
    const tags = await call(wire, 'acme-large', false, { 'x-service-tags': '=' })
    expect([tags.status, tags.said]).toEqual([400, expect.stringContaining('X-Service-Tags')])
  })
})

const bodyOf = async (model: string, headers = {}) =>
  JSON.parse((await call('chat', model, false, headers)).said)

test('the shown name is that of the brand, by the name of the model or a glob', async () => {
  await label({ model_names: { 'gpt-4o*': 'large', 'megacorp/mega-7b': 'own', 'acme-wise': 'wise' } })
  script({ content: 'Hi', times: 3 })
  expect([(await bodyOf('gpt-4o-mini')).model, (await bodyOf('acme-own')).model]).toEqual(['large', 'own'])
  expect((await bodyOf('acme-wise')).model).toBe('wise')
})

test('what a provider adds to the fields of the wire is left out', async () => {
  await label()
  script({
    body: {
      id: 'chatcmpl-openai1',
      object: 'chat.completion',
      created: 1,
      model: 'gpt-4o-mini-2024-07-18',
      system_fingerprint: 'fp_44709d6fcb',
      service_tier: 'default',
      x_groq: { id: 'req_1' },
      provider: 'OpenAI',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null },
          finish_reason: 'stop',
          native_finish_reason: 'stop',
          content_filter_results: {},
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4, queue_time: 1 },
    },
  })
  const body = await bodyOf('acme-large')
  expect(body).toEqual({
    id: expect.stringMatching(/^chatcmpl-[0-9A-Z]{26}$/i),
    object: 'chat.completion',
    created: 1,
    model: 'acme-large',
    system_fingerprint: 'fp_acme',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hi', refusal: null }, finish_reason: 'stop' },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  })
})

test('texts stay where the brand says so, and arguments of tools always', async () => {
  await label({ texts: false })
  const content = 'I compare gpt-4o-mini.'
  script({ content, toolCalls: [{ name: 'compare', arguments: '{"model":"gpt-4o-mini"}' }] })
  expect((await bodyOf('acme-large')).choices[0].message.content).toBe(content)
  await label()
  script({ content, toolCalls: [{ name: 'compare', arguments: '{"model":"gpt-4o-mini"}' }] })
  const { message } = (await bodyOf('acme-large')).choices[0]
  expect([message.content, message.tool_calls[0].function.arguments]).toEqual([
    'I compare Acme.',
    '{"model":"gpt-4o-mini"}',
  ])
})

test('a brand is that of the tenant, else of the project, else the one for all others', async () => {
  const { userId, key } = await gateway.signUp('branded')
  await gateway.module('tenantwall', { enabled: true })
  const { body: tenant } = await gateway.api('POST', '/api/modules/tenantwall/tenants', {
    name: 'Acme',
    users: [userId],
  })
  const brand = (name: string, more: object) => ({ name, headers: { 'X-Brand': name }, ...more })
  await gateway.module('whitelabel', {
    enabled: true,
    config: {
      brands: {
        rest: brand('Rest', {}),
        docs: brand('Docs', { projects: ['docs'] }),
        tenant: brand('Tenant', { tenants: [tenant.id] }),
      },
    },
  })
  const brandOf = async (headers: Record<string, string>) =>
    /^x-brand: (.*)$/m.exec((await call('chat', 'acme-large', false, headers)).all)?.[1]
  const authorization = `Bearer ${key}`
  expect(await brandOf({})).toBe('Rest')
  expect(await brandOf({ 'x-project': 'docs' })).toBe('Docs')
  expect(await brandOf({ 'x-project': 'docs', authorization })).toBe('Tenant')
  expect(await brandOf({ authorization: 'Bearer wrong' })).toBe('Rest')
  await gateway.module('tenantwall', { enabled: false })
})

test('a stored response has the shown name as well', async () => {
  await label()
  script({ content: 'I am GPT-4o.' })
  const { id } = JSON.parse((await call('responses', 'acme-large')).said)
  const { status, body } = await gateway.api('GET', `/v1/responses/${id}`)
  expect([status, JSON.stringify(body)]).toEqual([200, expect.not.stringMatching(names)])
})

test('the trace has the real names', async () => {
  await label()
  const { id } = await call('chat', 'acme-large')
  const trace = async () => (await gateway.api('GET', `/api/observe/traces/${id}`)).body
  await expect.poll(trace, { timeout: 10_000 }).toMatchObject({ provider: 'openai', model: 'gpt-4o-mini' })
})

test('a stream shows what the whole answer does, however it is cut', async () => {
  await label()
  expect(await streamsAsWhole(gateway, openai, 'GPT-4 mini, gpt-4o-mini. Chatgpt')).toBe('Acme, Acme. Acme')
})

describe('names in texts', () => {
  const pattern = namePattern(allVendorWords)!

  test('fit into what a stream holds back', () => {
    const word = fc.constantFrom(...allVendorWords)
    const version = fc.stringMatching(/^[- ]?\d[a-z0-9._:-]{0,40}$/)
    fc.assert(
      fc.property(word, version, fc.constantFrom('', ' Turbo', '-mini'), (name, behind, size) => {
        for (const [match] of `${name}${behind}${size}`.matchAll(pattern)) {
          expect(match.length).toBeLessThan(longestMatch - 2)
          expect(match.split(/\s+/).length).toBeLessThanOrEqual(mostWords)
        }
      }),
    )
  })

  test('are those of the vendors of a call', () => {
    expect(vendorWords(['azure', 'gpt-4o'])).toEqual(['OpenAI', 'ChatGPT', 'GPT', 'Azure', 'Microsoft'])
    expect(vendorWords(['together', 'meta-llama/Llama-3'])).toEqual(
      expect.arrayContaining(['Llama', 'Together AI']),
    )
    expect(vendorWords(['mycorp', 'large'])).toEqual([])
  })

  test.each(['egpt', 'Llamas', 'aws-like'.slice(1)])('%j is none', (word) =>
    expect(word.search(namePattern(['GPT', 'Llama', 'AWS'])!)).toBe(-1),
  )
})
