import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { type Script, startUpstream, type Upstream } from '../../test/upstream/index.ts'

const model = 'gpt-4o-mini'
const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`

let upstream: Upstream
let other: Upstream
let gateway: TestGateway
let user: { userId: string; key: string }

beforeAll(async () => {
  upstream = await startUpstream()
  other = await startUpstream()
  const stopping = {
    type: 'openai',
    base_url: other.baseUrl(),
    api_key: 'sk-test',
    models: ['stopping-*'],
  }
  gateway = await startGateway({ upstream, config: { providers: { stopping } } })
  user = await gateway.signUp('recorder')
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

beforeEach(() => upstream.reset())

const defaults = { mode: 'auto', share: 'user', pace: 'none', max_recordings: 1000 }
const use = (config: object): Promise<void> =>
  gateway.module('playback', { enabled: true, config: { ...defaults, ...config } })

/** The provider's answers, in this order. */
const says = (...scripts: readonly Script[]): void => {
  for (const script of scripts) upstream.reply(script)
}

const clientOf = (key: string): OpenAI =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })

const folderOf = (cassette: string): string => path.join(gateway.dataDir, 'files', 'playback', cassette)
const filesOf = async (cassette: string): Promise<string[]> =>
  (await readdir(folderOf(cassette)).catch(() => [])).filter((name) => name.endsWith('.json')).sort()

async function waitForFiles(cassette: string, count: number): Promise<string[]> {
  await expect.poll(async () => (await filesOf(cassette)).length, { timeout: 10_000 }).toBe(count)
  return filesOf(cassette)
}

async function ask(content: string, more: object = {}, key = user.key) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }], ...more }),
  })
  const text = await response.text()
  return { status: response.status, played: response.headers.get('x-playback'), text }
}

/** What a test suite of somebody's might ask. */
async function suite(key: string): Promise<unknown[]> {
  const client = clientOf(key)
  const model = 'stopping-model'
  const messages = [{ role: 'user' as const, content: 'What is the capital of Peru?' }]
  const tools = [{ type: 'function' as const, function: { name: 'look', parameters: { type: 'object' } } }]
  const whole = await client.chat.completions.create({ model, messages })
  const streamed = await client.chat.completions
    .stream({ model, messages, temperature: 0.5 })
    .finalChatCompletion()
  const called = await client.chat.completions.stream({ model, messages, tools }).finalChatCompletion()
  const embedded = await client.embeddings.create({ model, input: 'Lima', encoding_format: 'float' })
  const anthropic = new Anthropic({ baseURL: gateway.url, apiKey: key, maxRetries: 0 })
  const message = await anthropic.messages.create({ model, max_tokens: 50, messages })
  return [
    whole.choices,
    streamed.choices[0]!.message.content,
    called.choices[0]!.message.tool_calls,
    embedded.data,
    message.content,
  ]
}

test('a suite that was recorded once runs with the provider stopped', async () => {
  other.reply({ content: 'Lima.' })
  other.reply({ content: ['It is ', 'Lima.'] })
  other.reply({ toolCalls: [{ name: 'look', arguments: { for: 'Peru' } }] })
  other.reply({})
  other.reply({ content: 'Lima, Peru.' })
  await use({ mode: 'record', cassette: 'suite' })
  const recorded = await suite(user.key)
  await waitForFiles('suite', 5)
  await other.close()
  await use({ mode: 'replay', cassette: 'suite', pace: 'recorded' })
  expect(await suite(user.key)).toEqual(recorded)
})

test('a stream is replayed at its pace: what is due in an hour is not there now', async () => {
  await use({ cassette: 'slow' })
  upstream.reply({ content: ['Now.', 'Later.'] })
  await ask('How fast?', { stream: true })
  const [file] = await waitForFiles('slow', 1)
  const at = path.join(folderOf('slow'), file!)
  const recording = JSON.parse(await readFile(at, 'utf8'))
  await writeFile(at, JSON.stringify({ ...recording, pace: '0:4 3600000:10' }))
  await use({ cassette: 'slow', mode: 'replay', pace: 'recorded' })
  const stream = await clientOf(user.key).chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'How fast?' }],
    stream: true,
  })
  const seen: string[] = []
  for await (const { choices } of stream) {
    seen.push(choices[0]?.delta.content ?? '')
    if (seen.join('') !== '') break
  }
  expect('Now.Later.').toMatch(new RegExp(`^${seen.join('')}.`))
  await use({ cassette: 'slow', mode: 'replay', pace: 'none' })
  expect((await ask('How fast?')).text).toContain('Now.Later.')
})

test('what was recorded whole is replayed as a stream, and the other way round', async () => {
  await use({ cassette: 'forms' })
  says({ content: 'Whole.' }, { content: ['Strea', 'med.'] })
  expect((await ask('One')).played).toBe('recording')
  expect((await ask('Two', { stream: true })).played).toBe('recording')
  const [one, two] = [await ask('One', { stream: true }), await ask('Two')]
  expect([one.played, two.played]).toEqual(['replayed', 'replayed'])
  expect(one.text).toContain('Whole.')
  expect(JSON.parse(two.text).choices[0].message.content).toBe('Streamed.')
  expect(upstream.requests).toHaveLength(2)
})

test('a miss tells where the nearest recording differs, and none of its words', async () => {
  await use({ cassette: 'misses', mode: 'record' })
  says({ content: 'Lima.' }, { content: 'Rust.' })
  await ask('What is the capital of Peru? violet', { temperature: 0.5 })
  await ask('How do crabs grow?')
  const files = await waitForFiles('misses', 2)
  await use({ cassette: 'misses', mode: 'replay' })
  const { status, text } = await ask('What is the capital of Peru?', { temperature: 1, seed: 3 })
  const { error } = JSON.parse(text)
  expect([status, error.code, error.type, error.module]).toEqual([
    404,
    'not_found',
    'no_recording',
    'playback',
  ])
  expect(files).toContain(error.details.nearest.file)
  expect(error.details.nearest.differences).toEqual(
    expect.arrayContaining([
      { path: 'messages[0].content', before: { type: 'text', size: 35 }, after: { type: 'text', size: 28 } },
      { path: 'temperature', before: { type: 'number', value: 0.5 }, after: { type: 'number', value: 1 } },
      { path: 'seed', before: { type: 'absent' }, after: { type: 'number', value: 3 } },
    ]),
  )
  expect(error.message).toContain('messages[0].content')
  expect(text).not.toMatch(/violet|crabs|Lima/)
  expect(upstream.requests).toHaveLength(2)
})

test('no secret is in a file, and a call with another one is the same call', async () => {
  await use({ cassette: 'secrets' })
  await gateway.module('secretscan', { enabled: false })
  upstream.reply({ content: `Take ${token}.`, splitBytes: 1 })
  upstream.reply({ toolCalls: [{ name: 'save', arguments: { token } }], splitBytes: 1 })
  const tools = [{ type: 'function', function: { name: 'save', parameters: { type: 'object' } } }]
  await ask(`My key is ${token}`, { stream: true })
  await ask('Save it', { stream: true, tools, metadata: { api_key: 'f9a8K2mQ7xLp0VtR5wZc' } })
  for (const file of await waitForFiles('secrets', 2)) {
    const text = await readFile(path.join(folderOf('secrets'), file), 'utf8')
    expect(text).toContain('[REDACTED:github_token]')
    expect(text).not.toMatch(/a1B2c3|f9a8K2|recorder|sy_live|usr_|sk-test/)
  }
  const again = await ask(`My key is ${token.toLowerCase().replace('ghp', 'gho')}`)
  expect([again.played, JSON.parse(again.text).choices[0].message.content]).toEqual([
    'replayed',
    'Take [REDACTED:github_token].',
  ])
  await gateway.module('secretscan', { enabled: true })
})

test('another user gets nothing of a recording unless the operator shares them', async () => {
  const stranger = await gateway.signUp('stranger')
  await use({ cassette: 'own' })
  upstream.reply({ content: 'Mine.' })
  await ask('Whose is it?')
  await waitForFiles('own', 1)
  await use({ cassette: 'own', mode: 'replay' })
  const missed = await ask('Whose is it?', {}, stranger.key)
  expect([missed.status, JSON.parse(missed.text).error.details]).toEqual([404, { cassette: 'own' }])
  await use({ cassette: 'shared', share: 'everyone' })
  upstream.reply({ content: 'Ours.' })
  await ask('Whose is it?')
  const shared = await ask('Whose is it?', {}, stranger.key)
  expect([shared.played, shared.text.includes('Ours.')]).toEqual(['replayed', true])
})

test('recording the same words again leaves the file as it is, and other words replace them', async () => {
  await use({ cassette: 'again', mode: 'record' })
  const read = async (): Promise<string> => {
    const [file] = await waitForFiles('again', 1)
    return readFile(path.join(folderOf('again'), file!), 'utf8')
  }
  says({ content: 'Same.' }, { content: 'Same.' }, { content: 'Different.' })
  await ask('Again?')
  const first = await read()
  await ask('Again?', { stream: true })
  // The third call writes behind the second one, so the file has been through both when it changes.
  expect(await read()).toBe(first)
  await ask('Again?')
  await expect.poll(read, { timeout: 10_000 }).toContain('Different.')
  expect(JSON.parse(first).answer.choices[0].message.content).toBe('Same.')
})

test('an edit holds at once, and a file that is none is named and goes nowhere', async () => {
  await use({ cassette: 'edited', mode: 'auto' })
  upstream.reply({ content: 'Original.' })
  await ask('Edit me')
  const [file] = await waitForFiles('edited', 1)
  const at = path.join(folderOf('edited'), file!)
  await writeFile(at, (await readFile(at, 'utf8')).replace('Original.', 'Edited.'))
  expect((await ask('Edit me')).text).toContain('Edited.')
  const whole = await readFile(at, 'utf8')
  const hollow = [
    whole.replace(
      /"choices": \[[\s\S]*?\n {4}\]/,
      '"choices": [{"index":0,"finish_reason":"stop","message":"?"}]',
    ),
    whole.replace(
      '"content": "Edited."',
      '"tool_calls": [{"id":"x","function":{"name":"y","arguments":{}}}]',
    ),
    whole.replace(/"pace": "[^"]*"/, '"pace": "fast"'),
  ]
  expect(hollow).not.toContain(whole)
  for (const broken of ['', '{', '{"version":1}', '['.repeat(5000), ...hollow]) {
    await writeFile(at, broken)
    const { status, text } = await ask('Edit me')
    expect([status, JSON.parse(text).error.type]).toEqual([404, 'no_recording'])
    expect(text).toContain(file)
  }
  expect(upstream.requests).toHaveLength(1)
})

test('failures and refusals are not recorded, nor is more than the cassette takes', async () => {
  await use({ cassette: 'bounded', max_recordings: 1 })
  says({ status: 400, error: { message: 'No.' } }, { content: 'Unfit.', finishReason: 'content_filter' })
  says({ content: 'First.' }, { content: 'Second.' })
  expect((await ask('Fail')).status).toBe(400)
  await ask('Refuse')
  await ask('One')
  await ask('Two')
  await ask('One')
  const events = async () => (await gateway.api('GET', '/api/proxy/modules/playback/events')).body.events
  await expect.poll(async () => JSON.stringify(await events()), { timeout: 10_000 }).toContain('full')
  expect(await filesOf('bounded')).toHaveLength(1)
})

test("recordings go with the data of the user whose calls they are, and what encryptvault seals isn't recorded", async () => {
  const leaver = await gateway.signUp('leaver')
  await use({ cassette: 'personal' })
  says({ content: 'Kept.' }, { content: 'Gone.' })
  await ask('Remember')
  await ask('Forget', {}, leaver.key)
  await waitForFiles('personal', 2)
  const at = `/api/auth/users/${leaver.userId}/data`
  const counted = await gateway.api('GET', at)
  expect(JSON.stringify(counted.body)).toContain('playback')
  expect((await gateway.api('DELETE', at)).status).toBe(200)
  const [left] = await waitForFiles('personal', 1)
  expect(await readFile(path.join(folderOf('personal'), left!), 'utf8')).toContain('Remember')

  await gateway.module('encryptvault', { enabled: true })
  upstream.reply({ content: 'Sealed.' })
  await ask('Seal it')
  const events = async () => (await gateway.api('GET', '/api/proxy/modules/playback/events')).body
  await expect.poll(async () => JSON.stringify(await events()), { timeout: 10_000 }).toContain('sealed')
  expect(await filesOf('personal')).toHaveLength(1)
  await gateway.module('encryptvault', { enabled: false })
})

test.each(['../other', '/etc', 'a/b', '..', 'A', ''])(
  'a cassette has a plain name, unlike %j',
  async (cassette) => {
    await mkdir(folderOf('.'), { recursive: true })
    await expect(use({ cassette })).rejects.toThrow('cassette')
  },
)
