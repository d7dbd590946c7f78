import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Dropin, writeDropins } from '../../test/dropins.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type RecordedRequest, type Script, startUpstream, type Upstream } from '../../test/upstream/index.ts'

/** Keeps calls of one project from one model, as a region or a scope would. */
const walls: Dropin = {
  manifest: { stage: 'route', failure: 'closed' },
  setup: `return { eligible: ({ model }, { context }) =>
    context.project === 'walled' && model === 'dear' ? 'it is outside' : undefined }`,
}

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI
let remove: () => Promise<void>

beforeAll(async () => {
  upstream = await startUpstream()
  const dropins = await writeDropins({ walls })
  remove = dropins.remove
  const prices = Object.fromEntries(
    ['cheap', 'fair', 'dear', 'judge'].map((model, i) => [
      `openai/${model}`,
      { input_usd_per_m: 10 ** i, output_usd_per_m: 2 * 10 ** i },
    ]),
  )
  const models = ['cheap', 'fair', 'dear', 'judge', 'asked']
  gateway = await startGateway({
    config: {
      providers: { openai: { base_url: upstream.baseUrl(), api_key: 'sk-test', models } },
      prices,
      plugin_dirs: [dropins.folder],
      modules: { retrypilot: { enabled: false } },
    },
  })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.adminKey, maxRetries: 0 })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await Promise.all([upstream.close(), remove()])
})

const models = ['cheap', 'fair', 'dear']

async function configure(mode: string, config: Record<string, unknown> = {}): Promise<void> {
  await gateway.module('multicall', { enabled: true, config: null })
  await gateway.module('multicall', { config: { models, mode, ...config } })
}

/** What each model answers. */
function answers(scripts: Readonly<Record<string, Script>>): void {
  for (const [model, script] of Object.entries(scripts)) upstream.reply({ model }, script)
}

/** The request that a model got; waits until it has. */
const requestTo = (model: string): Promise<RecordedRequest> =>
  vi.waitFor(() => {
    const found = upstream.requests.find(({ body }) => (body as { model?: string }).model === model)
    expect(found).toBeDefined()
    return found!
  }, 10_000)

const traceOf = (response: { readonly headers: Headers }) =>
  vi.waitFor(async () => {
    const at = `/api/observe/traces/${response.headers.get('x-trace-id')}`
    const { status, body } = await gateway.api('GET', at)
    expect(status).toBe(200)
    return body
  }, 20_000)

const usage = (input: number, output: number) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
})

interface Got {
  readonly texts: readonly string[]
  readonly response: Response
}

const question = { model: 'asked', messages: [{ role: 'user' as const, content: 'Hello' }] }

/** The texts of the choices that the official client gets, whole or streamed. */
async function ask(stream: boolean, headers: Record<string, string> = {}): Promise<Got> {
  const options = { headers }
  if (!stream) {
    const { data, response } = await client.chat.completions.create(question, options).withResponse()
    return { texts: data.choices.map(({ message }) => message.content ?? ''), response }
  }
  const { data, response } = await client.chat.completions
    .create({ ...question, stream: true }, options)
    .withResponse()
  const texts: string[] = []
  for await (const { choices } of data)
    for (const { index, delta } of choices) texts[index] = (texts[index] ?? '') + (delta.content ?? '')
  return { texts, response }
}

