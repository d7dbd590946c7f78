import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type GatewayOptions, startGateway, type TestGateway } from '../../test/harness.ts'
import { traceOf } from '../../test/trace.ts'
import { type Script, startUpstream, type Upstream } from '../../test/upstream/index.ts'

const model = 'gpt-4o-mini'
const sessions = '/api/modules/chatmem/sessions'

let folder: string
let upstream: Upstream
let gateway: TestGateway
let user: { userId: string; key: string }

const start = (): Promise<TestGateway> => {
  const options: GatewayOptions = { upstream, dataDir: path.join(folder, 'data') }
  return startGateway(options)
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-chatmem-'))
  upstream = await startUpstream()
  gateway = await start()
  user = await gateway.signUp('talker')
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true, force: true })
})

const defaults = { budget_tokens: 2000, ttl_hours: 168, share: 'key', summary_model: null }
const use = (config: object = {}): Promise<void> =>
  gateway.module('chatmem', { enabled: true, config: { ...defaults, ...config } })

beforeEach(async () => {
  upstream.reset()
  await use()
})

const says = (...scripts: readonly Script[]): void => {
  for (const script of scripts) upstream.reply(script)
}

interface Said {
  readonly session?: string | undefined
  readonly key?: string
  readonly stream?: boolean
  readonly project?: string
  readonly before?: readonly object[]
}

async function say(content: string, { session, key = user.key, stream, project, before = [] }: Said = {}) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      ...(session !== undefined && { 'x-session-id': session }),
      ...(project !== undefined && { 'x-project': project }),
    },
    body: JSON.stringify({ model, messages: [...before, { role: 'user', content }], stream }),
  })
  const text = await response.text()
  return { status: response.status, text, response, turns: response.headers.get('x-memory-turns') }
}

/** What the provider was last sent. */
const sent = (): { role: string; content: string }[] =>
  (upstream.last().body as { messages: { role: string; content: string }[] }).messages

const messages = (...said: readonly string[]) =>
  said.map((content, at) => ({ role: at % 2 === 0 ? 'user' : 'assistant', content }))

test.each([false, true])('the next call of a session brings its turns; streamed: %s', async (stream) => {
  const session = `trip ${stream}`
  says({ content: 'Have a good trip.' }, { content: 'To Lima.' }, { content: 'On Monday.' })
  expect((await say('I fly to Lima on Monday.', { session, stream })).turns).toBe('0')
  expect((await say('Where to?', { session, stream })).turns).toBe('1')
  const before = [{ role: 'system', content: 'Be brief.' }]
  const last = await say('When?', { session, stream, before })
  expect(sent()).toEqual([
    ...before,
    ...messages('I fly to Lima on Monday.', 'Have a good trip.', 'Where to?', 'To Lima.', 'When?'),
  ])
  const { facts } = await traceOf(gateway, last.response)
  expect(facts.chatmem).toMatchObject({ turns: 2, summary: false, kept_out: 0 })
})

test('a session goes on over the wires of other clients', async () => {
  says({ content: 'Blue.' }, { content: 'It was blue.' })
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: user.key, maxRetries: 0 })
  const headers = { 'x-session-id': 'wires' }
  const asked = [{ role: 'user' as const, content: 'My colour?' }]
  await anthropic.messages.stream({ model, max_tokens: 50, messages: asked }, { headers }).finalMessage()
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: user.key, maxRetries: 0 })
  await client.chat.completions.create(
    { model, messages: [{ role: 'user', content: 'Again?' }] },
    { headers },
  )
  expect(sent()).toEqual(messages('My colour?', 'Blue.', 'Again?'))
})

test('nobody else has the memory: no other user, key, project or session', async () => {
  const session = 'shared name'
  says({ content: 'Kept.' })
  await say('My secret plan', { session })
  const { key: strange } = await gateway.signUp('stranger')
  const { body } = await gateway.api('POST', '/api/auth/me/keys', { name: 'second' }, user.key)
  const second: string = body.api_key ?? body.key
  const others: Said[] = [
    { session, key: strange },
    { session, key: second },
    { session, project: 'elsewhere' },
    { session: 'another name' },
    { session, key: gateway.adminKey },
    {},
  ]
  for (const other of others) {
    says({ content: 'Nothing.' })
    await say('What do you know?', other)
    expect(sent()).toEqual(messages('What do you know?'))
  }
  says({ content: 'Nothing.' })
  await say('And I?', { session })
  expect(sent()).toEqual(messages('My secret plan', 'Kept.', 'And I?'))

  await use({ share: 'user' })
  says({ content: 'Ours.' }, { content: 'Yes.' }, { content: 'No.' })
  await say('Of all my keys', { session })
  await say('Still?', { session, key: second })
  expect(sent()).toEqual(messages('Of all my keys', 'Ours.', 'Still?'))
  await say('And I?', { session, key: strange })
  expect(JSON.stringify(sent())).not.toContain('Of all my keys')
})

