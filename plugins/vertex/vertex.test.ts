import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { CompletionChunk } from '#kernel'
import { Assembler } from '#kit'
import { ProviderDirectory } from '#provider'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { traceOf } from '../../test/trace.ts'
import { signatureOf } from '../../test/upstream/anthropic/index.ts'
import { startUpstream, tokenIssuer, type Upstream } from '../../test/upstream/index.ts'
import { grantFault, vertexWith } from '../../test/upstream/vertex/index.ts'
import { addressOf } from './address.ts'
import { googleExchange } from './exchange.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const pem = (key: typeof privateKey): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

const email = 'gateway@mine.iam.gserviceaccount.com'
const account = {
  type: 'service_account',
  project_id: 'mine',
  private_key_id: 'k1',
  private_key: pem(privateKey),
  client_email: email,
  token_uri: 'http://127.0.0.1:1/never',
  universe_domain: 'googleapis.com',
}
const user = {
  type: 'authorized_user',
  client_id: 'c1',
  client_secret: 's1',
  refresh_token: 'r1',
  quota_project_id: 'theirs',
}
const known = { accounts: { [email]: publicKey }, users: { r1: { id: 'c1', secret: 's1' } } }

const issuer = tokenIssuer('ya29.', (form) => grantFault(form, known))
let folder: string
let upstream: Upstream
let tokens: Upstream
let gateway: TestGateway
let client: OpenAI
let userKey: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vertex-'))
  await writeFile(path.join(folder, 'key.json'), JSON.stringify(account))
  tokens = await startUpstream({ wires: [issuer.wire] })
  upstream = await startUpstream({ wires: [vertexWith(issuer.issued)], apiKey: ['api-key-1', 'ya29.given'] })
  const base_url = upstream.baseUrl()
  const token_url = `${tokens.url}/token`
  const options = { token_url, location: 'europe-west1' }
  const entry = (type: string, key: unknown, more: object = {}) => ({
    type,
    base_url,
    api_key: typeof key === 'string' ? key : JSON.stringify(key),
    options: { ...options, ...more },
  })
  const { type: _, ...own } = entry('vertex', account, { project: 'ours', signatures_in_ids: false })
  const claude = entry('vertex-claude', account)
  gateway = await startGateway({
    config: {
      providers: {
        vertex: own,
        'vertex-claude': { ...claude, type: undefined },
        file: entry('vertex', path.join(folder, 'key.json')),
        user: entry('vertex', user),
        token: entry('vertex', 'ya29.given', { project: 'p' }),
        express: entry('vertex', 'api-key-1'),
        homeless: entry('vertex', 'ya29.given'),
        stranger: entry('vertex', { ...account, private_key: pem(stranger) }),
        missing: entry('vertex', path.join(folder, 'none.json')),
        machine: entry('vertex', 'machine', { project: 'p', metadata_url: tokens.url }),
        away: entry('vertex', account, { token_url: 'http://127.0.0.1:1/token' }),
      },
    },
  })
  await bareChain(gateway)
  userKey = (await gateway.signUp()).key
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: userKey, maxRetries: 0 })
})

beforeEach(() => {
  upstream.reset()
  tokens.reset()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await tokens.close()
  await rm(folder, { recursive: true })
})

const hi = [{ role: 'user' as const, content: 'hi' }]
const model = 'vertex/gemini-2.5-flash'
const claude = 'vertex-claude/claude-sonnet-4-5@20250929'
const weather = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}

type Fields = Record<string, unknown>

async function ask(fields: Fields = {}) {
  const { data, response } = await client.chat.completions
    .create({ model, messages: hi, ...fields } as OpenAI.ChatCompletionCreateParamsNonStreaming)
    .withResponse()
  const choice = data.choices[0]!
  const message = choice.message as unknown as typeof choice.message & Fields
  return { data, response, choice, message, sent: upstream.last().body as Fields }
}

