import { hash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { ProviderDirectory } from '#provider'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { bedrock, startUpstream, stsWith, type Upstream } from '../../test/upstream/index.ts'

const own = 'AKIDEXAMPLE00000001:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const arn = (name: string): string => `arn:aws:iam::123456789012:role/${name}`
const roles = [
  { arn: arn('models'), keys: 'ASIAROLE000000000001:of/the+role:session==' },
  { arn: arn('guarded'), keys: 'ASIAROLE000000000002:of/another:session2', externalId: 'a-secret' },
  { arn: arn('pod'), keys: 'ASIAROLE000000000003:of/a+pod:session3', webIdentity: 'eyJ.of.the-pod' },
  {
    arn: arn('person'),
    keys: 'ASIAROLE000000000004:of/a+person:session4',
    singleSignOn: 'token-of-the-portal',
  },
]

let folder: string
let upstream: Upstream
let sts: Upstream
let gateway: TestGateway
let client: OpenAI
let userKey: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'assume-'))
  upstream = await startUpstream({ wires: [bedrock], apiKey: [own, ...roles.map(({ keys }) => keys)] })
  sts = await startUpstream({ wires: [stsWith(roles)], apiKey: [own, roles[2]!.keys] })
  await writeFiles()
  const entry = (api_key: string, options: object = {}) => ({
    type: 'bedrock',
    base_url: upstream.baseUrl(),
    api_key,
    options: { region: 'eu-west-1', sts_url: sts.url, ...options },
  })
  const podToken = `web-identity:${arn('pod')}:${path.join(folder, 'token')}`
  gateway = await startGateway({
    config: {
      providers: {
        assumed: entry(own, { assume_role: { arn: arn('models'), session_name: 'gate.way' } }),
        guarded: entry(own, {
          assume_role: { arn: arn('guarded'), external_id: 'a-secret', duration_s: 900 },
        }),
        refused: entry(own, { assume_role: { arn: arn('guarded') } }),
        pod: entry(podToken),
        chained: entry(podToken, { assume_role: { arn: arn('models') } }),
        stranger: entry(`web-identity:${arn('models')}:${path.join(folder, 'token')}`),
        plain: entry('profile:plain'),
        above: entry('profile:above'),
        person: entry('profile:person'),
        nobody: entry('profile:nobody'),
        half: entry('web-identity:/token'),
        bearer: entry('ABSKapikey=', { assume_role: { arn: arn('models') } }),
      },
    },
  })
  await bareChain(gateway)
  userKey = (await gateway.signUp()).key
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: userKey, maxRetries: 0 })
})

/** Configuration files as AWS's tools write them, and the token of a login. */
async function writeFiles(): Promise<void> {
  const [id, secret] = own.split(':')
  const portal = 'https://example.awsapps.com/start'
  const file = async (name: string, text: string): Promise<string> => {
    await writeFile(path.join(folder, name), text)
    return path.join(folder, name)
  }
  await file('token', 'eyJ.of.the-pod')
  vi.stubEnv(
    'AWS_SHARED_CREDENTIALS_FILE',
    await file('credentials', `[plain]\naws_access_key_id = ${id}\naws_secret_access_key = ${secret}\n`),
  )
  const config = `[profile above]
role_arn = ${arn('models')}
source_profile = plain
[profile person]
sso_start_url = ${portal}
sso_region = eu-central-1
sso_account_id = 123456789012
sso_role_name = person
`
  vi.stubEnv('AWS_CONFIG_FILE', await file('config', config))
  vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url)
  vi.stubEnv('AWS_ENDPOINT_URL_SSO', sts.url)
  vi.stubEnv('HOME', folder)
  expect(homedir()).toBe(folder)
  const cache = path.join(folder, '.aws', 'sso', 'cache')
  await mkdir(cache, { recursive: true })
  const login = {
    accessToken: 'token-of-the-portal',
    expiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  }
  await writeFile(
    path.join(cache, `${hash('sha1', portal)}.json`),
    JSON.stringify({ startUrl: portal, ...login }),
  )
}

beforeEach(() => {
  upstream.reset()
  sts.reset()
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await gateway.close()
  await upstream.close()
  await sts.close()
  await rm(folder, { recursive: true })
})

const ask = (name: string) =>
  client.chat.completions.create({
    model: `${name}/amazon.nova-pro-v1:0`,
    messages: [{ role: 'user', content: 'hi' }],
  })

/** The form that AWS was asked with last. */
const asked = () => Object.fromEntries(new URLSearchParams(sts.last().rawBody))

const signer = () => /Credential=(\w+)/.exec(String(upstream.last().headers.authorization))?.[1]

