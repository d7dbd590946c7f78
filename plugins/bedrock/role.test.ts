import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { inspect } from 'node:util'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { ProviderDirectory } from '#provider'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { bedrock, startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { roleKeys } from './role.ts'

const keys = { AccessKeyId: 'ASIAROLE000000000001', SecretAccessKey: 'of/the+role', Token: 'session==' }
const roles = '/latest/meta-data/iam/security-credentials/'

let asked: string[] = []
let answering = true
/** The services inside of AWS: that of tasks, and that of instances. */
const inside = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  const body = answering ? answerTo(request) : undefined
  if (body === undefined) response.writeHead(403).end()
  else response.end(body)
})

function answerTo({ method, url, headers }: IncomingMessage): string | undefined {
  const credentials = JSON.stringify({ ...keys, Expiration: new Date(Date.now() + 3_600_000).toISOString() })
  if (url === '/task') return headers.authorization === 'shown' ? credentials : undefined
  if (url === '/broken') return credentials.slice(0, -2)
  if (url === '/latest/api/token') return method === 'PUT' ? 'session-1' : undefined
  if (headers['x-aws-ec2-metadata-token'] !== 'session-1') return undefined
  if (url === roles) return 'my role\n'
  return url === `${roles}my%20role` ? credentials : undefined
}

let folder: string
let upstream: Upstream
let gateway: TestGateway
let client: OpenAI
let userKey: string

beforeAll(async () => {
  inside.listen(0, '127.0.0.1')
  await once(inside, 'listening')
  const root = `http://127.0.0.1:${(inside.address() as AddressInfo).port}`
  folder = await mkdtemp(path.join(tmpdir(), 'role-'))
  await writeFile(path.join(folder, 'token'), 'shown\n')
  upstream = await startUpstream({ wires: [bedrock], apiKey: Object.values(keys).join(':') })
  const entry = (options: object) => ({
    type: 'bedrock',
    base_url: upstream.baseUrl(),
    api_key: 'machine',
    options,
  })
  gateway = await startGateway({
    config: {
      providers: {
        task: entry({ container_url: `${root}/task`, container_token_file: path.join(folder, 'token') }),
        instance: entry({ metadata_url: root }),
        nobody: entry({ container_url: `${root}/task` }),
        broken: entry({ container_url: `${root}/broken` }),
      },
    },
  })
  await bareChain(gateway)
  userKey = (await gateway.signUp()).key
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: userKey, maxRetries: 0 })
})

beforeEach(() => {
  asked = []
  answering = true
  upstream.reset()
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  inside.closeAllConnections()
  inside.close()
  await rm(folder, { recursive: true })
})

const ask = (name: string) =>
  client.chat.completions.create({
    model: `${name}/amazon.nova-pro-v1:0`,
    messages: [{ role: 'user', content: 'hi' }],
  })

it.each([
  ['task', ['GET /task']],
  ['instance', ['PUT /latest/api/token', `GET ${roles}`, `GET ${roles}my%20role`]],
])('the role of a %s signs, with keys that are fetched once', async (name, expected) => {
  await Promise.all([ask(name), ask(name)])
  answering = false
  const answer = await ask(name)
  expect(answer.choices[0]!.message.content).toBe('You said: hi')
  expect(asked).toEqual(expected)
  expect(upstream.last().headers['x-amz-security-token']).toBe(keys.Token)
})

it('has its keys fetched anew when the service says that they have ended', async () => {
  await ask('instance')
  asked = []
  upstream.reply({ status: 403, error: { type: 'ExpiredTokenException' } })
  await expect(ask('instance')).rejects.toMatchObject({ status: 502 })
  expect(asked).toEqual([])
  await ask('instance')
  expect(asked).toHaveLength(3)
})

it('that cannot be had is the provider’s failure', async () => {
  await expect(ask('nobody')).rejects.toMatchObject({ status: 502, code: 'provider_error' })
  expect(upstream.requests).toHaveLength(0)
})

it('is quoted by no error where its keys cannot be read', async () => {
  const target = {
    provider: gateway.kernel.service(ProviderDirectory)!.get('broken'),
    model: 'm',
    key: undefined,
  }
  const error: unknown = await roleKeys(target).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'provider_error', message: expect.stringContaining('are none') })
  expect(inspect(error, { depth: 5 })).not.toContain('ASIA')
})

it('is not for users, whatever they store', async () => {
  const { status, body } = await gateway.api(
    'PUT',
    '/api/auth/me/providers/task',
    { api_key: 'machine' },
    userKey,
  )
  expect([status, body.error.param]).toEqual([400, 'api_key'])
  expect(body.error.message).toContain('users cannot use')
})
