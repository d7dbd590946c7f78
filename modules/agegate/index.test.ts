import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { holdsAtEveryCut } from '../../test/cuts.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { audiences } from './audience.ts'
import { blocked, searchFor } from './categories.ts'
import { policies } from './policy.ts'
import { builtIn } from './terms.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const gate = async (config: object): Promise<void> => {
  await gateway.module('agegate', { enabled: true, config: null })
  await gateway.module('agegate', { config })
}

const model = 'gpt-4o-mini'
const chat = (content: string, { stream = false, headers = {} } = {}) =>
  ask(gateway, { body: { model, messages: [{ role: 'user', content }], stream }, headers })
const casino = 'Where is an online casino?'

test('the header can only make it stricter, and so can a key', async () => {
  const { key, userId } = await gateway.signUp('young')
  const { body } = await gateway.api('GET', '/api/auth/me/keys', undefined, key)
  const keyId = body.keys[0].id
  const refused = async (audience?: string) => {
    const headers = { authorization: `Bearer ${key}`, ...(audience && { 'x-audience': audience }) }
    return (await chat(casino, { headers })).status === 400
  }
  await gate({ users: { [userId]: 'teen' } })
  expect([await refused(), await refused('adult'), await refused('child')]).toEqual([true, true, true])
  await gate({ users: { [userId]: 'adult' }, default_audience: 'child' })
  expect([await refused(), await refused('adult'), await refused('teen')]).toEqual([false, false, true])
  await gate({ users: { [userId]: 'adult' }, keys: { [keyId]: 'teen' } })
  expect([await refused(), await refused('adult')]).toEqual([true, true])
  await gate({ default_audience: 'teen' })
  expect([await refused(), await refused('adult')]).toEqual([true, true])
  await gate({})
  expect([await refused(), await refused(' Teen ')]).toEqual([false, true])
})

test('an audience that is none is refused', async () => {
  await gate({})
  const { status, body } = await chat('Hello', { headers: { 'x-audience': 'toddler' } })
  expect(status).toBe(400)
  expect(body).toMatchObject({ error: { param: 'X-Audience', module: 'agegate' } })
})

const wires: Readonly<Record<string, readonly [path: string, body: (text: string) => object]>> = {
  chat: ['/v1/chat/completions', (text) => ({ model, messages: [{ role: 'user', content: text }] })],
  completions: ['/v1/completions', (text) => ({ model, prompt: text })],
  messages: [
    '/v1/messages',
    (text) => ({ model, max_tokens: 100, messages: [{ role: 'user', content: text }] }),
  ],
  responses: ['/v1/responses', (text) => ({ model, input: text })],
}

