import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ask, textOf } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream, config: { modules: { toxicfilter: { enabled: true } } } })
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const configure = async (config: object): Promise<void> => {
  await gateway.module('toxicfilter', { config: null })
  await gateway.module('toxicfilter', { config })
}
const chat = (content: string, stream = false) =>
  ask(gateway, { body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }], stream } })

describe.each([false, true])('streamed: %s', (stream) => {
  test('words are taken out of an answer', async () => {
    await configure({})
    upstream.reply({ content: 'Well, s h i t happens in Scunthorpe, you @sshole.', splitBytes: 1 })
    const { body } = await chat('Hi', stream)
    expect(textOf(body)).toBe('Well, [REDACTED:profanity] happens in Scunthorpe, you [REDACTED:profanity].')
  })

  test('an answer with a word is refused before the word has left', async () => {
    await configure({ response: 'block' })
    upstream.reply({ content: 'Some words first, then one: n1gger', splitBytes: 2 })
    const { status, body } = await chat('Hi', stream)
    expect(status).toBe(stream ? 200 : 400)
    expect(body).toMatchObject({ error: { type: 'content_blocked', details: { found: 'slur' } } })
  })

  test('a flagged word passes, and the trace tells of it without the word', async () => {
    await configure({ response: 'flag' })
    upstream.reply({ content: 'Merde!' })
    const { headers, body } = await chat('Hi', stream)
    expect(textOf(body)).toBe('Merde!')
    const path = `/api/observe/traces/${headers.get('x-trace-id')}`
    await expect.poll(async () => (await gateway.api('GET', path)).status).toBe(200)
    const { guardrails } = (await gateway.api('GET', path)).body
    expect(guardrails).toMatchObject([
      { module: 'toxicfilter', type: 'toxic', action: 'warn', label: 'profanity' },
    ])
    expect(JSON.stringify(guardrails)).not.toContain('Merde')
  })
})

test('a request is refused, cleaned or let through, as it is set', async () => {
  await configure({})
  expect((await chat('You wh0re')).status).toBe(400)
  expect(upstream.requests).toEqual([])
  await configure({ request: 'redact' })
  await chat('You wh0re')
  expect(upstream.last().body).toMatchObject({ messages: [{ content: 'You [REDACTED:profanity]' }] })
  await configure({ request: 'off' })
  expect((await chat('You wh0re')).status).toBe(200)
})

describe('a moderation model', () => {
  const moderation_model = 'openai/omni-moderation-latest'
  const categories = ['hate', 'self_harm']
  const answer = (content: string) =>
    upstream.reply({ path: '/chat/completions' }, { content, splitBytes: 4 })
  const scored = () =>
    upstream.requests
      .filter(({ path }) => path.endsWith('/moderations'))
      .map(({ body }) => (body as { input: string[] }).input)

  test('is asked about what users write, and refuses by category', async () => {
    await configure({ moderation_model, categories })
    expect((await chat('Some [hate/threatening] text')).body).toMatchObject({
      error: { type: 'content_blocked', module: 'toxicfilter', details: { found: 'hate' } },
    })
    expect(scored()).toEqual([['Some [hate/threatening] text']])
    expect((await chat('Some [violence] text')).status).toBe(200)
    await configure({ moderation_model, categories, thresholds: { hate: 0.95 } })
    expect((await chat('Some [hate] text')).status).toBe(200)
  })

  test('that does not answer lets nothing pass', async () => {
    await configure({ moderation_model, categories })
    upstream.reply({ path: '/moderations' }, { status: 500 })
    expect((await chat('Hello')).status).toBe(502)
    upstream.reply({ path: '/moderations' }, { body: { results: [] } })
    expect((await chat('Hello')).status).toBe(502)
  })

  test.each([false, true])(
    'finds sentences of an answer, and the others stay (streamed: %s)',
    async (stream) => {
      await configure({ moderation_model, categories, request: 'off' })
      answer('All is well. Do [self-harm] now! And then?')
      expect(textOf((await chat('Hi', stream)).body)).toBe('All is well. [REDACTED:self_harm] And then?')
      await configure({ moderation_model, categories, request: 'off', response: 'block' })
      answer('All is well. Do [self-harm] now! And then?')
      expect((await chat('Hi', stream)).body).toMatchObject({ error: { details: { found: 'self_harm' } } })
    },
  )

  test('is asked about each sentence of a stream before it leaves', async () => {
    await configure({ moderation_model, categories, request: 'off' })
    upstream.reply({ path: '/chat/completions' }, { content: ['One. Tw', 'o', '. Th', 'ree'] })
    await chat('Hi', true)
    expect(scored()).toEqual([['One. '], ['Two. '], ['Three']])
  })
})

test('a text that is bound to a region is not shown to a moderation model outside of it', async () => {
  await configure({ moderation_model: 'openai/omni-moderation-latest', categories: ['hate'] })
  await gateway.module('regionroute', { enabled: true, config: { default: ['eu-west-1'] } })
  const region = (provider: string, region: string | null) =>
    gateway.api('PUT', `/api/proxy/providers/${provider}`, { region })
  const said = () =>
    ask(gateway, {
      body: { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Some [hate] text' }] },
    })
  await region('anthropic', 'eu-west-1')
  await region('openai', 'us-east-1')
  expect(await said()).toMatchObject({
    status: 403,
    body: {
      error: { code: 'forbidden', module: 'regionroute', message: expect.stringContaining('us-east-1') },
    },
  })
  expect(upstream.requests).toEqual([])
  await region('openai', 'eu-west-1')
  expect(await said()).toMatchObject({ status: 400, body: { error: { type: 'content_blocked' } } })
  expect(upstream.requests).toHaveLength(1)
  await gateway.module('regionroute', { enabled: false })
})

test('a category that has no source is refused in the settings', async () => {
  await configure({})
  for (const category of ['hate', 'harassment', 'sexual', 'violence', 'self_harm']) {
    const change = { config: { categories: [category] } }
    expect((await gateway.api('PUT', '/api/proxy/modules/toxicfilter', change)).status).toBe(400)
  }
})