test('a turn is remembered and brought once, in however many configurations a call is', async () => {
  const session = 'twice'
  const bindings = '/api/proxy/modules/chatmem/bindings'
  expect(
    (await gateway.api('POST', bindings, { name: 'more', config: { budget_tokens: 1000 } })).status,
  ).toBe(201)
  says({ content: 'One.' }, { content: 'Two.' })
  await say('First', { session })
  await say('Second', { session })
  expect(sent()).toEqual(messages('First', 'One.', 'Second'))
  expect((await gateway.api('DELETE', `${bindings}/more`)).status).toBe(200)
})

test('a client that sends the history gets nothing more, and its newest turn is remembered', async () => {
  const session = 'own history'
  says({ content: 'Three.' }, { content: 'Four.' })
  const before = messages('One', 'Two')
  await say('And then?', { session, before })
  expect(sent()).toEqual([...before, { role: 'user', content: 'And then?' }])
  await say('Next', { session })
  expect(sent()).toEqual(messages('And then?', 'Three.', 'Next'))
})

test('the turns of a template are no history: what is remembered comes between them and what the client says', async () => {
  const content = messages('What is 1 + 1?', 'Two.').toSpliced(0, 0, { role: 'system', content: 'Be brief.' })
  const { status } = await gateway.api('POST', '/api/studio/templates', {
    ...{ slug: 'shots', visibility: 'shared', content },
  })
  expect(status).toBe(201)
  const ask = (content: string, instructions: object[] = []) =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${user.key}`,
        'content-type': 'application/json',
        'x-session-id': 'shots',
      },
      body: JSON.stringify({
        ...{ model, template: { slug: 'shots' } },
        messages: [...instructions, { role: 'user', content }],
      }),
    }).then((response) => response.headers.get('x-memory-turns'))
  says({ content: 'Hello Ada.' }, { content: 'Ada.' })
  expect(await ask('I am Ada.')).toBe('0')
  expect(await ask('Who am I?', [{ role: 'system', content: 'Rhyme.' }])).toBe('1')
  expect(sent()).toEqual([
    ...content,
    { role: 'system', content: 'Rhyme.' },
    ...messages('I am Ada.', 'Hello Ada.', 'Who am I?'),
  ])
})

test('what failed, was refused or was filtered is not remembered', async () => {
  const session = 'failures'
  says({ status: 400, error: { message: 'No.' } }, { content: 'Half', finishReason: 'content_filter' })
  await say('Fail', { session })
  await say('Filter', { session })
  await gateway.module('secretscan', { enabled: true })
  expect((await say(`Block ghp_${'a1B2c3D4e5F6'.repeat(3)}`, { session })).status).toBe(400)
  says({ content: 'Fine.' })
  await say('Now', { session })
  expect(sent()).toEqual(messages('Now'))
})

test('masks of an earlier call are none of a later one: the person is masked anew and seen by the client, after a restart too', async () => {
  const session = 'masks'
  await gateway.module('maskmode', { enabled: true })
  says({ content: 'Noted.' })
  await say('Write to ada@example.com', { session })
  const first = sent()[0]!.content
  expect(first).not.toContain('ada@example.com')
  await gateway.close()
  gateway = await start()
  upstream.reset()
  says({ content: 'Sent.' })
  await say('Did you?', { session })
  const [brought] = sent()
  expect(brought!.content).toMatch(/^Write to \[/)
  expect(brought!.content).not.toContain('ada@example.com')
  const old = first.slice('Write to '.length)
  const anew = brought!.content.slice('Write to '.length)
  expect(anew).not.toBe(old)
  const { body } = await gateway.api('GET', sessions, undefined, user.key)
  const { id } = body.sessions.find((one: { session: string }) => one.session === session)
  const { body: found } = await gateway.api('GET', `${sessions}/${id}`, undefined, user.key)
  expect(found.messages).toEqual([
    { user: 'Write to ada@example.com', assistant: 'Noted.' },
    { user: 'Did you?', assistant: 'Sent.' },
  ])
  says({ content: `To ${anew}, not to ${old}.` })
  expect((await say('To whom?', { session })).text).toContain(`To ada@example.com, not to ${old}.`)
  await gateway.module('maskmode', { enabled: false })
})

test('guards see what is brought in, by the name of this module, and a turn that one refuses stays out', async () => {
  const session = 'guards'
  const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`
  await gateway.module('secretscan', { enabled: false })
  says({ content: 'Noted.' }, { content: 'Sunny.' }, { content: 'Yes.' })
  await say(`My token is ${token}`, { session })
  await say('The weather?', { session })
  await gateway.module('secretscan', { enabled: true })
  const { status, response, turns } = await say('Is it?', { session })
  expect([status, turns]).toEqual([200, '1'])
  expect(sent()).toEqual(messages('The weather?', 'Sunny.', 'Is it?'))
  const trace = await traceOf(gateway, response)
  expect(trace.facts.chatmem).toMatchObject({ kept_out: 1 })
  expect(JSON.stringify(trace.guardrails)).toContain('"origin":"chatmem"')
  expect(JSON.stringify(trace)).not.toContain(token)
})