/** The chunks that the client got, put together. */
async function askStreamed(fields: Fields = {}) {
  const stream = await client.chat.completions.create({
    model,
    messages: hi,
    ...fields,
    stream: true,
  } as OpenAI.ChatCompletionCreateParamsStreaming)
  const assembler = new Assembler()
  for await (const chunk of stream) assembler.add(chunk as unknown as CompletionChunk)
  return (JSON.parse(JSON.stringify(assembler.completion())) as OpenAI.ChatCompletion).choices[0]!
}

const failureOf = (fields: Fields) =>
  ask(fields).then(
    () => expect.unreachable('it should fail'),
    (error: unknown) => error as InstanceType<typeof OpenAI.APIError>,
  )

describe('a key', () => {
  it('of an account becomes a token once, for all who ask at a time', async () => {
    await Promise.all([ask(), ask(), askStreamed()])
    await ask()
    expect(tokens.requests).toHaveLength(1)
    const { path: asked, headers } = upstream.last()
    expect(asked).toBe(
      '/v1/projects/ours/locations/europe-west1/publishers/google/models/gemini-2.5-flash:generateContent',
    )
    expect(headers.authorization).toMatch(/^Bearer ya29\.\d+$/)
    expect(headers).not.toHaveProperty('x-goog-api-key')
  })

  it('is of the project that it names where the configuration names none', async () => {
    await ask({ model: 'file/gemini-2.5-flash' })
    expect(upstream.last().path).toContain('/projects/mine/')
    await ask({ model: 'user/gemini-2.5-flash' })
    expect(upstream.last().path).toContain('/projects/theirs/')
  })

  it('may be what the machine is', async () => {
    await ask({ model: 'machine/gemini-2.5-flash' })
    expect(tokens.last()).toMatchObject({
      method: 'GET',
      path: '/computeMetadata/v1/instance/service-accounts/default/token',
    })
    expect(upstream.last().headers.authorization).toMatch(/^Bearer ya29\.\d+$/)
  })

  it('may be a token, or an API key without a project', async () => {
    await ask({ model: 'token/gemini-2.5-flash' })
    expect(upstream.last().key).toBe('ya29.given')
    await ask({ model: 'express/gemini-2.5-flash' })
    expect(upstream.last().path).toBe('/v1/publishers/google/models/gemini-2.5-flash:generateContent')
    expect(upstream.last().headers['x-goog-api-key']).toBe('api-key-1')
    expect(tokens.requests).toHaveLength(0)
  })

  it('whose token is refused is exchanged again for the next call', async () => {
    await ask()
    issuer.issued.clear()
    expect(await failureOf({})).toMatchObject({ status: 502 })
    expect((await ask()).choice.message.content).toBe('You said: hi')
  })

  it.each([
    ['stranger', /refused the gateway's key \(invalid_grant\)/],
    ['missing', /file cannot be read/],
    ['homeless', /GOOGLE_CLOUD_PROJECT or providers\.homeless\.options\.project/],
    ['away', /token endpoint of away could not be reached/],
  ])('that cannot be used says why, and nothing of itself: %s', async (name, said) => {
    const error = await failureOf({ model: `${name}/gemini-2.5-flash` })
    expect(error).toMatchObject({ status: 502, code: 'provider_error' })
    expect(String(error)).toMatch(said)
    expect(String(error)).not.toContain('PRIVATE')
    expect(upstream.requests).toHaveLength(0)
  })

  it('of a user’s own is checked for its form, used for that user’s project, and never a file', async () => {
    const put = (api_key: string) => gateway.api('PUT', '/api/auth/me/providers/vertex', { api_key }, userKey)
    for (const [wrong, said] of [
      [path.join(folder, 'key.json'), /file/],
      ['{"type":"service_account"}', /client_email/],
      [JSON.stringify({ ...account, private_key: 'x' }), /private_key/],
      ['{"type":"impersonated_service_account"}', /type/],
      ['{', /JSON|ASCII/],
      ['machine', /users cannot use/],
    ] as const) {
      const { status, body } = await put(wrong)
      expect([status, body.error.param]).toEqual([400, 'api_key'])
      expect(body.error.message).toMatch(said)
    }
    expect((await put(JSON.stringify(account, null, 2))).status).toBe(200)
    await ask()
    expect(upstream.last().path).toContain('/projects/mine/')
    expect(tokens.requests).toHaveLength(1)
    const { body } = await gateway.api('POST', '/api/auth/me/providers/vertex/check', undefined, userKey)
    expect(body.status).toBe('configured')
    await gateway.api('DELETE', '/api/auth/me/providers/vertex', undefined, userKey)
  })

  it('of a user is never looked up in a file, whatever is stored', async () => {
    const provider = gateway.kernel.service(ProviderDirectory)!.get('vertex')
    const key = {
      id: 'i',
      hint: '',
      weight: 1,
      owner: 'user',
      secret: path.join(folder, 'key.json'),
    } as const
    await expect(googleExchange().ready({ model: 'm', provider, key })).rejects.toThrow(/users cannot use/)
  })

  it('is really tried when the provider is checked', async () => {
    for (const name of ['vertex', 'vertex-claude', 'express']) {
      const { body } = await gateway.api('POST', `/api/proxy/providers/${name}/check`)
      expect(body).toMatchObject({ name, status: 'healthy' })
    }
    expect(upstream.requests.map(({ path }) => path.split('/').at(-1))).toEqual([
      'gemini-2.5-flash:countTokens',
      'count-tokens:rawPredict',
      'gemini-2.5-flash:countTokens',
    ])
    const { body } = await gateway.api('POST', '/api/proxy/providers/stranger/check')
    expect(body.status).toBe('down')
  })
})

it('has a host for each region, and others for all of the world, the EU and the US', () => {
  const root = 'https://aiplatform.googleapis.com/v1'
  const host = (location: string) => new URL(addressOf(root, 'p', location)).host
  expect(['global', 'eu', 'us', 'us-east5'].map(host)).toEqual([
    'aiplatform.googleapis.com',
    'aiplatform.eu.rep.googleapis.com',
    'aiplatform.us.rep.googleapis.com',
    'us-east5-aiplatform.googleapis.com',
  ])
})

describe('Gemini', () => {
  it('answers plain and streamed alike, and costs what it does at Vertex', async () => {
    const { choice, response } = await ask()
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { content: 'You said: hi' } })
    expect(await askStreamed()).toMatchObject({ finish_reason: 'stop', message: { content: 'You said: hi' } })
    const trace = await traceOf(gateway, response)
    expect(trace.cost_usd).toBeGreaterThan(0)
  })

  it('calls tools whose ids it does not know, three turns with their signatures', async () => {
    const signed = { model: 'vertex/gemini-3-pro-preview', tools: [weather] }
    const messages: object[] = [...hi]
    for (const [turn, city] of ['Rome', 'Oslo'].entries()) {
      upstream.reply({ toolCalls: [{ name: 'weather', arguments: { city } }] })
      const { message } =
        turn === 0 ? await ask({ ...signed, messages }) : await askStreamed({ ...signed, messages })
      messages.push(message, { role: 'tool', tool_call_id: message.tool_calls![0]!.id, content: 'sunny' })
    }
    const { choice } = await ask({ ...signed, messages })
    expect(choice.finish_reason).toBe('stop')
  })

  it('embeds texts, and counts their tokens', async () => {
    const { data, usage } = await client.embeddings.create({
      model: 'vertex/text-embedding-005',
      input: ['a b', 'c'],
      dimensions: 4,
      encoding_format: 'float',
    })
    expect(data.map(({ embedding }) => embedding)).toEqual([0, 1].map(() => [0, 0.125, 0.25, 0.375]))
    expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 3 })
    expect(upstream.last().body).toEqual({
      instances: [{ content: 'a b' }, { content: 'c' }],
      parameters: { outputDimensionality: 4 },
    })
    upstream.reply({ body: { predictions: [] } })
    const fewer = client.embeddings.create({ model: 'vertex/text-embedding-005', input: 'a' })
    await expect(fewer).rejects.toMatchObject({ status: 502 })
  })

  it('has embeddings of each model in the form and the number at a time that it has', async () => {
    const embed = (model: string) =>
      client.embeddings.create({ model, input: ['a b', 'c'], dimensions: 4, encoding_format: 'float' })
    for (const [model, bodies] of [
      [
        'gemini-embedding-001',
        ['a b', 'c'].map((content) => ({
          instances: [{ content }],
          parameters: { outputDimensionality: 4 },
        })),
      ],
      [
        'gemini-embedding-2',
        ['a b', 'c'].map((text) => ({
          content: { parts: [{ text }] },
          embedContentConfig: { outputDimensionality: 4 },
        })),
      ],
    ] as const) {
      upstream.reset()
      const { data, usage } = await embed(`vertex/${model}`)
      expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
        [0, 4],
        [1, 4],
      ])
      expect(usage).toEqual({ prompt_tokens: 3, total_tokens: 3 })
      expect(upstream.requests.map(({ body }) => body)).toEqual(expect.arrayContaining([...bodies]))
    }
  })

  it('reads files of Google’s cloud storage', async () => {
    const content = [{ type: 'file', file: { file_data: 'gs://bucket/a.pdf' } }]
    const { sent } = await ask({ messages: [{ role: 'user', content }] })
    expect(sent.contents).toEqual([
      {
        role: 'user',
        parts: [{ fileData: { mimeType: 'application/pdf', fileUri: 'gs://bucket/a.pdf' } }],
      },
    ])
    const other = [{ type: 'file', file: { file_data: 'ftp://bucket/a.pdf' } }]
    expect(await failureOf({ messages: [{ role: 'user', content: other }] })).toMatchObject({ status: 400 })
  })
})

