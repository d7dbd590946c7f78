import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ask } from '../../test/ask.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

const base62 = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const random = (length: number): string =>
  Array.from({ length }, (_, n) => base62[(n * 37 + 11) % 62]).join('')

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI
const messages = [{ role: 'user' as const, content: 'What is my token?' }]
const secret = `ghp_${random(36)}`
const other = `sk_live_${random(24)}`

beforeAll(async () => {
  upstream = await startUpstream()
  gateway = await startGateway({ upstream })
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: (await gateway.signUp()).key, maxRetries: 0 })
  await gateway.module('secretscan', { enabled: true })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

test('a secret that a stream splits at every byte is redacted, in content and in tool arguments', async () => {
  upstream.reply({ content: `It is ${secret}.`, splitBytes: 1 })
  const text = await client.chat.completions.stream({ model: 'gpt-4o-mini', messages }).finalContent()
  expect(text).toBe('It is [REDACTED:github_token].')

  upstream.reply({ toolCalls: [{ name: 'save', arguments: { token: secret } }], splitBytes: 1 })
  const tools = [{ type: 'function' as const, function: { name: 'save', parameters: { type: 'object' } } }]
  const answer = await client.chat.completions
    .stream({ model: 'gpt-4o-mini', messages, tools })
    .finalChatCompletion()
  expect(JSON.stringify(answer)).not.toContain(secret)
  expect(answer.choices[0]!.message.tool_calls![0]).toMatchObject({
    function: { arguments: JSON.stringify({ token: '[REDACTED:github_token]' }) },
  })
})

test('a secret that stands in two chunks is redacted wherever it is cut', async () => {
  const text = `It is ${secret}.`
  for (let at = 1; at < text.length; at += 1) {
    upstream.reply({ content: [text.slice(0, at), text.slice(at)] })
    const stream = client.chat.completions.stream({ model: 'gpt-4o-mini', messages })
    expect(await stream.finalContent()).toBe('It is [REDACTED:github_token].')
  }
})

test('a secret that only what stands before it shows is redacted late in a stream as it is early', async () => {
  const shown = [
    ['aws-production-secret-access-key-of-us": "', random(40), 'aws_secret_key'],
    ['password_of_the_database_passphrase is "', 'q8Zr4!n1Lw9Xb6Vd', 'password'],
    ['"authorization": "Basic ', random(40), 'basic_credentials'],
    ['the credential  =  "', random(32), 'secret'],
  ] as const
  for (const [before, value, label] of shown) {
    for (let length = 180; length <= 420; length += 20) {
      const filler = 'so it is, '.repeat(length).slice(0, length - 1)
      const text = `${filler} ${before}${value}" and no more`
      upstream.reply({ content: [filler, ...text.slice(filler.length)] })
      const said = await client.chat.completions.stream({ model: 'gpt-4o-mini', messages }).finalContent()
      expect(said).toBe(text.replace(value, `[REDACTED:${label}]`))
    }
  }
})

test('a request with a secret is refused without a call, and recorded without it', async () => {
  const bad = { role: 'user' as const, content: `Use ${other} for it, and ${secret} too` }
  const refused = await client.chat.completions
    .create({ model: 'gpt-4o-mini', messages: [bad] })
    .catch((e) => e)
  expect(refused).toMatchObject({ status: 400, error: { type: 'content_blocked', module: 'secretscan' } })
  expect(upstream.requests).toHaveLength(0)
  const { body } = await gateway.api('GET', `/api/observe/traces/${refused.headers.get('x-trace-id')}`)
  expect(body.request.messages).toEqual([
    { role: 'user', content: 'Use [blocked: stripe_key] for it, and [blocked: github_token] too' },
  ])
  const { body: stats } = await gateway.api('GET', '/api/proxy/modules/secretscan')
  expect(stats.stats.refusals).toBeGreaterThan(0)
})

