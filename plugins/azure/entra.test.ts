import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ProviderDirectory } from '#provider'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { entraFault } from '../../test/upstream/azure/grant.ts'
import { azure, startUpstream, tokenIssuer, type Upstream } from '../../test/upstream/index.ts'

const tenant = 'contoso.example'
const client_id = '11111111-2222-4333-8444-555555555555'
const client_secret = 'Qx8~a.b_c-d:e'
const certificateFile = fileURLToPath(new URL('../../test/fixtures/azure/certificate.pem', import.meta.url))
const pem = readFileSync(certificateFile, 'utf8')
const clients = [
  {
    tenant,
    id: client_id,
    secret: client_secret,
    certificate: new X509Certificate(pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))),
    federated: ['eyJ.of.the-pod'],
  },
]

const issuer = tokenIssuer('eyJ.entra.', (form, { path, method, headers, query }) => {
  if (path === '/msi/token') {
    const isRight = headers['x-identity-header'] === 'shown' && query.get('api-version') === '2019-08-01'
    return isRight ? undefined : 'invalid_request'
  }
  if (path !== '/identity') return entraFault(form, path, clients)
  const isRight =
    query.get('resource') === 'https://cognitiveservices.azure.com' && headers.metadata === 'true'
  return isRight && method === 'GET' && query.get('api-version') ? undefined : 'invalid_request'
})

let folder: string
let upstream: Upstream
let authority: Upstream
let gateway: TestGateway
let client: OpenAI
let userKey: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'entra-'))
  const podToken = path.join(folder, 'token')
  await writeFile(podToken, 'eyJ.of.the-pod\n')
  authority = await startUpstream({ wires: [issuer.wire] })
  const issued = Array.from({ length: 19 }, (_, i) => `eyJ.entra.${i + 1}`)
  upstream = await startUpstream({ wires: [azure], apiKey: [...issued, 'eyJ.given.x'] })
  const entry = (api_key: string, options: object = {}) => ({
    api_key,
    base_url: upstream.baseUrl(),
    options: { authority: `${authority.url}/`, identity_url: `${authority.url}/identity`, ...options },
  })
  gateway = await startGateway({
    config: {
      providers: {
        azure: entry(`contoso.example:${client_id}:${client_secret}`),
        given: { type: 'azure', ...entry('eyJ.given.x') },
        wrong: { type: 'azure', ...entry(`contoso.example:${client_id}:wrong`) },
        machine: { type: 'azure', ...entry('machine') },
        assigned: { type: 'azure', ...entry(`machine:${client_id}`) },
        app: {
          type: 'azure',
          ...entry('machine', { identity_url: `${authority.url}/msi/token`, identity_header: 'shown' }),
        },
        certified: { type: 'azure', ...entry(`certificate:${tenant}:${client_id}:${certificateFile}`) },
        inline: {
          type: 'azure',
          ...entry(JSON.stringify({ tenant_id: tenant, client_id, certificate: pem })),
        },
        pod: { type: 'azure', ...entry(`federated:${tenant}:${client_id}:${podToken}`) },
        revoked: { type: 'azure', ...entry(JSON.stringify({ tenant_id: tenant, client_id, client_secret })) },
        lost: { type: 'azure', ...entry(`federated:${tenant}:${client_id}:${podToken}.none`) },
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
  await rm(folder, { recursive: true })
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
    ['lost', /file cannot be read/],
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
    'machine',
    `machine:${client_id}`,
    `federated:${tenant}:${client_id}:/etc/passwd`,
    `certificate:${tenant}:${client_id}:/etc/passwd`,
    JSON.stringify({ tenant_id: tenant, client_id, certificate: pem.slice(0, 1000) }),
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

it.each([
  ['what is assigned to the machine', 'assigned', { client_id }],
  ['what an app service is', 'app', {}],
])('may be %s', async (_, name, asked) => {
  await ask(name)
  expect(Object.fromEntries(authority.last().query)).toMatchObject(asked)
  expect(authority.requests).toHaveLength(1)
})

it.each([
  ['a certificate in a file', 'certified'],
  ['a certificate in the key', 'inline'],
  ['a pod’s token', 'pod'],
])('is an application by %s', async (_, name) => {
  const answer = await ask(name)
  expect(answer.choices[0]!.message.content).toBe('You said: hi')
  const form = new URLSearchParams(authority.last().rawBody)
  expect([...form.keys()].toSorted()).toEqual([
    'client_assertion',
    'client_assertion_type',
    'client_id',
    'grant_type',
    'scope',
  ])
})

it('is found in the usual variables', async () => {
  const about = { AZURE_OPENAI_RESOURCE: 'mine', AZURE_TENANT_ID: 't', AZURE_CLIENT_ID: client_id }
  for (const [more, secret] of [
    [{ AZURE_CLIENT_SECRET: 's' }, `t:${client_id}:s`],
    [{ AZURE_FEDERATED_TOKEN_FILE: '/token' }, `federated:t:${client_id}:/token`],
    [{ AZURE_CLIENT_CERTIFICATE_PATH: '/c.pem' }, `certificate:t:${client_id}:/c.pem`],
  ] as const) {
    const other = await startGateway({ env: { ...about, ...more } })
    const provider = other.kernel.service(ProviderDirectory)!.get('azure')
    await other.close()
    expect(provider).toMatchObject({ configured: true, keySource: 'environment' })
    expect(provider.keys[0]!.secret).toBe(secret)
  }
})

it('is refused a token by many calls, and exchanged anew once', async () => {
  const slow = (delayMs: number) => upstream.reply({ status: 401, error: {}, delayMs })
  await ask('revoked')
  authority.reset()
  slow(1500)
  slow(0)
  const refused = [ask('revoked'), ask('revoked')].map((asked) => asked.catch((thrown: unknown) => thrown))
  await Promise.race(refused)
  await ask('revoked')
  expect(await Promise.all(refused)).toMatchObject([{ status: 502 }, { status: 502 }])
  await ask('revoked')
  expect(authority.requests).toHaveLength(1)
})
