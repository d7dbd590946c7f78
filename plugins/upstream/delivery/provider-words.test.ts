import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Played, startPlayed } from '../../../test/played.ts'
import { traceOf } from '../../../test/trace.ts'
import { anthropic } from '../../../test/upstream/anthropic/index.ts'
import { gemini, openai, type Script } from '../../../test/upstream/index.ts'

const secret = 'sk_live_lmnopqrstuvwxyzABCDEFGH1'
const said = `Bad input near "${secret}" in your prompt.`

let played: Played

beforeAll(async () => {
  played = await startPlayed({ wires: [openai, anthropic, gemini] }, ({ baseUrl }) => ({
    config: {
      providers: {
        openai: { base_url: baseUrl('openai'), api_key: 'sk-test' },
        anthropic: { base_url: baseUrl('anthropic'), api_key: 'sk-test' },
        gemini: { base_url: baseUrl('gemini'), api_key: 'sk-test' },
      },
    },
  }))
})

beforeEach(() => {
  played.upstream.reset()
  played.gateway.logged.length = 0
})

afterAll(() => played.close())

/** How clients of each wire ask. */
const wires = {
  chat: (model: string, stream: boolean, content: string) => [
    '/v1/chat/completions',
    { model, stream, messages: [{ role: 'user', content }] },
  ],
  messages: (model: string, stream: boolean, content: string) => [
    '/v1/messages',
    { model, stream, messages: [{ role: 'user', content }], max_tokens: 100 },
  ],
  responses: (model: string, stream: boolean, content: string) => [
    '/v1/responses',
    { model, stream, input: content },
  ],
  completions: (model: string, stream: boolean, content: string) => [
    '/v1/completions',
    { model, stream, prompt: content },
  ],
  gemini: (model: string, stream: boolean, content: string) => [
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    { contents: [{ role: 'user', parts: [{ text: content }] }] },
  ],
} as const

async function ask(wire: keyof typeof wires, model: string, stream: boolean, text = 'hello') {
  const { gateway, userKey } = played
  const [path, body] = wires[wire](model, stream, text)
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${userKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, text: await response.text(), trace: await traceOf(gateway, response) }
}

