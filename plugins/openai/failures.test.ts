import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bareChain } from '../../test/bare.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway
let client: OpenAI
let folder: string

beforeAll(async () => {
  upstream = await startUpstream()
  folder = await mkdtemp(path.join(tmpdir(), 'switchyard-failures-'))
  await addImpatience(folder)
  gateway = await startGateway({
    upstream,
    config: {
      plugin_dirs: [folder],
      providers: { nowhere: { type: 'openai', base_url: `http://127.0.0.1:${await closedPort()}/v1` } },
    },
  })
  await bareChain(gateway)
  await gateway.module('impatience', { enabled: true })
  const { key } = await gateway.signUp()
  client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: key, maxRetries: 0 })
})

beforeEach(() => upstream.reset())

afterAll(async () => {
  await gateway.close()
  await upstream.close()
  await rm(folder, { recursive: true })
})

/** A module that bounds each wait for a provider, for the model that is named after it. */
async function addImpatience(root: string): Promise<void> {
  const manifest = { id: 'impatience', kind: 'module', version: '1.0.0', stage: 'deliver', failure: 'open' }
  const about = { ...manifest, title: 'Impatience', description: 'Of this test.', enabled: true }
  const code = `import { z } from ${JSON.stringify(import.meta.resolve('zod'))}
    const timeouts = { connectMs: 200, firstByteMs: 200, idleMs: 200 }
    const request = (call) => call.request.model === 'gpt-impatient' ? call.with({ timeouts }) : undefined
    export default { settings: z.strictObject({}), setup: () => ({ request }) }`
  await mkdir(path.join(root, 'impatience'))
  await writeFile(path.join(root, 'impatience', 'manifest.json'), JSON.stringify(about))
  await writeFile(path.join(root, 'impatience', 'index.js'), code)
}

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

const messages = [{ role: 'user' as const, content: 'hi' }]

function failureOf(model: string, stream: boolean) {
  return client.chat.completions.create({ model, messages, stream }).catch((thrown: unknown) => thrown)
}

describe.each([false, true])('with stream: %s', (stream) => {
  it.each([
    ['nothing is ever answered', { hang: true }],
    ['the headers come and nothing after them', { hangAfter: 0 }],
  ])('a provider that is too slow is a 504: %s', async (_, script) => {
    upstream.reply(script)
    const error = await failureOf('gpt-impatient', stream)
    expect(error).toBeInstanceOf(OpenAI.InternalServerError)
    expect(error).toMatchObject({ status: 504, code: 'provider_error', type: 'timeout' })
    await upstream.last().closed
    expect(upstream.last().aborted).toBe(true)
  })

  it('a provider that is not there is a 502 that names it', async () => {
    const error = await failureOf('nowhere/some-model', stream)
    expect(error).toBeInstanceOf(OpenAI.InternalServerError)
    expect(error).toMatchObject({ status: 502, code: 'provider_error' })
    expect(String(error)).toMatch(/nowhere .*ECONNREFUSED/)
  })

  it.each([
    [
      'nested',
      '{"error":{"message":"too long","type":"invalid_request_error","param":"messages"}}',
      'too long',
    ],
    ['bare', '{"message":"too long"}', 'too long'],
    ['a text', '{"error":"too long"}', 'too long'],
    ['a list', '[{"error":{"message":"too long"}}]', 'too long'],
    ['no JSON', '<html>Bad gateway</html>', 'status 400'],
    ['empty', '', 'status 400'],
  ])('an error is told however it is written: %s', async (_, body, told) => {
    upstream.reply({ status: 400, garbage: body })
    const error = await failureOf('gpt-4o', stream)
    expect(error).toBeInstanceOf(OpenAI.BadRequestError)
    expect(String(error)).toContain(told)
  })

  it.each([
    ['seconds', () => ({ 'retry-after': '12' }), 12],
    ['milliseconds', () => ({ 'retry-after-ms': '1500', 'retry-after': '99' }), 2],
    ['a date', () => ({ 'retry-after': new Date(Date.now() + 60_000).toUTCString() }), 60],
  ])('a wait is passed on whether it is given in %s', async (_, headers, seconds) => {
    upstream.reply({ status: 429, headers: headers() })
    const error = (await failureOf('gpt-4o', stream)) as InstanceType<typeof OpenAI.RateLimitError>
    expect(error).toBeInstanceOf(OpenAI.RateLimitError)
    const told = Number(error.headers?.get('retry-after'))
    expect(told).toBeGreaterThan(seconds - 5)
    expect(told).toBeLessThanOrEqual(seconds)
  })
})

it.each([
  ['no JSON', 'data: nonsense\n\n'],
  ['no object', 'data: 42\n\n'],
  ['null', 'data: null\n\n'],
  ['no events', 'nonsense'],
  ['an end without an answer', ''],
])('a stream that makes no sense before its first content is a plain 502: %s', async (_, chunk) => {
  upstream.reply({ chunks: [chunk] })
  expect(await failureOf('gpt-4o', true)).toMatchObject({ status: 502, code: 'provider_error' })
})

it('a stream without an end mark ends when each of its choices has ended, and no sooner', async () => {
  const event = (index: number, delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index, delta, finish_reason }] })}\n\n`
  const begun = [event(0, { content: 'a' }), event(1, { content: 'b' }), event(0, {}, 'stop')]
  const said = async (chunks: readonly string[]): Promise<string> => {
    upstream.reply({ chunks })
    let text = ''
    const stream = await client.chat.completions.create({ model: 'gpt-4o', messages, n: 2, stream: true })
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? ''
    return text
  }
  expect(await said([...begun, event(1, {}, 'stop')])).toBe('ab')
  await expect(said(begun)).rejects.toThrow('in the middle of the answer')
})
