import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { azure, startUpstream, tokenIssuer, type Upstream } from '../../test/upstream/index.ts'

const client_id = '11111111-2222-4333-8444-555555555555'
const client_secret = 'Qx8~a.b_c-d:e'
const scope = 'https://cognitiveservices.azure.com/.default'

const issuer = tokenIssuer('eyJ.entra.', (form, { path, method, headers, query }) => {
  if (path === '/identity') {
    const isRight =
      query.get('resource') === 'https://cognitiveservices.azure.com' && headers.metadata === 'true'
    return isRight && method === 'GET' && query.get('api-version') ? undefined : 'invalid_request'
  }
  if (path !== '/contoso.example/oauth2/v2.0/token') return 'invalid_request'
  if (form.get('grant_type') !== 'client_credentials') return 'unsupported_grant_type'
  if (form.get('scope') !== scope) return 'invalid_scope'
  const isKnown = form.get('client_id') === client_id && form.get('client_secret') === client_secret
  return isKnown ? undefined : 'invalid_client'
})

let upstream: Upstream
let authority: Upstream
let gateway: TestGateway
let client: OpenAI
let userKey: string

beforeAll(async () => {
  authority = await startUpstream({ wires: [issuer.wire] })
  upstream = await startUpstream({
    wires: [azure],
    apiKey: ['eyJ.entra.1', 'eyJ.entra.2', 'eyJ.entra.3', 'eyJ.given.x'],
  })
  const entry = (api_key: string) => ({
    api_key,
    base_url: upstream.baseUrl(),
    options: { authority: `${authority.url}/`, identity_url: `${authority.url}/identity` },
  })
  gateway = await startGateway({
    config: {
      providers: {
        azure: entry(`contoso.example:${client_id}:${client_secret}`),
        given: { type: 'azure', ...entry('eyJ.given.x') },
        wrong: { type: 'azure', ...entry(`contoso.example:${client_id}:wrong`) },
        machine: { type: 'azure', ...entry('machine') },
        broken: { type: 'azure', ...entry(`contoso.example:${client_id}`) },
      },
    },
  })
  await bareChain(gateway)
  userKey = (await gateway.signUp()).key
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: userKey, maxRetries: 0 })
})

beforeEach(() => {
  upstream.reset()
  authority.reset()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await authority.close()
})

const ask = (name = 'azure') =>
  client.chat.completions.create({
    model: `${name}/gpt-4o`,
    messages: [{ role: 'user', content: 'hi' }],
  })

it('has an application’s key exchanged for a token once, for all who ask at a time', async () => {
  const answers = await Promise.all([ask(), ask(), ask()])
  await ask()
  expect(answers[0]!.choices[0]!.message.content).toBe('You said: hi')
  expect(authority.requests).toHaveLength(1)
  expect(upstream.last().headers.authorization).toBe('Bearer eyJ.entra.1')
  expect(upstream.last().headers).not.toHaveProperty('api-key')
})

it('takes a token as it is', async () => {
  await ask('given')
  expect(upstream.last().headers.authorization).toBe('Bearer eyJ.given.x')
  expect(authority.requests).toHaveLength(0)
})

it('tells why there is no token, and nothing of the key', async () => {
  for (const [name, said] of [
    ['wrong', /refused the gateway's key \(invalid_client\)/],
    ['broken', /TENANT_ID:CLIENT_ID:CLIENT_SECRET/],
  ] as const) {
    const error: unknown = await ask(name).catch((thrown: unknown) => thrown)
    expect(String(error)).toMatch(said)
    expect(String(error)).not.toContain(client_id)
  }
  expect(upstream.requests).toHaveLength(0)
})

it('checks the form of a user’s own key, and then uses it', async () => {
  const put = (api_key: string) => gateway.api('PUT', '/api/auth/me/providers/azure', { api_key }, userKey)
  for (const wrong of [
    `contoso.example:${client_id}`,
    'a/b:x:y',
    `contoso:${client_id}:`,
    '{"tenant_id":"a"}',
  ]) {
    const { status, body } = await put(wrong)
    expect([status, body.error.param]).toEqual([400, 'api_key'])
  }
  const own = { tenant_id: 'contoso.example', client_id, client_secret }
  expect((await put(JSON.stringify(own))).status).toBe(200)
  await ask()
  expect(authority.requests).toHaveLength(1)
  expect(upstream.last().headers.authorization).toBe('Bearer eyJ.entra.2')
})

it('may be what the machine is', async () => {
  await ask('machine')
  expect(authority.last()).toMatchObject({ method: 'GET', path: '/identity' })
  expect(upstream.last().headers.authorization).toBe('Bearer eyJ.entra.3')
})

it('is found in the usual variables', async () => {
  const env = {
    AZURE_OPENAI_RESOURCE: 'mine',
    AZURE_TENANT_ID: 't',
    AZURE_CLIENT_ID: client_id,
    AZURE_CLIENT_SECRET: 's',
  }
  const other = await startGateway({ env })
  const provider = other.kernel.directory.get('azure')
  await other.close()
  expect(provider).toMatchObject({ configured: true, keySource: 'environment' })
  expect(provider.keys[0]!.secret).toBe(`t:${client_id}:s`)
})
