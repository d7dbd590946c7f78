import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const model = 'gpt-4o-mini'
const messages = [{ role: 'user' as const, content: 'What is the capital of Peru?' }]
const providerKey = 'sk-test'

let upstream: Upstream
let gateway: TestGateway
let developer: { userId: string; key: string }
let other: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  developer = await gateway.signUp('developer')
  other = await gateway.signUp('other')
  const { body } = await gateway.api('GET', '/api/auth/me/keys', undefined, developer.key)
  await gateway.module('devproxy', { enabled: true, config: { keys: [body.keys[0].id] } })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => upstream.reset())

async function send(key: string, debug: string | undefined, more: object = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(debug !== undefined && { 'x-debug': debug }),
    },
    body: JSON.stringify({ model, messages, ...more }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const debugHeaders = (headers: Headers): string[] =>
  [...headers.keys()].filter((name) => name.startsWith('x-debug'))

test('a developer sees what happened: decisions, timings, what was sent and what it cost', async () => {
  await gateway.module('paramnorm', { enabled: true })
  await gateway.module('modelalias', { enabled: true, config: { aliases: { quick: model } } })
  upstream.reply({ content: 'Lima.', usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } })
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: developer.key, maxRetries: 0 })
  const { data, response } = await client.chat.completions
    .create({ model: 'quick', messages }, { headers: { 'x-debug': 'true' } })
    .withResponse()
  expect(data.choices[0]!.message.content).toBe('Lima.')
  const { debug } = data as unknown as { debug: Record<string, never> }
  expect(debug).toMatchObject({
    trace_id: response.headers.get('x-trace-id'),
    attempts: [{ n: 1, provider: 'openai', model, own_key: false, error: null }],
    upstream_request: { model, messages },
    cost: {
      items: [
        { class: 'input', tokens: 10 },
        { class: 'output', tokens: 2 },
      ],
    },
  })
  const { timings, cost } = debug as unknown as {
    timings: { module: string; ms: number }[]
    cost: { total_usd: number; items: { cost_usd: number }[] }
  }
  expect(timings.map(({ module }) => module)).toContain('modelalias')
  expect(timings.every(({ ms }) => ms >= 0)).toBe(true)
  const sum = cost.items.reduce((total, { cost_usd }) => total + cost_usd, 0)
  expect(sum).toBeCloseTo(cost.total_usd, 9)
  expect(response.headers.get('x-debug-target')).toBe(`openai/${model}`)
  expect(response.headers.get('x-debug-cost-usd')).toBe(String(cost.total_usd))
  expect(response.headers.get('x-debug-timings')).toContain('modelalias.')
})

test('of a stream it is the last event', async () => {
  upstream.reply({ content: ['Li', 'ma.'] })
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: developer.key, maxRetries: 0 })
  const stream = await client.chat.completions.create(
    { model, messages, stream: true },
    { headers: { 'x-debug': 'true' } },
  )
  let [text, last] = ['', {} as object]
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? ''
    last = chunk
  }
  expect([text, last]).toMatchObject([
    'Lima.',
    { debug: { attempts: [{ provider: 'openai', model }], upstream_request: { messages } } },
  ])
})

test('an error has it among its details', async () => {
  upstream.reply({ status: 400, error: { message: 'No such thing.' } })
  const { status, text } = await send(developer.key, 'true')
  const { error } = JSON.parse(text)
  expect([status, error.details.debug.attempts]).toMatchObject([
    400,
    [{ provider: 'openai', status: 400, error: { code: 'bad_request' } }],
  ])
})

test('a dry run goes as far as the choice of a key, and no further', async () => {
  for (const stream of [false, true]) {
    const { status, text, headers } = await send(developer.key, 'dry-run', { stream })
    const { error } = JSON.parse(text)
    expect([status, error.type, error.details.debug.upstream_request.messages]).toEqual([
      200,
      'dry_run',
      messages,
    ])
    expect(headers.get('x-debug-target')).toBe(`openai/${model}`)
  }
  const { body } = await gateway.api('GET', `/api/users/${developer.userId}/spend`)
  expect(upstream.requests).toHaveLength(0)
  expect(body.reserved_usd).toBe(0)
})

test('other keys get nothing, whatever they ask for', async () => {
  upstream.reply({ content: 'Lima.', times: 5 })
  for (const debug of ['true', 'dry-run', 'TRUE']) {
    const { status, text, headers } = await send(other.key, debug)
    expect([status, text.includes('debug'), debugHeaders(headers)]).toEqual([200, false, []])
  }
  for (const debug of [undefined, 'false']) {
    const { status, text, headers } = await send(developer.key, debug)
    expect([status, text.includes('debug'), debugHeaders(headers)]).toEqual([200, false, []])
  }
  const wrong = await send('sk-wrong', 'true')
  expect([wrong.status, wrong.text.includes('debug')]).toEqual([401, false])
})

test('no key and no secret is in it, nor what guards took out', async () => {
  await gateway.module('maskmode', { enabled: true })
  const person = 'ada.lovelace@example.com'
  const asked = [{ role: 'user' as const, content: `Write to ${person}.` }]
  upstream.reply({ content: 'Done.', times: 2 })
  for (const stream of [false, true]) {
    const { status, text, headers } = await send(developer.key, 'true', { messages: asked, stream })
    expect(status).toBe(200)
    const all = text + JSON.stringify([...headers])
    for (const secret of [providerKey, person, gateway.adminKey, developer.key])
      expect([secret, all.includes(secret)]).toEqual([secret, false])
  }
  const said = `Incorrect API key provided: ${providerKey}`
  upstream.reply({ status: 401, error: { message: said }, times: Number.POSITIVE_INFINITY })
  const failed = await send(developer.key, 'true', { messages: asked })
  const { error } = JSON.parse(failed.text)
  expect(error.details.debug.attempts[0]).toMatchObject({ provider: 'openai', status: 401 })
  expect(JSON.stringify([error.details.debug, ...failed.headers])).not.toMatch(/sk-test|ada\.lovelace/)
  await gateway.module('maskmode', { enabled: false })
})

test('on other wires the headers tell of it', async () => {
  upstream.reply({ content: 'Lima.' })
  const client = new Anthropic({ baseURL: gateway.url, apiKey: developer.key, maxRetries: 0 })
  const { data, response } = await client.messages
    .create({ model, max_tokens: 50, messages }, { headers: { 'x-debug': 'true' } })
    .withResponse()
  expect(data.content).toMatchObject([{ type: 'text', text: 'Lima.' }])
  expect(debugHeaders(response.headers).sort()).toEqual(
    expect.arrayContaining(['x-debug-target', 'x-debug-timings']),
  )
})
