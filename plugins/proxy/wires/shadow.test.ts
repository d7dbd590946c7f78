import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { bareChain } from '../../../test/bare.ts'
import { startGateway, type TestGateway } from '../../../test/harness.ts'
import { anthropic } from '../../../test/upstream/anthropic/index.ts'
import { openai, startUpstream, type Upstream } from '../../../test/upstream/index.ts'

let upstream: Upstream
let gateway: TestGateway

beforeAll(async () => {
  upstream = await startUpstream({ wires: [openai, anthropic] })
  gateway = await startGateway({
    upstream,
    config: { providers: { anthropic: { base_url: upstream.baseUrl('anthropic'), api_key: 'sk-test' } } },
  })
})

beforeEach(async () => {
  upstream.reset()
  await bareChain(gateway)
})

afterAll(async () => {
  await gateway.close()
  await upstream.close()
})

const secret = 'ghp_0123456789abcdefghijklmnopqrstuvwxyz'

const wires = [
  ['/v1/messages', { max_tokens: 500, messages: [{ role: 'user', content: 'say it' }] }],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'say it' }] }],
  ['/v1/responses', { input: 'say it' }],
] as const

const cases = wires.flatMap(([path, body]) =>
  ['claude-haiku-4-5', 'gpt-4o-mini'].map((model) => ({ path, model, body: { ...body, model } })),
)

/** The bytes of a stream that says a secret, but for what differs from call to call. */
async function streamed(path: string, body: object, splitBytes: number): Promise<string> {
  upstream.reset()
  upstream.reply({ content: `The token is ${secret}, keep it.`, splitBytes })
  const response = await fetch(gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
  })
  expect(response.status).toBe(200)
  const text = await response.text()
  return text
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0')
    .replace(/[0-9A-HJKMNP-TV-Z]{26}/g, 'ULID')
}

test.each(cases)(
  'a guard in shadow leaves $path from $model byte for byte, at every cut',
  async ({ path, model, body }) => {
    expect(model).toBe(body.model)
    for (const cut of [1, 13, 10_000]) {
      await gateway.module('secretscan', { enabled: false, mode: null })
      const without = await streamed(path, body, cut)
      await gateway.module('secretscan', { enabled: true, mode: 'shadow' })
      expect(await streamed(path, body, cut)).toBe(without)
      expect(without).not.toContain('[REDACTED')
    }
  },
)

test.each(cases)('the same guard, enforced, changes $path from $model', async ({ path, body }) => {
  await gateway.module('secretscan', { enabled: true, mode: null })
  expect(await streamed(path, body, 1)).toContain('[REDACTED')
})
