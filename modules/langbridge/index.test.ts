import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ask, textOf } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { traceOf } from '../../test/trace.ts'
import { type Script, startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let user: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  user = await gateway.signUp()
})
beforeEach(async () => {
  upstream.reset()
  const config = { model: 'gpt-4o', working_language: null, only: null }
  await gateway.module('langbridge', { enabled: true, mode: 'enforce', config })
})
afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const german = 'Warum ruft `main()` die Seite https://example.com/a auf, {name}?'
const english = 'Why does ⟦1⟧ call the page ⟦2⟧, ⟦3⟧?'

/** How the translator answers; the other scripts are for the model that is asked. */
const translations = (...scripts: readonly (string | Script)[]): void => {
  for (const script of scripts)
    upstream.reply({ text: 'You translate' }, typeof script === 'string' ? { content: script } : script)
}

const say = (content: unknown, more: object = {}, headers: Record<string, string> = {}) =>
  ask(gateway, {
    headers: { authorization: `Bearer ${user.key}`, ...headers },
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...more },
  })

/** What was sent to the model that answers, and to the one that translates. */
const shown = (model: string): string[] =>
  upstream.requests
    .filter(({ body }) => (body as { model: string }).model === model)
    .map(({ body }) => (body as { messages: { content: string }[] }).messages.at(-1)!.content)

const notesOf = async (answer: { readonly headers: Headers }) =>
  (await traceOf(gateway, answer)).modules
    .filter(({ module, verdict }: { module: string; verdict?: string }) => module === 'langbridge' && verdict)
    .map(({ verdict, detail }: { verdict: string; detail?: object }) => [verdict, detail])

describe.each([false, true])('stream: %s', (stream) => {
  test('code, addresses and placeholders survive both ways', async () => {
    translations(english, 'Es liest ⟦1⟧ mit ⟦2⟧.')
    upstream.reply({ content: 'It reads https://example.com/b with `get()`.' })
    const { body, headers } = await say(german, { stream })
    expect(textOf(body)).toBe('Es liest https://example.com/b mit `get()`.')
    expect(shown('gpt-4o-mini')).toEqual(['Why does `main()` call the page https://example.com/a, {name}?'])
    expect(shown('gpt-4o')).toEqual(['Warum ruft ⟦1⟧ die Seite ⟦2⟧ auf, ⟦3⟧?', 'It reads ⟦1⟧ with ⟦2⟧.'])
    expect(headers.get('x-translated-from')).toBe('de')
    expect(await notesOf({ headers })).toEqual([['translated', { from: 'de', to: 'en' }]])
  })

  test.each([
    ['fails', { status: 500 }, 'failed'],
    ['is cut', { content: english, finishReason: 'length' }, 'not_a_translation'],
    ['says nothing', { content: '' }, 'not_a_translation'],
    ['says far more', { content: 'a '.repeat(2000) }, 'not_a_translation'],
    ['loses a placeholder', { content: 'Why does ⟦1⟧ call ⟦2⟧?' }, 'lost_placeholder'],
  ])('where the translator %s, the question goes on as it is', async (_, script, fault) => {
    await gateway.module('retrypilot', { enabled: false })
    translations(script)
    upstream.reply({ content: 'Weil es sie liest.' })
    const { body, headers } = await say(german, { stream })
    expect(textOf(body)).toBe('Weil es sie liest.')
    expect(shown('gpt-4o-mini')).toEqual([german])
    expect(await notesOf({ headers })).toEqual([['question_untranslated', { language: 'de', fault }]])
  })

  test('where it fails for the answer, the answer goes on as it is', async () => {
    translations(english, { status: 400 })
    upstream.reply({ content: 'It reads it. Then it ends.' })
    const { body, headers } = await say(german, { stream })
    expect(textOf(body)).toBe('It reads it. Then it ends.')
    expect(await notesOf({ headers })).toContainEqual([
      'answer_untranslated',
      { language: 'de', fault: 'failed' },
    ])
  })

  test('code, and what is in another language than expected, is not shown to the translator', async () => {
    translations(english)
    const code = '```sh\n# Install all of it now\nnpm install\n```\n'
    const french = 'La tour est très haute et très belle.'
    upstream.reply({ content: [code, french] })
    expect(textOf((await say(german, { stream })).body)).toBe(code + french)
    expect(shown('gpt-4o')).toHaveLength(1)
  })
})

test('a stream is translated by sentence: the first is there before the second came', async () => {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>()
  translations(english, 'Erstens liest es. ', 'Zweitens endet es.')
  upstream.reply({ content: ['First it reads. ', 'Second', ' it ends.'], gate: { opened, after: 3 } })
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${user.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4o-mini',
      stream: true,
      messages: [{ role: 'user', content: german }],
    }),
  })
  let seen = ''
  for await (const bytes of response.body!) {
    seen += Buffer.from(bytes).toString()
    if (seen.includes('Erstens liest es. ')) open()
  }
  expect(seen).toContain('"Zweitens endet es."')
  expect(seen.match(/data: \[DONE\]/g)).toHaveLength(1)
})

