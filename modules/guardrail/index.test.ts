import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { gemini, openai, startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Rules that were posted, on every wire, plain and with the stream cut at every byte. */

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream({ wires: [openai, gemini], apiKey: [] })
  const google = { base_url: upstream.baseUrl('gemini'), api_key: 'sk-test' }
  gateway = await startGateway({ upstream, config: { providers: { gemini: google } } })
})

beforeEach(() => upstream.reset())

const added: string[] = []
afterEach(async () => {
  for (const id of added.splice(0)) await gateway.api('DELETE', `/api/guardrails/${id}`)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

async function add(rule: object): Promise<string> {
  const { body } = await gateway.api('POST', '/api/guardrails', { name: 'a rule', action: 'redact', ...rule })
  added.push(body.id)
  return body.id
}

const user = (content: string) => [{ role: 'user', content }]
const model = 'gpt-4o-mini'

/** What a client of each wire gets, as text, whole or streamed. */
const wires: Readonly<
  Record<string, readonly [path: string, body: (text: string) => object, header?: string]>
> = {
  chat: ['/v1/chat/completions', (text) => ({ model, messages: user(text) })],
  completions: ['/v1/completions', (text) => ({ model, prompt: text })],
  messages: ['/v1/messages', (text) => ({ model, max_tokens: 4000, messages: user(text) }), 'x-api-key'],
  responses: ['/v1/responses', (text) => ({ model, input: text })],
}

async function ask(wire: string, text: string, stream: boolean, project = 'default') {
  const gemini = `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`
  const [path, body] =
    wire === 'gemini'
      ? [gemini, { contents: [{ role: 'user', parts: [{ text }] }] }]
      : [wires[wire]![0], { ...wires[wire]![1](text), ...(stream && { stream }) }]
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gateway.adminKey}`,
      'content-type': 'application/json',
      'x-project': project,
    },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text() }
}

const secret = 'K-1234-XYZ'
const sent = () => JSON.stringify(upstream.requests.at(-1)?.body)

describe.each(['chat', 'completions', 'messages', 'responses', 'gemini'])('on the wire %s', (wire) => {
  test.each([false, true])('no matched byte leaves, in either direction (streamed: %s)', async (stream) => {
    await add({ pattern: 'K-\\d{4}(?:-[A-Z]+)?' })
    upstream.reply({ content: `It is ${secret}, as I said: ${secret}.`, splitBytes: 1 })
    const { status, text } = await ask(wire, `My key is ${secret}`, stream)
    expect(status).toBe(200)
    expect(sent()).toContain('[REDACTED:custom]')
    expect(sent()).not.toMatch(/1234|XYZ/)
    expect(
      text.replaceAll(/"(?:id|created\w*|responseId|response_id|item_id)":\s*"?[^",}]*"?/g, ''),
    ).not.toMatch(/K-|1234|XYZ/)
  })

  test.each([false, true])(
    'a rule that blocks ends an answer before its match (streamed: %s)',
    async (stream) => {
      await add({ pattern: 'K-\\d{4}', action: 'block', direction: 'response' })
      upstream.reply({ content: `${'So far so good. '.repeat(60)}It is ${secret}.`, splitBytes: 7 })
      const { status, text } = await ask(wire, 'Hello', stream)
      expect(status).toBe(stream ? 200 : 400)
      expect(text).not.toContain('1234')
      expect(text).toMatch(/guardrail|content_filter|refus/i)
    },
  )
})

describe.each([false, true])('in a chat (streamed: %s)', (stream) => {
  test('rules see reasoning, arguments of tools and results of tools', async () => {
    await add({ pattern: 'K-\\d{4}' })
    const { create } = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey }).chat.completions
    expect(create).toBeTypeOf('function')
    upstream.reply({
      content: 'Done.',
      reasoning: `I recall ${secret}.`,
      toolCalls: [{ name: 'send', arguments: JSON.stringify({ key: secret, note: `"${secret}"` }) }],
      splitBytes: 1,
    })
    const body = {
      model,
      stream,
      messages: [
        ...user('Send it'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'find', arguments: `{"k":"${secret}"}` } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: `Found ${secret}` },
      ],
    }
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    expect(await response.text()).not.toContain('1234')
    expect(sent()).not.toContain('1234')
    expect(sent().match(/REDACTED/g)).toHaveLength(2)
  })

  test('rules of one project leave others alone, and a change holds for the next call', async () => {
    const id = await add({ pattern: 'plan [A-Z]', project: 'alpha' })
    await ask('chat', 'See plan B', stream, 'alpha')
    expect(sent()).toContain('[REDACTED:custom]')
    await ask('chat', 'See plan B', stream, 'beta')
    expect(sent()).toContain('plan B')
    await gateway.api('PUT', `/api/guardrails/${id}`, { mode: 'shadow' })
    await ask('chat', 'See plan B', stream, 'alpha')
    expect(sent()).toContain('plan B')
    await gateway.api('PUT', `/api/guardrails/${id}`, { mode: 'enforce', models: ['gpt-4o'] })
    await ask('chat', 'See plan B', stream, 'alpha')
    expect(sent()).toContain('plan B')
  })

  test('rules of bindings hold beside the stored ones, and each match counts once', async () => {
    const id = await add({ pattern: 'stored-\\d' })
    const binding = { name: 'team', config: { rules: [{ name: 'Own', words: ['own'], action: 'redact' }] } }
    expect((await gateway.api('POST', '/api/proxy/modules/guardrail/bindings', binding)).status).toBe(201)
    const hits = async () => (await gateway.api('GET', `/api/guardrails/${id}`)).body.hits_24h
    const before = await hits()
    await ask('chat', 'stored-1 own', stream)
    expect(sent()).toContain('[REDACTED:custom] [REDACTED:custom]')
    await expect.poll(hits).toBe(before + 1)
    await gateway.api('DELETE', '/api/proxy/modules/guardrail/bindings/team')
  })
})

test('in shadow the module refuses nothing, and no match counts as refused', async () => {
  const id = await add({ pattern: 'K-\\d{4}', action: 'block', direction: 'request' })
  await gateway.module('guardrail', { mode: 'shadow' })
  try {
    expect((await ask('chat', `My key is ${secret}`, false)).status).toBe(200)
    const events = async () => (await gateway.api('GET', `/api/guardrails/events?rule_id=${id}`)).body.events
    await expect.poll(events).toMatchObject([{ action: 'block', mode: 'shadow', direction: 'request' }])
  } finally {
    await gateway.module('guardrail', { mode: 'enforce' })
  }
})

test('official clients see a refusal as a bad request that names the module', async () => {
  await add({ pattern: 'K-\\d{4}', action: 'block' })
  const baseURL = `${gateway.url}/v1`
  const openai = new OpenAI({ baseURL, apiKey: gateway.adminKey, maxRetries: 0 })
  const refused = openai.chat.completions.create({ model, messages: [{ role: 'user', content: secret }] })
  await expect(refused).rejects.toMatchObject({
    status: 400,
    error: { type: 'content_blocked', module: 'guardrail' },
  })
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.adminKey, maxRetries: 0 })
  const message = { model, max_tokens: 10, messages: [{ role: 'user' as const, content: secret }] }
  await expect(anthropic.messages.create(message)).rejects.toMatchObject({ status: 400 })
  const google = new GoogleGenAI({ apiKey: gateway.adminKey, httpOptions: { baseUrl: gateway.url } })
  await expect(google.models.generateContent({ model, contents: secret })).rejects.toMatchObject({
    status: 400,
  })
  expect(upstream.requests).toEqual([])
})

test('inputs of embeddings are checked', async () => {
  await add({ pattern: 'K-\\d{4}' })
  const openai = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
  await openai.embeddings.create({ model: 'text-embedding-3-small', input: [`a ${secret}`, 'b'] })
  expect(sent()).not.toContain('1234')
})

test.each([
  ['redact', false],
  ['redact', true],
  ['block', false],
  ['block', true],
])('Gemini repeats no match in its tokens or its sources: %s, streamed: %s', async (action, stream) => {
  await add({ pattern: 'ZEBRA\\d{4}', action })
  const chance = (token: string) => ({ token, logProbability: -1 })
  const events = [['It is ZEB'], ['RA', '1234', ' now']].map((tokens, i) => ({
    candidates: [
      {
        index: 0,
        content: { role: 'model', parts: [{ text: tokens.join('') }] },
        logprobsResult: { chosenCandidates: tokens.map(chance) },
        ...(i === 1 && {
          finishReason: 'STOP',
          groundingMetadata: { groundingSupports: [{ segment: { text: 'It is ZEBRA1234 now' } }] },
        }),
      },
    ],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
    modelVersion: 'gemini-2.5-flash',
  }))
  const [first, last] = events.map(({ candidates }) => candidates[0]!)
  const parts = [{ text: 'It is ZEBRA1234 now' }]
  const logprobsResult = {
    chosenCandidates: [first!, last!].flatMap((candidate) => candidate.logprobsResult.chosenCandidates),
  }
  const whole = { ...events[1], candidates: [{ ...last, content: { role: 'model', parts }, logprobsResult }] }
  for (const wire of ['/v1/chat/completions', '/v1beta/models/gemini-2.5-flash:']) {
    upstream.reply(
      stream ? { chunks: events.map((one) => `data: ${JSON.stringify(one)}\n\n`) } : { body: whole },
    )
    const isChat = wire.endsWith('completions')
    const response = await fetch(
      gateway.url + (isChat ? wire : wire + (stream ? 'streamGenerateContent?alt=sse' : 'generateContent')),
      {
        method: 'POST',
        headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(
          isChat
            ? { model: 'gemini-2.5-flash', messages: user('hi'), stream, logprobs: true }
            : {
                contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
                generationConfig: { responseLogprobs: true },
              },
        ),
      },
    )
    // Ids are letters by chance.
    const text = (await response.text()).replaceAll(/tr_\w+/g, '')
    expect([wire, text]).toEqual([wire, expect.not.stringMatching(/ZEB|1234/)])
    expect(text).toContain(action === 'block' ? 'refused' : 'REDACTED')
  }
})