describe.each([false, true])('stream: %s', (stream) => {
  test('first: the first answer is given, and the connections of the others are closed', async () => {
    await configure('first')
    answers({ cheap: { hang: true }, fair: { content: 'Here I am.' }, dear: { hang: true } })
    const { texts, response } = await ask(stream)
    expect(texts).toEqual(['Here I am.'])
    for (const model of ['cheap', 'dear']) {
      const request = await requestTo(model)
      await request.closed
      expect(request.aborted).toBe(true)
    }
    const trace = await traceOf(response)
    expect(trace).toMatchObject({
      provider: 'openai',
      model_requested: 'asked',
      model: 'fair',
      attempts: [{}, {}, {}],
    })
    expect(trace.decisions[0]).toMatchObject({ kind: 'multicall', chosen: 'openai/fair', considered: models })
  })

  test.each(['best', 'vote', 'all'])(
    '%s: costs what all attempts cost together, to the nano-dollar',
    async (mode) => {
      await configure(mode)
      answers({
        cheap: { content: 'one thing', usage: usage(11, 3) },
        fair: { content: 'another', usage: usage(13, 5) },
        dear: { content: 'something else', usage: usage(17, 7) },
      })
      const trace = await traceOf((await ask(stream)).response)
      const costs = [11 + 2 * 3, (13 + 2 * 5) * 10, (17 + 2 * 7) * 100].map((micro) => micro / 1e6)
      const billed = trace.attempts.map(({ model, cost_usd }: { model: string; cost_usd: number }) => [
        model,
        cost_usd,
      ])
      expect(Object.fromEntries(billed)).toEqual({ cheap: costs[0], fair: costs[1], dear: costs[2] })
      expect(trace.cost_usd).toBe(Number(costs.reduce((a, b) => a + b).toFixed(9)))
      expect(trace.usage).toMatchObject({ input: 41, output: 15 })
    },
  )

  test('vote: the answer of most models is given, whatever the order of its fields', async () => {
    await configure('vote')
    answers({
      cheap: { content: '{"a":2,"b":[1]}', gate: { opened: Promise.resolve() } },
      fair: { content: '```json\n{"b":[1],"a":1}\n```' },
      dear: { content: '{"a": 1, "b": [1]}' },
    })
    const { texts, response } = await ask(stream)
    expect([JSON.parse(texts[0]!.replaceAll(/```(json)?/g, '')), response.headers.get('x-votes')]).toEqual([
      { a: 1, b: [1] },
      '2/3',
    ])
  })

  test('vote: models that can change nothing any more are not waited for', async () => {
    await configure('vote')
    answers({ cheap: { content: 'Yes.' }, fair: { content: 'yes' }, dear: { hang: true } })
    expect((await ask(stream)).texts[0]).toMatch(/yes/i)
    const request = await requestTo('dear')
    await request.closed
    expect(request.aborted).toBe(true)
  })

  test('all: each answer is a choice, and a model that fails leaves its place to the next', async () => {
    await configure('all')
    answers({ cheap: { content: 'one' }, fair: { status: 500 }, dear: { content: 'two' } })
    const { texts, response } = await ask(stream)
    expect([texts, response.headers.get('x-models')]).toEqual([['one', 'two'], 'cheap, dear'])
  })

  test('best: a judge chooses, whose call is a child of this one and paid by its caller', async () => {
    await configure('best', { judge: { model: 'judge' } })
    const { key, userId } = await gateway.signUp(`judged-${stream}`)
    answers({
      cheap: { content: 'red' },
      fair: { content: 'green' },
      dear: { content: 'blue' },
      judge: { content: '{"best": 2}' },
    })
    const { texts, response } = await ask(stream, { authorization: `Bearer ${key}` })
    expect(texts).toEqual(['green'])
    const { decisions, id } = await traceOf(response)
    expect(decisions[0]).toMatchObject({ chosen: 'openai/fair', reason: 'judge finds it best' })
    const { body } = await gateway.api('GET', `/api/observe/traces?user_id=${userId}&model=judge`)
    expect(body.traces).toMatchObject([{ parent_id: id }])
  })

  test.each([
    ['fails', { status: 500 }],
    ['gives no verdict', { content: 'They are all good.' }],
    ['names an answer that there is not', { content: '{"best": 9}' }],
  ])('best: with a judge that %s it is the answer that is most like the others', async (_, script) => {
    await configure('best', { judge: { model: 'judge' } })
    answers({
      cheap: { content: 'It is far away.' },
      fair: { content: 'Bern is in Switzerland.' },
      dear: { content: 'In Switzerland, Bern is.' },
      judge: script,
    })
    expect((await ask(stream)).texts[0]).toContain('Switzerland')
  })

  test.each(['first', 'best', 'vote', 'all'])(
    '%s: when all fail, the client gets the error of the first',
    async (mode) => {
      await configure(mode)
      answers({
        cheap: { status: 422, error: { message: 'not like this' } },
        fair: { status: 500 },
        dear: { status: 500 },
      })
      await expect(ask(stream)).rejects.toThrow('not like this')
    },
  )

  test('a client that leaves ends all calls', async () => {
    await configure('all')
    answers(Object.fromEntries(models.map((model) => [model, { hang: true }])))
    const left = new AbortController()
    const asked = client.chat.completions.create({ ...question, stream }, { signal: left.signal })
    const requests = await Promise.all(models.map(requestTo))
    left.abort()
    await expect(asked).rejects.toThrow()
    await Promise.all(requests.map(({ closed }) => closed))
    expect(requests.every(({ aborted }) => aborted)).toBe(true)
  })
})

test('a model where the call may not go is not asked', async () => {
  await configure('all')
  const { response } = await ask(false, { 'x-project': 'walled' })
  expect(response.headers.get('x-models')).toBe('cheap, fair')
  expect(upstream.requests).toHaveLength(2)
})

test('a call that names its provider and a call for embeddings go to their model alone', async () => {
  await configure('first')
  await ask(false, { 'x-provider': 'openai' })
  await client.embeddings.create({ model: 'asked', input: 'Hello' })
  expect(upstream.requests.map(({ body }) => (body as { model: string }).model)).toEqual(['asked', 'asked'])
})

test('Anthropic’s client gets all answers as one message, with the function calls of one model', async () => {
  await configure('all')
  const tool = { name: 'weather', arguments: { city: 'Bern' } }
  answers({ cheap: { content: 'one' }, fair: { toolCalls: [tool] }, dear: { toolCalls: [tool] } })
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: gateway.adminKey, maxRetries: 0 })
  const message = await anthropic.messages.create({ ...question, max_tokens: 100 })
  expect(message.content).toMatchObject([
    { type: 'text', text: expect.stringContaining('## cheap\n\none') },
    { type: 'tool_use', name: 'weather', input: { city: 'Bern' } },
  ])
  expect(message.stop_reason).toBe('tool_use')
})

test('Google’s client gets all answers as candidates', async () => {
  await configure('all')
  answers({ cheap: { content: 'one' }, fair: { content: 'two' }, dear: { content: 'three' } })
  const google = new GoogleGenAI({ apiKey: gateway.adminKey, httpOptions: { baseUrl: gateway.url } })
  const { candidates } = await google.models.generateContent({ model: 'asked', contents: 'Hello' })
  expect(candidates?.map(({ content }) => content?.parts?.[0]?.text)).toEqual(['one', 'two', 'three'])
})