test('texts beside an image are translated, and a call of a tool stays', async () => {
  translations('What is in this image, please?')
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  upstream.reply({ toolCalls: [{ name: 'look', arguments: { at: 'the image' } }] })
  const { body } = await say([{ type: 'text', text: 'Was ist bitte in diesem Bild zu sehen?' }, image])
  expect(body.choices).toMatchObject([
    { message: { tool_calls: [{ function: { arguments: '{"at":"the image"}' } }] } },
  ])
  expect(shown('gpt-4o-mini')).toEqual([[{ type: 'text', text: 'What is in this image, please?' }, image]])
})

test('the caller pays for translations, which are children of the call', async () => {
  translations(english, 'Weil.')
  upstream.reply({ content: 'Because of that.' })
  const { headers } = await say(german)
  const parent = headers.get('x-trace-id')
  const list = async () =>
    (await gateway.api('GET', '/api/observe/traces?limit=50')).body.traces.filter(
      (one: { parent_id?: string }) => one.parent_id === parent,
    )
  await expect.poll(async () => (await list()).length).toBe(2)
  for (const one of await list()) expect(one.user_id).toBe(user.userId)
})

test.each([
  ['a question in the working language', 'How high is the tower in the city?', {}],
  ['a short one', 'ja, bitte', {}],
  ['one whose answer is JSON', german, { response_format: { type: 'json_object' } }],
])('%s is left alone', async (_, content, more) => {
  upstream.reply({ content: '{"a": 1}' })
  const { headers } = await say(content, more)
  expect(shown('gpt-4o')).toEqual([])
  expect(shown('gpt-4o-mini')).toEqual([content])
  expect(headers.get('x-translated-from')).toBeNull()
})

test('only the languages that are listed are translated, and codes are checked', async () => {
  await gateway.module('langbridge', { config: { only: ['fr'] } })
  await say(german)
  expect(shown('gpt-4o')).toEqual([])
  for (const config of [{ only: ['german'] }, { only: ['xx'] }, { working_language: 'EN' }])
    await expect(gateway.module('langbridge', { config })).rejects.toThrow(/only|working_language/)
})

test('in shadow nobody pays, and the trace says what would be done', async () => {
  await gateway.module('langbridge', { mode: 'shadow' })
  const { headers } = await say(german)
  expect(shown('gpt-4o')).toEqual([])
  expect(await notesOf({ headers })).toEqual([['would_translate', { language: 'de' }]])
})

describe.each([false, true])('a question that is in the working language, streamed: %s', (stream) => {
  test('is answered in the language that a header names', async () => {
    translations('Weil es endet.')
    upstream.reply({ content: 'Because it ends.' })
    const { body, headers } = await say('Why does it end?', { stream }, { 'x-answer-language': 'de' })
    expect(textOf(body)).toBe('Weil es endet.')
    expect(shown('gpt-4o-mini')).toEqual(['Why does it end?'])
    expect(await notesOf({ headers })).toEqual([['translated', { from: 'de', to: 'en' }]])
    for (const language of ['en', 'xx', 'German']) {
      upstream.reply({ content: 'Because it ends.' })
      const plain = await say('Why does it end?', { stream }, { 'x-answer-language': language })
      expect(textOf(plain.body)).toBe('Because it ends.')
    }
  })

  test('as it was translated is replayed for an answer in the language that the client got', async () => {
    translations('Why is it so?', 'Weil es endet.')
    upstream.reply({ content: 'Because it ends.' })
    const { headers } = await say('Warum ist das denn so?', { stream })
    await traceOf(gateway, { headers })
    const original_trace_id = headers.get('x-trace-id')
    translations('Weil es endet.')
    upstream.reply({ content: 'Because it ends.' })
    const { body } = await gateway.api('POST', '/api/trust/replays', { original_trace_id }, user.key)
    const replay = async () => (await gateway.api('GET', `/api/trust/replays/${body.id}`)).body
    await expect.poll(async () => (await replay()).status, { timeout: 10_000 }).toBe('done')
    expect(await replay()).toMatchObject({ replay_output: 'Weil es endet.', match_score: 1 })
    expect(shown('gpt-4o-mini')).toEqual(['Why is it so?', 'Why is it so?'])

    translations('Weil es endet.')
    upstream.reply({ content: 'Because it ends.' })
    const question = { trace_id: original_trace_id, target_model: 'gpt-4o-mini' }
    const again = await gateway.api('POST', '/api/replay', question, user.key)
    expect(again.body).toMatchObject({ status: 'success', quality: { similarity: 1 } })
  })
})
