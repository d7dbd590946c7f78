import { beforeEach, expect, test } from 'vitest'
import { bareChain } from '../../../test/bare.ts'
import { startBoth } from '../../../test/both.ts'
import { shared } from '../../../test/shared.ts'

const both = shared(startBoth)
beforeEach(async () => {
  both.upstream.reset()
  await bareChain(both.gateway)
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
  both.upstream.reset()
  both.upstream.reply({ content: `The token is ${secret}, keep it.`, splitBytes })
  const response = await fetch(both.gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${both.gateway.adminKey}`, 'content-type': 'application/json' },
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
      await both.gateway.module('secretscan', { enabled: false, mode: null })
      const without = await streamed(path, body, cut)
      await both.gateway.module('secretscan', { enabled: true, mode: 'shadow' })
      expect(await streamed(path, body, cut)).toBe(without)
      expect(without).not.toContain('[REDACTED')
    }
  },
)

test.each(cases)('the same guard, enforced, changes $path from $model', async ({ path, body }) => {
  await both.gateway.module('secretscan', { enabled: true, mode: null })
  expect(await streamed(path, body, 1)).toContain('[REDACTED')
})