describe.each(Object.entries(wires))('on the wire %s', (_, [path, body]) => {
  const send = async (text: string, stream: boolean) => {
    const response = await fetch(gateway.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.adminKey}`,
        'content-type': 'application/json',
        'x-audience': 'child',
      },
      body: JSON.stringify({ ...body(text), stream }),
    })
    return { status: response.status, text: await response.text() }
  }

  test.each([false, true])('a blocked category is blocked both ways (streamed: %s)', async (stream) => {
    await gate({})
    expect((await send('Tell me an erotic story.', stream)).status).toBe(400)
    expect(upstream.requests).toHaveLength(0)
    upstream.reply({
      content: `${'All is well here. '.repeat(20)}Then they got drunk on vodka.`,
      splitBytes: 3,
    })
    const answer = await send('Tell me a story.', stream)
    expect(answer.status).toBe(stream ? 200 : 400)
    expect(answer.text).not.toContain('odka')
    expect(answer.text.includes('well')).toBe(stream)
  })
})

test('a blocked category in a stream stops the provider', async () => {
  await gate({ default_audience: 'child' })
  upstream.reply({ content: ['Take some ', 'vodka ', 'and then ', 'some more of ', 'it', '.'], hangAfter: 5 })
  const { body } = await chat('What do I drink?', { stream: true })
  expect(body).toMatchObject({ error: { type: 'content_blocked', details: { found: 'alcohol_tobacco' } } })
  await upstream.last().closed
})

describe('the policy', () => {
  const sent = () => (upstream.last().body as { messages: unknown[] }).messages

  test('stands behind the last system message, or is one', async () => {
    await gate({ policies: { teen: 'For a teenager.' } })
    const headers = { 'x-audience': 'teen' }
    const user = { role: 'user', content: 'Hello' }
    await chat('Hello', { headers })
    expect(sent()).toEqual([{ role: 'system', content: 'For a teenager.' }, user])
    const parts = [{ type: 'text', text: 'Be brief.' }]
    await ask(gateway, { body: { model, messages: [{ role: 'system', content: parts }, user] }, headers })
    expect(sent()).toEqual([
      { role: 'system', content: [...parts, { type: 'text', text: 'For a teenager.' }] },
      user,
    ])
  })

  test('of an adult adds nothing', async () => {
    await gate({})
    await chat('Hello')
    expect(sent()).toEqual([{ role: 'user', content: 'Hello' }])
  })

  test('has no word that is blocked, so that two configurations do not refuse each other', () => {
    for (const who of audiences)
      expect(searchFor('child', blocked.parse({}), {})!.find(policies[who], 0)).toEqual([])
  })
})

describe('categories', () => {
  const search = searchFor('child', blocked.parse({}), {})!
  const found = (text: string) => search.find(text, 0).map(({ label }) => label)

  test.each(
    Object.entries(builtIn).flatMap(([category, terms]) => terms.map((term) => [category, term] as const)),
  )('%s has %s', (category, term) => {
    const word = term.replace('*', '')
    const loud = word.toUpperCase()
    expect(found(`So: ${loud.toLowerCase() === word ? loud : word}!`)).toContain(category)
    expect(found(`x${word}`)).not.toContain(category)
  })

  test.each([
    'Sussex and Scunthorpe are in England.',
    'The Battle of Verdun killed hundreds of thousands of soldiers.',
    'How do I kill a process on Linux?',
    'The heroine of the novel dies at the end.',
    'Plants need water; photosynthesis makes sugar.',
    'Der Kiffhäuser ist ein Berg.',
    'I got high marks at school.',
    'La ruta de la seda y la pistola de agua.',
  ])('%j has none', (text) => expect(found(text)).toEqual([]))

  test('of the operator have words and patterns, beside those that are built in', async () => {
    const definitions = {
      horror: { words: ['clown*', 'haunted house'], patterns: ['\\bwere(wolf|wolves)\\b'] },
      weapons: { words: ['catapult'] },
    }
    await gate({ categories: { teen: ['horror', 'weapons'] }, definitions })
    const headers = { 'x-audience': 'teen' }
    for (const [text, status] of [
      ['Two CLOWNS came', 400],
      ['the haunted \n house', 400],
      ['Werewolves? werewolves!', 400],
      ['a catapult', 400],
      ['a pipe bomb', 400],
      [casino, 200],
    ] as const)
      expect([text, (await chat(text, { headers })).status]).toEqual([text, status])
  })

  test('that nothing defines are refused in the settings', async () => {
    await gate({})
    const { status, body } = await gateway.api('PUT', '/api/proxy/modules/agegate', {
      config: { categories: { teen: ['horror'] } },
    })
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('horror')])
  })

  test('are found at every cut as in the whole', () => {
    const words = Object.values(builtIn)
      .flat()
      .map((term) => term.replace('*', 'en'))
    const detection = {
      reach: search.reach,
      context: 2,
      open: (text: string, _call: unknown, from: number) => search.open(text, from),
      scan: (text: string, _place: unknown, _call: unknown, from: number) =>
        search.find(text, from).map((span) => ({ ...span, action: 'replace' as const, replacement: '-' })),
    }
    const text = fc
      .array(fc.oneof(fc.constantFrom(...words), fc.constantFrom('a', ' ', '. ', 'é', '😀', 'Ω')), {
        maxLength: 12,
      })
      .map((parts) => parts.join(' '))
    holdsAtEveryCut(detection, fc.sample(text, 20))
  })
})
