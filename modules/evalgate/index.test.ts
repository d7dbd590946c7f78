import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let key: string

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  key = (await gateway.signUp()).key
})
beforeEach(() => upstream.reset())
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const none = {
  ...{ min_characters: null, max_characters: null, must_match: null, must_not_match: null, json: null },
  ...{ language: null, no_refusal: null, similar_to: null, judge: null, retries: null, on_failure: null },
}

async function ask(config: object, { stream = false, ...more }: { stream?: boolean; tools?: object[] } = {}) {
  await gateway.module('evalgate', { enabled: true, config: { ...none, ...config } })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content: 'Which is the capital of Peru?' }],
      stream,
      ...more,
    }),
  })
  return { status: response.status, text: await response.text(), headers: response.headers }
}

async function verdictsOf(headers: Headers) {
  const { body } = await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
  const { modules } = body as { modules: { module: string; verdict: string; detail?: object }[] }
  return modules.filter(({ module }) => module === 'evalgate')
}

const bodies = () => upstream.requests.map(({ body }) => body as { model: string; [field: string]: unknown })

describe.each([false, true])('stream: %s', (stream) => {
  test('a bad answer never reaches the client, and the trace has each try with its score', async () => {
    upstream.reply({ content: 'BADWORD Lima' })
    upstream.reply({ content: 'Lima' })
    const { text, headers } = await ask({ must_not_match: ['BAD'], must_match: ['Lima'] }, { stream })
    expect(text).toContain('Lima')
    expect(text).not.toContain('BAD')
    expect(await verdictsOf(headers)).toMatchObject([
      { verdict: 'failed', detail: { attempt: 1, score: 0.5, failed: ['must_not_match.0'] } },
      { verdict: 'passed', detail: { attempt: 2, score: 1 } },
    ])
    expect(bodies()[1]!.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: 'BADWORD Lima' },
      { role: 'user', content: expect.stringContaining('must not match BAD') },
    ])
  })

  test('calls of tools pass', async () => {
    upstream.reply({ toolCalls: [{ name: 'find', arguments: '{}' }] })
    const tools = [{ type: 'function', function: { name: 'find', parameters: { type: 'object' } } }]
    expect((await ask({ min_characters: 10 }, { stream, tools })).text).toContain('find')
    expect(upstream.requests).toHaveLength(1)
  })
})

test.each<[name: string, config: object, bad: string, good: string]>([
  ['too short', { min_characters: 10 }, 'Lima.', 'It is Lima, by the sea.'],
  ['too long', { max_characters: 10 }, 'It is Lima, by the sea.', 'Lima.'],
  ['no JSON', { json: true }, '```json\n{}\n```', '{}'],
  [
    'in another language',
    { language: 'de' },
    'The capital of Peru is called Lima, of course.',
    'Die Hauptstadt von Peru heißt natürlich Lima.',
  ],
  ['a refusal', { no_refusal: true }, "I'm sorry, but I can't answer that.", 'Lima.'],
  [
    'unlike the reference',
    { similar_to: { text: 'The capital is Lima.', min: 0.6 } },
    'No idea at all.',
    'The capital is Lima!',
  ],
])('an answer that is %s fails, and a good one passes', async (_, config, bad, good) => {
  upstream.reply({ content: bad })
  upstream.reply({ content: good })
  expect(JSON.parse((await ask(config)).text).choices[0].message.content).toBe(good)
  expect(upstream.requests).toHaveLength(2)
})

describe('a judge', () => {
  const judge = { model: 'gpt-4o', rubric: 'It names a city.' }
  const asJudge = { text: 'It names a city.' }

  test('scores answers on the account of the caller, and says what is wrong', async () => {
    upstream.reply(asJudge, { content: '{"score": 0.2, "reason": "It names no city."}' })
    upstream.reply({ content: 'Somewhere.' })
    const { headers } = await ask({ judge, retries: [{ model: 'gpt-4.1-mini', temperature: 0.3 }] })
    const [asked, judged, again] = bodies()
    expect([asked!.model, judged!.model, again!.model]).toEqual(['gpt-4o-mini', 'gpt-4o', 'gpt-4.1-mini'])
    expect(again).toMatchObject({ temperature: 0.3 })
    expect(JSON.stringify(again)).toContain('It names no city.')
    expect(headers.get('x-eval-score')).toBeDefined()
  })

  test('that gives no score or fails lets an answer pass', async () => {
    upstream.reply(asJudge, { content: 'Good enough!' })
    upstream.reply({ content: 'Lima.' })
    expect((await ask({ judge })).text).toContain('Lima')
    upstream.reply(asJudge, { status: 400 })
    upstream.reply({ content: 'Lima.' })
    expect((await ask({ judge })).text).toContain('Lima')
  })
})

test('the best of several is given, and when a retry fails the best so far', async () => {
  const config = { must_match: ['Lima', 'Peru', 'sea'], retries: [{ tell: false }, { tell: false }] }
  for (const content of ['Lima', 'Lima, Peru', 'Cusco']) upstream.reply({ content })
  const { text, headers } = await ask(config)
  expect(JSON.parse(text).choices[0].message.content).toBe('Lima, Peru')
  expect(headers.get('x-eval-score')).toBe('0.667')
  upstream.reset()
  upstream.reply({ content: 'Lima' })
  upstream.reply({ status: 400 })
  expect(await ask(config)).toMatchObject({ status: 200, text: expect.stringContaining('Lima') })
})

test('an error names the checks that failed', async () => {
  for (let n = 0; n < 2; n += 1) upstream.reply({ content: 'no' })
  const { status, text } = await ask({ json: true, on_failure: 'error' })
  expect(status).toBe(502)
  expect(JSON.parse(text).error).toMatchObject({
    code: 'provider_error',
    module: 'evalgate',
    details: { failed: ['json'] },
  })
})

test('without a check it does nothing', async () => {
  upstream.reply({ content: 'x' })
  expect((await ask({})).headers.get('x-eval-score')).toBeNull()
})