describe('Claude', () => {
  it('answers plain and streamed alike, the model in the address and the version in the body', async () => {
    const { choice, sent } = await ask({ model: claude })
    expect(choice).toMatchObject({ finish_reason: 'stop', message: { content: 'You said: hi' } })
    expect(sent).toEqual({ anthropic_version: 'vertex-2023-10-16', max_tokens: 64_000, messages: hi })
    const streamed = await askStreamed({ model: claude })
    expect(streamed).toMatchObject({ finish_reason: 'stop', message: { content: 'You said: hi' } })
    expect(upstream.requests.map(({ path }) => path)).toEqual([
      '/v1/projects/mine/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict',
      '/v1/projects/mine/locations/europe-west1/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict',
    ])
  })

  it('thinks through three turns of tools, its signatures unchanged', async () => {
    const fields = { model: claude, tools: [weather], reasoning_effort: 'low', max_tokens: 9000 }
    const messages: object[] = [...hi]
    for (const [turn, reasoning] of ['First.', 'Then “that”.'].entries()) {
      upstream.reply({ reasoning, toolCalls: [{ id: `t${turn}`, name: 'weather', arguments: {} }] })
      const { message } =
        turn === 0 ? await ask({ ...fields, messages }) : await askStreamed({ ...fields, messages })
      messages.push(message, { role: 'tool', tool_call_id: `t${turn}`, content: 'sunny' })
    }
    const { sent } = await ask({ ...fields, messages })
    const thoughts = (sent.messages as { content: unknown }[])
      .flatMap(({ content }) => (Array.isArray(content) ? (content as Fields[]) : []))
      .filter(({ type }) => type === 'thinking')
    expect(thoughts.map(({ signature }) => signature)).toEqual(['First.', 'Then “that”.'].map(signatureOf))
  })

  it('has its tokens counted, and its bytes kept for clients of Anthropic’s', async () => {
    const body = { model: claude, max_tokens: 10, messages: hi }
    const answered = await gateway.api('POST', '/v1/messages', body, userKey)
    expect(answered.body).toMatchObject({
      type: 'message',
      content: [{ type: 'text', text: 'You said: hi' }],
    })
    const { max_tokens: _, ...uncounted } = body
    const counted = await gateway.api('POST', '/v1/messages/count_tokens', uncounted, userKey)
    expect(counted.body.input_tokens).toBeGreaterThan(0)
    expect(upstream.last().path).toContain('/count-tokens:rawPredict')
  })

  it('is of no name that leads elsewhere', async () => {
    expect(await failureOf({ model: 'vertex-claude/../x' })).toMatchObject({ status: 400, param: 'model' })
  })
})
