import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { anthropicLine, openaiLine } from './fine-tuning-parts.ts'

const path = '/api/modules/trainexport/sets'
const privateTexts = [
  'ada.lovelace@example.co.uk',
  '4111 1111 1111 1111',
  'DE89 3704 0044 0532 0130 00',
  '536-90-4399',
  '192.168.10.5',
  '+49 30 1234 5678',
  '10 December 1815',
  '221b Baker Street',
  'Lovelace',
]

let upstream: Upstream
let gateway: TestGateway
let ada: { userId: string; key: string }
let bob: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  ada = await gateway.signUp('ada')
  bob = await gateway.signUp('bob')
  await gateway.module('trainexport', { enabled: true, config: { users: [ada.userId], projects: ['open'] } })
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

interface Said {
  readonly key?: string
  readonly headers?: Record<string, string>
  readonly rating?: number
  readonly body?: object
  readonly reply?: object
}

/** A call that its caller rates, in stars. */
async function say(content: string, { key = ada.key, headers = {}, rating = 5, body, reply }: Said = {}) {
  if (reply) upstream.reply(reply)
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...body }),
  })
  await response.text()
  const trace_id = response.headers.get('x-trace-id')
  const feedback = { trace_id, rating, scale: 'stars' }
  await expect
    .poll(async () => (await gateway.api('POST', '/api/trust/feedback', feedback, key)).status)
    .toBe(201)
}

async function build(wish: object = {}) {
  const { status, body } = await gateway.api('POST', path, wish)
  expect([status, body.status]).toEqual([202, 'building'])
  const set = async () => (await gateway.api('GET', `${path}/${body.id}`)).body
  await expect.poll(async () => (await set()).status, { timeout: 20_000 }).toBe('ready')
  return set()
}

async function text(id: string, form: string, part: string): Promise<string> {
  const response = await fetch(`${gateway.url}${path}/${id}/download?form=${form}&part=${part}`, {
    headers: { authorization: `Bearer ${gateway.adminKey}` },
  })
  expect(response.status).toBe(200)
  return response.text()
}

/** All lines of a set in one form. */
async function lines(id: string, form: string) {
  const both = await Promise.all(['train', 'validation'].map((part) => text(id, form, part)))
  return both
    .join('')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a place.',
    parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
  },
}

test('every line is one of the fine-tuning formats, with system texts, tools and calls of tools', async () => {
  const project = { 'x-project': 'forms' }
  await say('What is a moth?', { headers: project })
  const messages = [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Is it raining in Zürich' },
        { type: 'text', text: 'and Bern?' },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: ['Zürich', 'Bern'].map((place, n) => ({
        id: `call_${n}`,
        type: 'function',
        function: { name: 'weather', arguments: JSON.stringify({ place }) },
      })),
    },
    { role: 'tool', tool_call_id: 'call_0', content: 'sun' },
    { role: 'tool', tool_call_id: 'call_1', content: 'rain' },
  ]
  await say('', { headers: project, body: { messages, tools: [weather] } })
  await say('Call the tool', {
    headers: project,
    body: { tools: [weather] },
    reply: { toolCalls: [{ id: 'call_9', name: 'weather', arguments: '{"place":"Genf"}' }] },
  })
  await say('A picture', {
    headers: project,
    body: {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }] },
      ],
    },
  })
  const set = await build({ project: 'forms' })
  expect(set.counts).toMatchObject({ looked_at: 4, left_out: { form: 1 } })
  expect(set.counts.train + set.counts.validation).toBe(3)

  const openai = await lines(set.id, 'openai')
  for (const line of openai) openaiLine.parse(line)
  const withTools = openai.find(({ messages }) => messages.length > 3)
  expect(withTools.messages.map(({ role }: { role: string }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'tool',
    'tool',
    'assistant',
  ])
  expect(withTools.tools).toEqual([weather])
  const anthropic = await lines(set.id, 'anthropic')
  for (const line of anthropic) anthropicLine.parse(line)
  expect(anthropic).toContainEqual(
    expect.objectContaining({
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Is it raining in Zürich\nand Bern?' },
        {
          role: 'assistant',
          content: ['Zürich', 'Bern'].map((place, n) => ({
            type: 'tool_use',
            id: `call_${n}`,
            name: 'weather',
            input: { place },
          })),
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_0', content: 'sun' },
            { type: 'tool_result', tool_use_id: 'call_1', content: 'rain' },
          ],
        },
        { role: 'assistant', content: expect.any(String) },
      ],
    }),
  )
  expect(anthropic).toContainEqual(
    expect.objectContaining({
      messages: [
        { role: 'user', content: 'Call the tool' },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_9', name: 'weather', input: { place: 'Genf' } }],
        },
      ],
    }),
  )
  const stripped = await build({ project: 'forms', strip_system: true })
  expect(
    JSON.stringify([await lines(stripped.id, 'openai'), await lines(stripped.id, 'anthropic')]),
  ).not.toContain('Be brief.')
})