test('a long conversation stays within its budget, and its beginning within a summary', async () => {
  const session = 'long'
  await use({ budget_tokens: 300 })
  upstream.reply({ content: `Noted, ${'and so on '.repeat(20)}.`, times: Number.POSITIVE_INFINITY })
  await say('My name is Ada and my order is 4711 of 12 March.', { session })
  for (let n = 0; n < 8; n += 1)
    await say(`Tell me more about number ${n}, ${'please '.repeat(20)}`, { session })
  const find = async () => {
    const { body } = await gateway.api('GET', sessions, undefined, user.key)
    return body.sessions.find((one: { session: string }) => one.session === session)
  }
  await expect.poll(async () => (await find()).tokens, { timeout: 10_000 }).toBeLessThan(300)
  const { response } = await say('Who am I?', { session })
  const { facts } = await traceOf(gateway, response)
  expect(facts.chatmem).toMatchObject({ summary: true })
  expect(facts.chatmem.tokens).toBeLessThanOrEqual(300)
  expect(sent()[0]).toMatchObject({ role: 'user', content: expect.stringContaining('order is 4711') })
  expect(sent().length).toBeLessThan(10)
  const { body } = await gateway.api('GET', `${sessions}/${(await find()).id}`, undefined, user.key)
  expect(body.summary).toContain('4711')
})

test('a model summarises where one is set, but never what a guard would change', async () => {
  const summaries = () =>
    upstream.requests.filter(({ body }) => (body as { model: string }).model === 'gpt-4o')
  await use({ budget_tokens: 200, summary_model: 'openai/gpt-4o' })
  await gateway.module('maskmode', { enabled: true })
  upstream.reply({ model: 'gpt-4o' }, { content: 'She likes tea.', times: Number.POSITIVE_INFINITY })
  upstream.reply({ content: 'Noted. '.repeat(30), times: Number.POSITIVE_INFINITY })
  const talk = async (session: string, first: string) => {
    for (const text of [first, 'More', 'And more', 'Still more'])
      await say(`${text} ${'word '.repeat(30)}`, { session })
    const found = async () => {
      const { body } = await gateway.api('GET', sessions, undefined, user.key)
      const { id } = body.sessions.find((one: { session: string }) => one.session === session)
      return (await gateway.api('GET', `${sessions}/${id}`, undefined, user.key)).body.summary as
        | string
        | null
    }
    await expect.poll(found, { timeout: 10_000 }).not.toBeNull()
    return found()
  }
  expect(await talk('tea', 'I like tea.')).toContain('She likes tea.')
  expect(summaries()[0]!.rawBody).toContain('I like tea.')
  await talk('person', 'Write to ada@example.com at once.')
  expect(summaries().filter(({ rawBody }) => /ada@example|Write to/.test(rawBody))).toEqual([])
  await gateway.module('maskmode', { enabled: false })
})

test('users see and clear their own memory, and admins all', async () => {
  const owner = await gateway.signUp('owner')
  const other = await gateway.signUp('other')
  says({ content: 'A.' }, { content: 'B.' }, { content: 'C.' }, { content: 'D.' })
  await say('One', { session: 'first', key: owner.key })
  await say('Two', { session: 'second', key: owner.key })
  await say('Three', { session: 'third', key: other.key })
  const list = async (key: string, query = '') =>
    (await gateway.api('GET', sessions + query, undefined, key)).body
  const own = await list(owner.key)
  expect(own.sessions.map(({ session }: { session: string }) => session)).toEqual(['second', 'first'])
  expect(own).toMatchObject({ total: 2, has_more: false })
  const [{ id }] = own.sessions
  for (const method of ['GET', 'DELETE'])
    expect((await gateway.api(method, `${sessions}/${id}`, undefined, other.key)).status).toBe(404)
  expect((await gateway.api('GET', `${sessions}?user_id=${owner.userId}`, undefined, other.key)).status).toBe(
    403,
  )
  expect(
    (await gateway.api('DELETE', `${sessions}?user_id=${owner.userId}`, undefined, other.key)).status,
  ).toBe(403)
  expect((await gateway.api('GET', `${sessions}?nonsense=1`)).status).toBe(400)
  expect((await list(gateway.adminKey, `?user_id=${owner.userId}`)).total).toBe(2)

  const cleared = await gateway.api('DELETE', `${sessions}/${id}`, undefined, owner.key)
  expect([cleared.status, cleared.body]).toEqual([200, { deleted: true, id }])
  await say('Afresh', { session: 'second', key: owner.key })
  expect(sent()).toEqual(messages('Afresh'))
  expect((await gateway.api('DELETE', sessions, undefined, owner.key)).body).toEqual({ deleted: 2 })
  expect((await list(other.key)).total).toBe(1)

  const data = `/api/auth/users/${other.userId}/data`
  expect(JSON.stringify((await gateway.api('GET', data)).body)).toContain('chatmem')
  expect((await gateway.api('DELETE', data)).status).toBe(200)
  expect((await list(gateway.adminKey, `?user_id=${other.userId}`)).total).toBe(0)
})
