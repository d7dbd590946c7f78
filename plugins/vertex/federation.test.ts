import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { federationWith } from '../../test/upstream/vertex/federation.ts'
import { vertexWith } from '../../test/upstream/vertex/index.ts'

const account = 'gateway@mine.iam.gserviceaccount.com'
const audience =
  '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster'
const known = { audience, account, subjectToken: 'eyJ.of.the-pod' }
const issued = new Set<string>()

let folder: string
let upstream: Upstream
let google: Upstream
let gateway: TestGateway
let client: OpenAI
let userKey: string

/** A configuration as Google's tool writes it. */
const configuration = (file: string, more: object = {}) => ({
  type: 'external_account',
  universe_domain: 'googleapis.com',
  audience,
  subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
  token_url: `${google.url}/v1/token`,
  credential_source: { file: path.join(folder, file), format: { type: 'text' } },
  ...more,
})

const impersonation = () => ({
  service_account_impersonation_url: `${google.url}/v1/projects/-/serviceAccounts/${account}:generateAccessToken`,
})

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'federation-'))
  await writeFile(path.join(folder, 'token'), known.subjectToken)
  await writeFile(path.join(folder, 'other'), 'eyJ.of.another')
  google = await startUpstream({ wires: [federationWith(known, issued)] })
  await writeFile(path.join(folder, 'config.json'), JSON.stringify(configuration('token', impersonation())))
  upstream = await startUpstream({ wires: [vertexWith(issued)], apiKey: [] })
  const entry = (key: string | object) => ({
    type: 'vertex',
    base_url: upstream.baseUrl(),
    api_key: typeof key === 'string' ? key : JSON.stringify(key),
    options: { project: 'mine' },
  })
  gateway = await startGateway({
    config: {
      providers: {
        direct: entry(configuration('token')),
        account: entry(path.join(folder, 'config.json')),
        stranger: entry(configuration('other')),
        lost: entry(configuration('none')),
      },
    },
  })
  await bareChain(gateway)
  userKey = (await gateway.signUp()).key
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: userKey, maxRetries: 0 })
})

beforeEach(() => {
  upstream.reset()
  google.reset()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await google.close()
  await rm(folder, { recursive: true })
})

const ask = (name: string) =>
  client.chat.completions.create({
    model: `${name}/gemini-2.5-flash`,
    messages: [{ role: 'user', content: 'hi' }],
  })

it('a token of another issuer’s is exchanged for one of Google’s, once for all', async () => {
  const answers = await Promise.all([ask('direct'), ask('direct'), ask('direct')])
  expect(answers[0]!.choices[0]!.message.content).toBe('You said: hi')
  expect(google.requests).toHaveLength(1)
  expect(upstream.last().headers.authorization).toMatch(/^Bearer federated\./)
  expect(upstream.last().path).toContain('/projects/mine/')
})

it('and that for one of the account that it may be, as a file says', async () => {
  await ask('account')
  expect(google.requests.map(({ path }) => path.split(':').at(-1))).toEqual([
    '/v1/token',
    'generateAccessToken',
  ])
  expect(upstream.last().headers.authorization).toMatch(/^Bearer ya29\.account\./)
})

it.each([
  ['stranger', /refused the federated identity.*status 400/],
  ['lost', /got no token/],
])('one that cannot be had is the provider’s failure: %s', async (name, said) => {
  const error: unknown = await ask(name).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ status: 502, code: 'provider_error', message: expect.stringMatching(said) })
  expect(String(error)).not.toMatch(/eyJ|fed-/)
  expect(upstream.requests).toHaveLength(0)
})

it('is not for users, who could have any file read', async () => {
  const api_key = JSON.stringify(configuration('token'))
  const { status, body } = await gateway.api('PUT', '/api/auth/me/providers/direct', { api_key }, userKey)
  expect([status, body.error.param]).toEqual([400, 'api_key'])
})