describe('a secret in the address of a picture or a file', () => {
  const chat = (url: string) => {
    const content = [{ type: 'image_url', image_url: { url } }]
    return ask(gateway, { body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] } })
  }
  const address = `https://files.example/a.png?size=9&token=${secret}`

  test('is found on each wire, and the call is refused and recorded without it', async () => {
    const parts = [
      ['/v1/responses', 'input', { type: 'input_image', image_url: address }],
      ['/v1/responses', 'input', { type: 'input_file', filename: 'a.pdf', file_url: address }],
      ['/v1/messages', 'messages', { type: 'image', source: { type: 'url', url: address } }],
      ['/v1/messages', 'messages', { type: 'document', source: { type: 'url', url: address } }],
    ] as const
    for (const [path, field, part] of parts) {
      const limit = path === '/v1/messages' && { max_tokens: 10 }
      const turns = [{ role: 'user', content: [part] }]
      const { status } = await ask(gateway, {
        path,
        body: { model: 'gpt-4o-mini', [field]: turns, ...limit },
      })
      expect([path, part.type, status]).toEqual([path, part.type, 400])
    }
    const { status, body, headers } = await chat(address)
    expect([status, (body.error as { type: string }).type]).toEqual([400, 'content_blocked'])
    expect(upstream.requests).toEqual([])
    const { body: trace } = await gateway.api('GET', `/api/observe/traces/${headers.get('x-trace-id')}`)
    expect(JSON.stringify(trace)).not.toContain(secret)
    expect(trace.request.messages[0].content[0].image_url.url).toContain(
      'https://files.example/a.png?size=9&token=',
    )
    expect(trace.guardrails).toMatchObject([{ spans: [{ kind: 'address' }] }])
  })

  test.each([
    ['in its place', `https://files.example/raw/glpat-${random(20)}/a.png`],
    ['percent-encoded', `https://files.example/a.png?token=%67hp_${random(36)}`],
    ['that has a name', 'https://files.example/a.png?password=q8Zr4!n1Lw9Xb6Vd'],
  ])('is found: %s', async (_, url) => {
    expect((await chat(url)).status).toBe(400)
  })

  test.each([
    [
      'signed for one file',
      `https://b.s3.amazonaws.com/a.png?X-Amz-Credential=AKIA${'A2B3'.repeat(4)}%2F20260101&X-Amz-Signature=${'0af9'.repeat(16)}`,
    ],
    ['with the token of one file', `https://files.example/a.png?token=${random(32)}&sig=${random(40)}%3D`],
    [
      'with a signed token',
      `https://files.example/a.png?jwt=eyJ${random(30)}.eyJ${random(60)}.${random(43)}`,
    ],
    ['as pages have them', `https://images.example/photo-${random(30)}?ixid=${random(44)}&w=1080&q=80`],
  ])('an address %s is none', async (_, url) => {
    expect((await chat(url)).status).toBe(200)
    expect(JSON.stringify(upstream.last().body)).toContain(url)
  })

  test('is redacted where that is asked for, and the rest of the address stays', async () => {
    await gateway.module('secretscan', { config: { request: 'redact' } })
    expect((await chat(address)).status).toBe(200)
    const { url } = (upstream.last().body as { messages: { content: { image_url: { url: string } }[] }[] })
      .messages[0]!.content[0]!.image_url
    expect(url).toBe('https://files.example/a.png?size=9&token=%5BREDACTED%3Agithub_token%5D')
    await gateway.module('secretscan', { config: { request: 'block' } })
  })
})

describe('a secret in a text that comes as a file is found', () => {
  const data = Buffer.from(`Use ${other} for it`).toString('base64')
  const file_data = `data:text/plain;base64,${data}`
  const source = { type: 'base64', media_type: 'text/plain', data }

  test.each([
    ['/v1/chat/completions', 'messages', { type: 'file', file: { filename: 'a.txt', file_data } }],
    ['/v1/responses', 'input', { type: 'input_file', filename: 'a.txt', file_data }],
    ['/v1/messages', 'messages', { type: 'document', source }],
  ])('%s', async (path, field, part) => {
    const turns = [{ role: 'user', content: [part] }]
    const limit = path === '/v1/messages' && { max_tokens: 10 }
    const { status, body } = await ask(gateway, {
      path,
      body: { model: 'gpt-4o-mini', [field]: turns, ...limit },
    })
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain('it contains a credential')
    expect(upstream.requests).toHaveLength(0)
  })
})