const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`
const named = (data: { readonly type: string; readonly [field: string]: unknown }): string =>
  `event: ${data.type}\n${event(data)}`

/** A stream of each provider that breaks off with an error in its own words. */
const broken: Readonly<Record<string, readonly string[]>> = {
  'gpt-4o-mini': [
    event({
      choices: [{ index: 0, delta: { role: 'assistant', content: 'So it is. ' }, finish_reason: null }],
    }),
    event({ error: { message: said, type: 'server_error', code: null, param: null } }),
  ],
  'claude-sonnet-4-5': [
    named({ type: 'message_start', message: { id: 'm', role: 'assistant', content: [], usage: {} } }),
    named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'So it is. ' } }),
    named({ type: 'error', error: { type: 'api_error', message: said } }),
  ],
  'gemini-2.5-flash': [
    event({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text: 'So it is. ' }] } }] }),
    event({ error: { code: 500, status: 'INTERNAL', message: said } }),
  ],
}

const failing = (error: Script['error'] = { message: said }): Script => ({ status: 400, error })
const everywhere = (answer: { text: string; trace: unknown }): string =>
  JSON.stringify([answer, played.gateway.logged])

describe.each(['inproc', 'worker'])('with a guard of answers %s', (isolation) => {
  beforeAll(() => played.gateway.module('secretscan', { enabled: true, isolation, config: null }))
  afterAll(() => played.gateway.module('secretscan', { enabled: false, isolation: 'inproc' }))

  const ways = (Object.keys(wires) as (keyof typeof wires)[]).map((wire) => [wire] as const)
  test.each(ways)(
    'the message of an error is redacted for a client of %s, and everywhere else',
    async (wire) => {
      for (const stream of [false, true]) {
        played.upstream.reply(failing())
        const answer = await ask(wire, 'gpt-4o-mini', stream)
        expect(answer.status).toBe(400)
        expect(answer.text).toContain('[REDACTED:stripe_key]')
        expect(everywhere(answer)).not.toContain(secret)
        expect(answer.trace.error.message).toContain('Bad input near "[REDACTED:stripe_key]"')
      }
    },
  )

  test.each(Object.keys(broken))('and so is that of an error in a stream of %s', async (model) => {
    for (const wire of ['chat', 'messages', 'responses', 'gemini'] as const) {
      played.upstream.reply({ chunks: broken[model]! })
      const answer = await ask(wire, model, true)
      expect(answer.text).toContain('So it is')
      expect(answer.text).toContain('[REDACTED:stripe_key]')
      expect(everywhere(answer)).not.toContain(secret)
    }
  })
})

test('words that a guard refuses are withheld, and the error keeps its code and status', async () => {
  await played.gateway.module('secretscan', { enabled: true, config: { response: 'block' } })
  for (const stream of [false, true]) {
    played.upstream.reply(failing({ message: 'Bad input.', type: secret, param: secret, code: secret }))
    const answer = await ask('chat', 'gpt-4o-mini', stream)
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text).error).toMatchObject({
      code: 'bad_request',
      type: 'invalid_request_error',
      param: null,
      message: 'openai answered with an error, whose message is withheld.',
    })
    expect(answer.trace.error).toMatchObject({ provider_status: 400 })
    expect(answer.trace.guardrails).toMatchObject([
      { module: 'secretscan', action: 'block', direction: 'response' },
    ])
    expect(everywhere(answer)).not.toContain(secret)
  }
  await played.gateway.module('secretscan', { enabled: false, config: null })
})

test('what is masked in a request is restored in an error, for the client alone', async () => {
  await played.gateway.module('maskmode', { enabled: true })
  const address = 'jo.doe@example.org'
  for (const stream of [false, true]) {
    played.upstream.reply({ content: 'hi' })
    await ask('chat', 'gpt-4o-mini', stream, `I am ${address}.`)
    const [placeholder] = /\[EMAIL_\w+\]/.exec(played.upstream.requests.at(-1)!.rawBody)!
    const message = `No answer for ${placeholder}.`
    const chunks = [broken['gpt-4o-mini']![0]!, event({ error: { message } })]
    for (const script of [failing({ message }), ...(stream ? [{ chunks }] : [])]) {
      played.upstream.reply(script)
      const { text, trace } = await ask('chat', 'gpt-4o-mini', stream, `I am ${address}.`)
      expect(text).toContain(`No answer for ${address}.`)
      expect(trace.error.message).toContain(message)
      expect(JSON.stringify([trace, played.gateway.logged])).not.toContain(address)
    }
  }
  await played.gateway.module('maskmode', { enabled: false })
})

test('what an attempt says that is made good elsewhere is redacted in the trace', async () => {
  const { gateway, upstream } = played
  const config = { chains: { 'gpt-4o-mini': ['openai/gpt-4o-mini', 'anthropic/claude-sonnet-4-5'] } }
  await gateway.module('secretscan', { enabled: true })
  await gateway.module('fallbackrouter', { enabled: true, config })
  upstream.reply({ status: 500, error: { message: said } })
  upstream.reply({ content: 'hi' })
  const answer = await ask('chat', 'gpt-4o-mini', false)
  expect(answer.status).toBe(200)
  expect(answer.trace.attempts[0].error).toContain('[REDACTED:stripe_key]')
  expect(everywhere(answer)).not.toContain(secret)
  await gateway.module('fallbackrouter', { enabled: false, config: null })
  await gateway.module('secretscan', { enabled: false })
})

test('a model that is asked about a text may repeat it in its error', async () => {
  const { gateway, upstream } = played
  const config = { categories: ['hate'], moderation_model: 'openai/omni-moderation-latest' }
  await gateway.module('secretscan', { enabled: true, config: { request: 'off' } })
  await gateway.module('toxicfilter', { enabled: true, config })
  upstream.reply(failing())
  const answer = await ask('chat', 'gpt-4o-mini', false, said)
  expect(answer.text).toContain('[REDACTED:stripe_key]')
  await gateway.module('toxicfilter', { enabled: false, config: null })
  await gateway.module('secretscan', { enabled: false, config: null })
})

test('an error that is larger than any that a person reads keeps its status, and has no words', async () => {
  played.upstream.reply({
    status: 400,
    body: JSON.stringify({ error: { message: `Bad ${'x'.repeat(1024 * 1024)}` } }),
  })
  const { status, text } = await ask('chat', 'gpt-4o-mini', false)
  expect(status).toBe(400)
  expect(text).not.toContain('Bad')
})