describe('keys that sign', () => {
  it('are those of the role that the operator’s own assume, fetched once for all', async () => {
    await Promise.all([ask('assumed'), ask('assumed'), ask('assumed')])
    expect(signer()).toBe('ASIAROLE000000000001')
    expect(upstream.last().headers['x-amz-security-token']).toBe('session==')
    expect(sts.requests).toHaveLength(1)
    expect(asked()).toMatchObject({
      Action: 'AssumeRole',
      RoleArn: arn('models'),
      RoleSessionName: 'gate.way',
      DurationSeconds: '3600',
    })
    expect(sts.last().headers.authorization).toContain('/eu-west-1/sts/')
  })

  it('may be of a role that only those assume who know its secret', async () => {
    await ask('guarded')
    expect(signer()).toBe('ASIAROLE000000000002')
    expect(asked()).toMatchObject({ ExternalId: 'a-secret', DurationSeconds: '900' })
  })

  it('are those that a pod’s token is good for', async () => {
    await ask('pod')
    expect(signer()).toBe('ASIAROLE000000000003')
    expect(asked()).toMatchObject({ Action: 'AssumeRoleWithWebIdentity', RoleSessionName: 'switchyard' })
  })

  it('may be of a role that the pod’s role assumes', async () => {
    await ask('chained')
    expect(signer()).toBe('ASIAROLE000000000001')
    expect(sts.requests).toHaveLength(2)
  })

  it.each([
    ['plain', 'AKIDEXAMPLE00000001'],
    ['above', 'ASIAROLE000000000001'],
    ['person', 'ASIAROLE000000000004'],
  ])('are those of the profile %s', async (name, id) => {
    await ask(name)
    expect(signer()).toBe(id)
  })
})

describe('keys that cannot be had', () => {
  it.each([
    ['refused', 'AccessDenied'],
    ['stranger', 'InvalidIdentityToken'],
    ['nobody', 'CredentialsProviderError'],
  ])('are the provider’s failure: %s', async (name, native) => {
    const error: unknown = await ask(name).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ status: 502, code: 'provider_error' })
    expect(String(error)).toContain(native)
    expect(String(error)).not.toMatch(/wJalr|eyJ/)
    expect(upstream.requests).toHaveLength(0)
  })

  it.each([
    ['bearer', /cannot assume a role/],
    ['half', /ROLE_ARN/],
  ])('for their form are the operator’s affair: %s', async (name, said) => {
    await expect(ask(name)).rejects.toMatchObject({ status: 500, message: expect.stringMatching(said) })
  })

  it('because AWS failed may be had by another try', async () => {
    const failing = Array.from({ length: 4 }, () => ({ status: 503 }))
    for (const script of failing) sts.reply(script)
    const other = await startGateway({
      config: {
        providers: {
          bedrock: {
            base_url: upstream.baseUrl(),
            api_key: own,
            options: { sts_url: sts.url, assume_role: { arn: arn('models') } },
          },
        },
      },
    })
    await bareChain(other)
    const { status, body } = await other.api('POST', '/v1/chat/completions', {
      model: 'bedrock/amazon.nova-pro-v1:0',
      messages: [{ role: 'user', content: 'hi' }],
    })
    await other.close()
    expect([status, body.error.code]).toEqual([502, 'provider_error'])
    expect(sts.requests.length).toBeGreaterThan(1)
  })
})

it('what stands for the gateway’s own identity is not for users', async () => {
  for (const api_key of ['profile:plain', `web-identity:${arn('pod')}:/token`]) {
    const { status, body } = await gateway.api('PUT', '/api/auth/me/providers/pod', { api_key }, userKey)
    expect([status, body.error.param]).toEqual([400, 'api_key'])
  }
})

it('a user’s own keys are used as they are, and assume nothing', async () => {
  const put = await gateway.api('PUT', '/api/auth/me/providers/assumed', { api_key: own }, userKey)
  expect(put.status).toBe(200)
  await ask('assumed')
  expect(signer()).toBe('AKIDEXAMPLE00000001')
  expect(sts.requests).toHaveLength(0)
})

it('is found in the usual variables', async () => {
  const keyIn = async (env: Record<string, string>) => {
    const other = await startGateway({ env })
    const provider = other.kernel.service(ProviderDirectory)!.get('bedrock')
    await other.close()
    return provider.keys[0]?.secret
  }
  expect(await keyIn({ AWS_PROFILE: 'plain' })).toBe('profile:plain')
  const pod = { AWS_ROLE_ARN: arn('pod'), AWS_WEB_IDENTITY_TOKEN_FILE: '/token' }
  expect(await keyIn(pod)).toBe(`web-identity:${arn('pod')}:/token`)
})