test('calls of tools that no training file can hold are left out, and keep no set from being built', async () => {
  const headers = { 'x-project': 'tools' }
  const called = (name: string, json: string) => ({
    tools: [{ type: 'function', function: { name, parameters: { type: 'object' } } }],
    messages: [
      { role: 'user', content: `Call ${name}` },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name, arguments: json } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    ],
  })
  const deep = 20_000
  await say('', { headers, body: called('deep', `{"a":${'['.repeat(deep)}${']'.repeat(deep)}}`) })
  await say('', { headers, body: called('server.search', '{"for":"moths"}') })
  await say('', { headers, body: called('look', '{"for":"moths"}') })
  const set = await build({ project: 'tools' })
  expect(set.counts).toMatchObject({ looked_at: 3, left_out: { form: 2 } })
  for (const line of await lines(set.id, 'openai')) openaiLine.parse(line)
})

test('no personal data is left, in texts, in arguments and results of tools, and in names that are told once', async () => {
  const headers = { 'x-project': 'private' }
  const said = `My name is Ada Lovelace, born on ${privateTexts[6]}. Write to ${privateTexts.slice(0, 6).join(', ')} or ${privateTexts[7]}.`
  const messages = [
    { role: 'system', content: `Today Lovelace calls from ${privateTexts[5]}.` },
    { role: 'user', content: said, name: 'Lovelace' },
    {
      role: 'assistant',
      tool_calls: [
        {
          id: 'call_1',
          type: 'function',
          function: {
            name: 'weather',
            arguments: JSON.stringify({
              place: said,
              card: 4111111111111111,
              'ada.lovelace@example.co.uk': true,
            }),
          },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: said },
  ]
  const tools = [
    { ...weather, function: { ...weather.function, description: `As ${privateTexts[0]} has it.` } },
  ]
  await say('', {
    headers,
    body: { messages, tools },
    reply: { content: `Lovelace is at ${privateTexts[4]}` },
  })
  const set = await build({ project: 'private' })
  for (const form of ['openai', 'anthropic']) {
    const all = await lines(set.id, form)
    expect(all).toHaveLength(1)
    for (const one of [...privateTexts, '4111111111111111']) expect(JSON.stringify(all)).not.toContain(one)
    expect(JSON.stringify(all)).toContain('[EMAIL]')
    ;(form === 'openai' ? openaiLine : anthropicLine).parse(all[0])
  }
  await gateway.module('trainexport', { config: { mask_pii: false } })
  const open = await build({ project: 'private' })
  expect(JSON.stringify(await lines(open.id, 'openai'))).toContain(privateTexts[0])
  await gateway.module('trainexport', { config: { mask_pii: null } })
})

test('near-duplicates are one line', async () => {
  const headers = { 'x-project': 'twice' }
  const long = Array.from({ length: 60 }, (_, n) => `word${n}`).join(' ')
  for (const end of ['red', 'Red!', 'blue'])
    await say(`${long} ${end}`, { headers, reply: { content: 'Fine.' } })
  await say('Something else', { headers })
  const set = await build({ project: 'twice' })
  expect(set.counts).toMatchObject({ looked_at: 4, left_out: { duplicate: 2 } })
  expect(await lines(set.id, 'openai')).toHaveLength(2)
  await gateway.module('trainexport', { config: { dedupe: false } })
  expect((await build({ project: 'twice' })).counts.left_out).toEqual({})
  await gateway.module('trainexport', { config: { dedupe: null } })
})

test('only calls of users and projects on the lists are taken, that were rated well and have what is asked for', async () => {
  const tags = { 'x-service-tags': 'team=moths' }
  const wish = { tags: { team: 'moths' }, min_score: 4 }
  await say('Of a user that is on the list', { headers: tags })
  await say('Of one that is on none', { key: bob.key, headers: tags })
  await say('Of a project', { key: bob.key, headers: { ...tags, 'x-project': 'open' }, rating: 4 })
  await say('Kept out by its caller', { headers: { 'x-service-tags': 'team=moths,training=off' } })
  await say('Rated low', { headers: tags, rating: 2 })
  const set = await build(wish)
  const { not_allowed, opted_out, score } = set.counts.left_out
  expect([set.counts.train + set.counts.validation, opted_out, score]).toEqual([2, 1, 1])
  expect(not_allowed).toBeGreaterThanOrEqual(1)
  const said = JSON.stringify(await lines(set.id, 'openai'))
  expect(said).toMatch(/Of a user that is on the list.*Of a project|Of a project.*Of a user/)
  expect((await build({ ...wish, user_id: bob.userId })).counts.train + 0).toBeLessThanOrEqual(1)
  expect((await build({ ...wish, from: '2100-01-01T00:00:00Z' })).counts.looked_at).toBe(0)
  expect((await build({ ...wish, model: 'no-such-model' })).counts.looked_at).toBe(0)
  expect((await build({ ...wish, template: 'greeting' })).counts).toMatchObject({ train: 0, validation: 0 })
})

test('the split is the same each time, and files come in ranges', async () => {
  const headers = { 'x-project': 'many' }
  for (let n = 0; n < 12; n += 1) await say(`Question ${'abcdefghijkl'[n]!.repeat(9)} ${n}`, { headers })
  const wish = { project: 'many', validation_share: 0.5 }
  const [one, two] = [await build(wish), await build(wish)]
  expect(one.counts.train).toBeGreaterThan(0)
  expect(one.counts.validation).toBeGreaterThan(0)
  expect(two.files).toEqual(one.files)
  const whole = await text(one.id, 'openai', 'train')
  expect(whole.split('\n').length - 1).toBe(one.counts.train)
  const url = `${gateway.url}${path}/${one.id}/download?form=openai&part=train`
  const authorization = `Bearer ${gateway.adminKey}`
  const ranged = await fetch(url, { headers: { authorization, range: 'bytes=10-29' } })
  expect([ranged.status, await ranged.text()]).toEqual([206, whole.slice(10, 30)])
})

test('a set that has lines of a user is erased with that user’s data, and others stay', async () => {
  const headers = { 'x-project': 'open' }
  await say('This was said by Bob alone', {
    key: bob.key,
    headers: { ...headers, 'x-service-tags': 'of=bob' },
  })
  const [his, hers] = [await build({ tags: { of: 'bob' } }), await build({ user_id: ada.userId })]
  await gateway.module('trainexport', { enabled: false })
  const { body } = await gateway.api('DELETE', `/api/auth/users/${bob.userId}/data`)
  expect(body.erased.trainexport).toBeGreaterThan(0)
  await gateway.module('trainexport', { enabled: true })
  expect((await gateway.api('GET', `${path}/${his.id}`)).body).toMatchObject({ status: 'erased', files: [] })
  expect((await gateway.api('GET', `${path}/${his.id}/download`)).status).toBe(409)
  expect((await lines(hers.id, 'openai')).length).toBeGreaterThan(0)
})

test('a set whose job is cancelled has failed', async () => {
  await gateway.api('POST', '/api/jobs/pause', { kind: 'trainexport.build' })
  const { body } = await gateway.api('POST', path, {})
  await gateway.api('POST', `/api/jobs/${encodeURIComponent(`trainexport.build:${body.id}`)}/cancel`)
  await expect
    .poll(async () => (await gateway.api('GET', `${path}/${body.id}`)).body)
    .toMatchObject({ status: 'failed' })
  await gateway.api('POST', '/api/jobs/resume', { kind: 'trainexport.build' })
})

test('only admins have sets, what is wrong is named, and a deleted set is gone', async () => {
  const set = await build({ project: 'many', name: 'Questions' })
  expect(set).toMatchObject({ name: 'Questions', selection: { project: 'many', min_score: 4 } })
  for (const [method, at] of [
    ['POST', path],
    ['GET', path],
    ['GET', `${path}/${set.id}`],
    ['GET', `${path}/${set.id}/download`],
    ['DELETE', `${path}/${set.id}`],
  ] as const)
    expect((await gateway.api(method, at, method === 'POST' ? {} : undefined, ada.key)).status).toBe(403)
  for (const wish of [{ validation_share: 0.9 }, { min_score: 6 }, { color: 'red' }, { from: 'yesterday' }])
    expect((await gateway.api('POST', path, wish)).status).toBe(400)
  expect((await gateway.api('GET', `${path}?limit=1`)).body.sets[0].id).toBe(set.id)
  expect((await gateway.api('DELETE', `${path}/${set.id}`)).body).toEqual({ deleted: true, id: set.id })
  expect((await gateway.api('GET', `${path}/${set.id}`)).status).toBe(404)
  expect((await gateway.api('DELETE', `${path}/${set.id}`)).status).toBe(404)
})