test('a secret in the name of who speaks is found', async () => {
  const bad = { role: 'user' as const, name: other, content: 'Hi' }
  const asked = client.chat.completions.create({ model: 'gpt-4o-mini', messages: [bad] })
  await expect(asked).rejects.toMatchObject({ status: 400, error: { module: 'secretscan' } })
})

test('a long conversation is searched again where something new stands in it', async () => {
  const long = 'It is a long and ordinary story. '.repeat(60)
  const said = (content: string) =>
    client.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] })
  for (const content of [long, long, `${long}.`]) await said(content)
  await expect(said(`${long}${secret}`)).rejects.toMatchObject({ status: 400 })
  await expect(said(`${long}${secret}`)).rejects.toMatchObject({ status: 400 })
  upstream.reply({ content: `${long}${secret}`, times: 2 })
  for (let n = 0; n < 2; n += 1) {
    const { choices } = await said(long)
    expect(choices[0]!.message.content).toBe(`${long}[REDACTED:github_token]`)
  }
})

test('an answer with a secret is refused when so set, in a stream before anything of it', async () => {
  await gateway.module('secretscan', { config: { response: 'block' } })
  upstream.reply({ content: `It is ${secret}.`, times: 2 })
  const plain = client.chat.completions.create({ model: 'gpt-4o-mini', messages })
  await expect(plain).rejects.toMatchObject({ status: 400, error: { type: 'content_blocked' } })
  let seen = ''
  const reading = async (): Promise<void> => {
    const stream = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, stream: true })
    for await (const { choices } of stream) seen += choices[0]?.delta.content ?? ''
  }
  await expect(reading()).rejects.toThrow(/credential/)
  expect(seen).toBe('It is ')
  await gateway.module('secretscan', { config: { response: 'redact' } })
})

test('a warning lets the secret pass, and says so in the trace; an allowed value is no secret', async () => {
  const [warned, example] = [`glpat-${random(20)}`, 'AKIAIOSFODNN7EXAMPLE']
  await gateway.module('secretscan', { config: { request: 'warn', allow: [example] } })
  const asked = [{ role: 'user' as const, content: `Use ${warned} or ${example}` }]
  const answer = await client.chat.completions.create({ model: 'gpt-4o-mini', messages: asked }).asResponse()
  await answer.text()
  expect(upstream.last().rawBody).toContain(warned)
  const { body } = await gateway.api('GET', `/api/observe/traces/${answer.headers.get('x-trace-id')}`)
  expect(body.modules).toContainEqual(
    expect.objectContaining({
      module: 'secretscan',
      verdict: 'flagged',
      detail: expect.objectContaining({ label: 'gitlab_token' }),
    }),
  )
  expect(JSON.stringify(body.modules)).not.toContain('aws')
  await gateway.module('secretscan', { config: { request: 'block', allow: [] } })
})

test('a secret is in no log, trace, event or file', async () => {
  const bad = { role: 'user' as const, content: `Use ${other} for it` }
  const refused = await client.chat.completions
    .create({ model: 'gpt-4o-mini', messages: [bad] })
    .catch((e: unknown) => e)
  expect(refused).toBeInstanceOf(OpenAI.BadRequestError)
  upstream.reply({ content: `It is ${secret}.` })
  await client.chat.completions.create({ model: 'gpt-4o-mini', messages })
  upstream.reply({ content: `It is ${secret}.` })
  await client.chat.completions.stream({ model: 'gpt-4o-mini', messages }).finalContent()

  const { body } = await gateway.api('GET', '/api/observe/traces?limit=50')
  const traces = await Promise.all(
    body.traces.map(
      async ({ id }: { id: string }) => (await gateway.api('GET', `/api/observe/traces/${id}`)).body,
    ),
  )
  const events = await gateway.api('GET', '/api/proxy/modules/secretscan/events')
  const seen = JSON.stringify([traces, events.body, gateway.logged])
  expect(seen).toContain('[REDACTED:github_token]')
  for (const text of [secret, other]) {
    expect(seen).not.toContain(text)
    for (const file of await filesBelow(gateway.dataDir)) expect(file.includes(text)).toBe(false)
  }
})

async function filesBelow(folder: string): Promise<Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(files.map((entry) => readFile(path.join(entry.parentPath, entry.name))))
}
