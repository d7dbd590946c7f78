import { expect, test } from 'vitest'
import { startForge } from '../../../test/forge.ts'

const forge = startForge()
const { api } = forge
const path = '/api/forge/sessions'

const begin = async (more: object = {}, key?: string): Promise<string> => {
  const { status, body } = await api('POST', path, { model: 'gpt-4o-mini', ...more }, key)
  expect([status, body.error]).toEqual([201, undefined])
  return body.id
}

const say = (id: string, content: unknown, key?: string) =>
  api('POST', `${path}/${id}/messages`, { content }, key)

const messages = async (id: string) => (await api('GET', `${path}/${id}/messages`)).body.messages

/** What the provider was asked: all messages of each request. */
const conversations = () =>
  forge.parts.upstream.requests.map(({ body }) =>
    (body as { messages: { content: string }[] }).messages.map(({ content }) => content),
  )

/** Sends a message whose answer is streamed; `leave` ends the connection. */
async function stream(id: string, content: string) {
  const leaving = new AbortController()
  const { gateway } = forge.parts
  const answer = await fetch(`${gateway.url}${path}/${id}/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ content, stream: true }),
    signal: leaving.signal,
  })
  const events = eventsOf(answer.body!.pipeThrough(new TextDecoderStream()))
  return { status: answer.status, events, leave: () => leaving.abort() }
}

async function* eventsOf(texts: AsyncIterable<string>) {
  let rest = ''
  for await (const text of texts) {
    const parts = (rest + text).split('\n\n')
    rest = parts.pop()!
    for (const part of parts) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(part)!
      yield { event: event!, data: JSON.parse(data!) }
    }
  }
}

test('what admins share is read by all and listed among their own, and changed by admins alone', async () => {
  const ada = await forge.parts.gateway.signUp('ada-shares')
  const refused = await api('POST', path, { model: 'gpt-4o-mini', visibility: 'shared' }, ada.key)
  expect([refused.status, refused.body.error.param]).toEqual([403, 'visibility'])
  const own = [await begin({}, ada.key)]
  const hidden = await begin()
  const id = await begin({ visibility: 'shared', name: 'For all' })
  own.push(await begin({}, ada.key), await begin({}, ada.key))
  await say(id, 'Hello all')
  const get = (at = '') => api('GET', `${path}/${id}${at}`, undefined, ada.key)
  expect((await get()).body).toMatchObject({ id, visibility: 'shared', user_id: null })
  expect((await get('/messages')).body.total).toBe(2)
  expect((await api('GET', `${path}/${hidden}`, undefined, ada.key)).status).toBe(404)
  expect((await say(id, 'Me too', ada.key)).status).toBe(403)
  expect((await api('PUT', `${path}/${id}`, { name: 'Mine' }, ada.key)).status).toBe(403)
  expect((await api('DELETE', `${path}/${id}?force=true`, undefined, ada.key)).status).toBe(403)

  const seen: string[] = []
  let cursor = ''
  for (let pages = 0; pages < 4; pages += 1) {
    const { body } = await api('GET', `${path}?limit=1${cursor}`, undefined, ada.key)
    expect([body.total, body.sessions.length, body.has_more]).toEqual([4, 1, pages < 3])
    seen.push(body.sessions[0].id)
    cursor = `&cursor=${body.next_cursor}`
  }
  expect(seen).toEqual([own[2], own[1], id, own[0]])
  const { body: second } = await api('GET', `${path}?limit=2&offset=1`, undefined, ada.key)
  expect(second.sessions.map((one: { id: string }) => one.id)).toEqual([own[1], id])
  expect((await api('GET', `${path}?cursor=abc`, undefined, ada.key)).status).toBe(400)

  const taken = await api('PUT', `${path}/${own[0]}`, { visibility: 'shared' }, ada.key)
  expect(taken.status).toBe(403)
  expect((await api('PUT', `${path}/${id}`, { visibility: 'private' })).body.visibility).toBe('private')
  expect((await get()).status).toBe(404)
  expect((await api('GET', path, undefined, ada.key)).body.total).toBe(3)
})

test('a session keeps what is said, and the model gets it', async () => {
  const id = await begin({ system_prompt: 'Be kind.', params: { temperature: 0 }, metadata: { of: 'test' } })
  expect(id).toMatch(/^sess_/)
  forge.parts.upstream.reply({ content: 'Hello Ada.' })
  forge.parts.upstream.reply({ content: 'You are Ada.' })
  const { status, body } = await say(id, 'I am Ada.')
  expect([status, body.error]).toEqual([200, undefined])
  expect(body).toMatchObject({
    user: { role: 'user', status: 'complete', content: 'I am Ada.' },
    assistant: { role: 'assistant', status: 'complete', content: 'Hello Ada.', finish_reason: 'stop' },
  })
  expect(body.assistant.tokens_out).toBeGreaterThan(0)
  await say(id, [{ type: 'text', text: 'Who am I?' }])
  expect(conversations()).toEqual([
    ['Be kind.', 'I am Ada.'],
    ['Be kind.', 'I am Ada.', 'Hello Ada.', [{ type: 'text', text: 'Who am I?' }]],
  ])
  expect(forge.parts.upstream.last().body).toMatchObject({ temperature: 0 })
  expect((await messages(id)).map(({ content }: { content: unknown }) => content)).toEqual([
    'I am Ada.',
    'Hello Ada.',
    [{ type: 'text', text: 'Who am I?' }],
    'You are Ada.',
  ])
  const { body: session } = await api('GET', `${path}/${id}`)
  expect(session).toMatchObject({ message_count: 4, system_prompt: 'Be kind.', metadata: { of: 'test' } })
  expect(session.cost_usd).toBeGreaterThan(0)
  await expect
    .poll(async () => (await api('GET', `/api/observe/traces/${body.assistant.trace_id}`)).body.session_id)
    .toBe(id)
  const changed = await api('PUT', `${path}/${id}`, { system_prompt: null, model: 'gpt-4o', name: 'Ada' })
  expect(changed.body).toMatchObject({
    system_prompt: null,
    model: 'gpt-4o',
    name: 'Ada',
    params: { temperature: 0 },
  })
  expect((await api('DELETE', `${path}/${id}`)).status).toBe(200)
  expect((await say(id, 'x')).status).toBe(404)
})

test('messages that come at the same time are answered one after the other', async () => {
  const id = await begin()
  const { promise, resolve } = Promise.withResolvers<void>()
  forge.parts.upstream.reply({ content: 'first', gate: { opened: promise } })
  forge.parts.upstream.reply({ content: 'second' })
  forge.parts.upstream.reply({ content: 'third' })
  const one = say(id, 'A')
  await forge.parts.upstream.received(1)
  expect((await api('DELETE', `${path}/${id}`)).status).toBe(409)
  const others = [say(id, 'B'), say(id, 'C')]
  resolve()
  for (const { status } of await Promise.all([one, ...others])) expect(status).toBe(200)
  const said = (await messages(id)).map(({ content }: { content: string }) => content)
  expect(said.filter((_: string, n: number) => n % 2 === 1)).toEqual(['first', 'second', 'third'])
  expect(conversations().map((each) => each.length)).toEqual([1, 3, 5])
  expect(conversations()[2]!.slice(0, 4)).toEqual(said.slice(0, 4))
})

test('an answer is streamed as it comes', async () => {
  const id = await begin()
  const { promise, resolve } = Promise.withResolvers<void>()
  forge.parts.upstream.reply({ content: ['One ', 'two.'], gate: { opened: promise, after: 2 } })
  const { status, events } = await stream(id, 'Count.')
  expect(status).toBe(200)
  const seen = []
  for await (const event of events) {
    seen.push(event)
    if (event.event === 'delta') resolve()
  }
  expect(seen.map(({ event }) => event)).toEqual(['message', 'delta', 'delta', 'done'])
  expect(seen.at(-1)!.data).toMatchObject({ assistant: { content: 'One two.', status: 'complete' } })
  expect((await messages(id)).at(-1)).toMatchObject({ content: 'One two.' })
})

test('of an answer whose client leaves, what came is stored and marked', async () => {
  const id = await begin()
  forge.parts.upstream.reply({ content: ['Once ', 'upon ', 'a time.'], hangAfter: 3 })
  const { events, leave } = await stream(id, 'Tell.')
  for await (const { event } of events) if (event === 'delta') break
  leave()
  await forge.parts.upstream.last().closed
  expect(forge.parts.upstream.last().aborted).toBe(true)
  await expect
    .poll(async () => (await messages(id)).at(-1), { timeout: 20_000 })
    .toMatchObject({ role: 'assistant', status: 'partial', content: expect.stringMatching(/^Once /) })
})

test('who waits for an answer in a session that is deleted is told so', async () => {
  const { upstream } = forge.parts
  const [plain, streamed] = [await begin(), await begin()]
  const gone = async (id: string) => {
    await expect.poll(async () => (await api('DELETE', `${path}/${id}`)).status).toBe(409)
    expect((await api('DELETE', `${path}/${id}?force=true`)).status).toBe(200)
    await upstream.last().closed
  }
  upstream.reply({ gate: { opened: new Promise(() => {}), after: 0 } })
  const answer = say(plain, 'Wait.')
  await expect.poll(() => upstream.requests.length).toBe(1)
  await gone(plain)
  expect(await answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } })
  upstream.reply({ content: ['Once ', 'upon ', 'a time.'], hangAfter: 3 })
  const { events } = await stream(streamed, 'Tell.')
  for await (const { event, data } of events) {
    if (event === 'delta' && data.content !== '') await gone(streamed)
    else if (event === 'error') expect(data.code).toBe('not_found')
    else expect(event).toBe('message')
  }
})

test('a message without an answer is marked, and no part of the conversation', async () => {
  const id = await begin()
  forge.parts.upstream.reply({ status: 400, error: { message: 'No.' } })
  forge.parts.upstream.reply({ content: 'Yes.' })
  expect((await say(id, 'Bad')).status).toBe(400)
  await say(id, 'Good')
  expect((await messages(id)).map(({ status }: { status: string }) => status)).toEqual([
    'failed',
    'complete',
    'complete',
  ])
  expect(conversations().at(-1)).toEqual(['Good'])
})

test('of a long conversation the model gets the newest messages, a summary as well, or none', async () => {
  const long = 'word '.repeat(60)
  const talk = async (strategy: string) => {
    const id = await begin({ memory: { strategy, max_tokens: 150 } })
    forge.parts.upstream.reset()
    forge.parts.upstream.reply({ content: 'An answer.', times: 10 })
    for (const n of [1, 2, 3]) await say(id, `${n} ${long}`)
    return conversations()
  }
  const starts = (said: string[]) => said.map((text) => text.slice(0, 12))
  expect((await talk('none')).map((said) => said.length)).toEqual([1, 1, 1])
  expect(starts((await talk('window')).at(-1)!)).toEqual(['2 word word ', 'An answer.', '3 word word '])
  const summarised = await talk('summary')
  expect(starts(summarised.at(-1)!)).toEqual(['[Summary of ', '2 word word ', 'An answer.', '3 word word '])
  expect(summarised).toHaveLength(4)
})

test('an old conversation is summarised in parts that fit, each once', async () => {
  const id = await begin({ memory: { strategy: 'window', max_tokens: 200 } })
  const { upstream } = forge.parts
  upstream.reply({ content: 'ok', times: 4 })
  for (const n of [1, 2, 3, 4]) await say(id, `${n} ${'lorem ipsum '.repeat(3300)}`)
  await api('PUT', `${path}/${id}`, { memory: { strategy: 'summary', max_tokens: 200 } })
  const isTooLong = ({ rawBody }: { rawBody: { length: number } }) => rawBody.length > 90_000
  const begun = async () => {
    upstream.reset()
    upstream.reply(isTooLong, { status: 400, error: { code: 'context_length_exceeded' }, times: 100 })
  }
  await begun()
  for (const n of [1, 2, 3, 4, 5]) upstream.reply({ content: `so far ${n}` })
  expect((await say(id, 'And now?')).status).toBe(200)
  const asked = conversations()
  expect(asked.length).toBeGreaterThan(2)
  expect(asked.at(-1)![0]).toMatch(/so far \d$/)
  expect(asked[1]!.at(-1)).toMatch(/^so far 1\nuser: /)
  const told = asked
    .slice(0, -1)
    .map((said) => said.at(-1)!)
    .join('\n')
  for (const n of [1, 2, 3, 4]) expect(told.split(`user: ${n} lorem`)).toHaveLength(2)
  await begun()
  expect((await say(id, 'And then?')).status).toBe(200)
  expect(conversations()).toHaveLength(1)
})

test('a conversation goes on where no summary can be made, until one can', async () => {
  const id = await begin({ memory: { strategy: 'window', max_tokens: 150 } })
  const { upstream } = forge.parts
  upstream.reply({ content: 'ok', times: 3 })
  for (const n of [1, 2, 3]) await say(id, `${n} ${'word '.repeat(60)}`)
  await api('PUT', `${path}/${id}`, { memory: { strategy: 'summary', max_tokens: 150 } })
  upstream.reset()
  upstream.reply({ status: 400, error: { message: 'No.' } })
  upstream.reply({ content: 'Fine.' })
  expect((await say(id, 'Short')).body.assistant).toMatchObject({ content: 'Fine.' })
  expect(
    conversations()
      .at(-1)!
      .map((text) => text.slice(0, 3)),
  ).toEqual(['3 w', expect.anything(), 'Sho'])
  upstream.reset()
  upstream.reply({ content: 'At last.' })
  await say(id, 'Again')
  expect(conversations().at(-1)![0]).toMatch(/At last\.$/)
})

test('what a message without an answer has cost is in the sums of its session', async () => {
  const id = await begin({ memory: { strategy: 'summary', max_tokens: 100 } })
  for (const n of [1, 2]) await say(id, `${n} ${'word '.repeat(60)}`)
  const { body: before } = await api('GET', `${path}/${id}`)
  const { upstream } = forge.parts
  upstream.reset()
  upstream.reply({ content: 'a summary' })
  upstream.reply({ status: 400, error: { message: 'bad' } })
  expect((await say(id, 'next')).status).toBe(400)
  const { body: after } = await api('GET', `${path}/${id}`)
  const failed = (await messages(id)).at(-1)
  expect(failed).toMatchObject({ status: 'failed', tokens_out: expect.any(Number) })
  expect(failed.cost_usd).toBeGreaterThan(0)
  expect(after.cost_usd).toBeCloseTo(before.cost_usd + failed.cost_usd, 12)
  expect(after.token_count).toBe(before.token_count + failed.tokens_in + failed.tokens_out)
})

test('users have their own sessions, which go with them, and bad input is named', async () => {
  const { gateway } = forge.parts
  const ada = await gateway.signUp('ada-session')
  const bob = await gateway.signUp('bob-session')
  const id = await begin({}, ada.key)
  for (const [method, at, body] of [
    ['GET', ''],
    ['PUT', '', {}],
    ['DELETE', ''],
    ['GET', '/messages'],
    ['POST', '/messages', { content: 'x' }],
  ] as const)
    expect([method, at, (await api(method, `${path}/${id}${at}`, body, bob.key)).status]).toEqual([
      method,
      at,
      404,
    ])
  expect((await api('GET', path, undefined, bob.key)).body.total).toBe(0)
  expect((await api('GET', path, undefined, ada.key)).body.total).toBe(1)
  const bad = await api('POST', `${path}/${id}/messages`, { content: [{ type: 'sound' }] }, ada.key)
  expect([bad.status, bad.body.error.param]).toEqual([400, expect.stringMatching(/^content/)])
  expect(
    (await api('POST', `${path}/${id}/messages`, { content: 'x'.repeat(100_001) }, ada.key)).status,
  ).toBe(413)
  expect((await api('POST', path, { model: 'm', temperature: 1 })).body.error.param).toBe('temperature')
  await gateway.api('DELETE', `/api/auth/users/${ada.userId}`)
  expect((await api('GET', `${path}/${id}`)).status).toBe(404)
})
