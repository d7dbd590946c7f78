import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Detection } from '#kernel'
import { findAll } from '#kit'
import { content, cut, cutText, piecesThrough, redactedWhole } from '../../test/detection.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { findersOf, openFrom } from './finders.ts'
import { entropyOf, reach } from './rules.ts'

const base62 = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const random = (length: number): string =>
  Array.from({ length }, (_, n) => base62[(n * 37 + 11) % 62]).join('')

/** One of each kind, in the form its issuer documents; none of them opens anything. */
const secrets: Record<string, string> = {
  anthropic_key: `sk-ant-api03-${random(80)}`,
  openai_key: `sk-proj-${random(48)}`,
  aws_access_key: 'AKIAIOSFODNN7EXAMPLE',
  google_api_key: `AIza${random(35)}`,
  github_token: `ghp_${random(36)}`,
  gitlab_token: `glpat-${random(20)}`,
  slack_token: `xoxb-${'1234567890'}-${random(24)}`,
  stripe_key: `sk_live_${random(24)}`,
  npm_token: `npm_${random(36)}`,
  huggingface_token: `hf_${random(34)}`,
  gateway_key: `sy_live_${random(43)}`,
  jwt: `eyJ${random(30)}.eyJ${random(60)}.${random(43)}`,
  connection_string: 'postgres://admin:hunter2secret@db.internal:5432/main',
  private_key: `-----BEGIN RSA PRIVATE KEY-----\n${random(64)}\n${random(64)}\n-----END RSA PRIVATE KEY-----`,
}

const finders = findersOf([{ label: 'badge', pattern: 'BADGE-[0-9]{6}' }])
const detection: Detection = {
  reach,
  scan: (text, _place, _call, from) =>
    findAll(finders, text, from).map((found) => ({
      ...found,
      action: 'replace',
      replacement: `[${found.label}]`,
    })),
  open: (text, _call, from) => openFrom(text, from),
}

describe.each(Object.entries(secrets))('%s', (label, secret) => {
  const text = `Before it, ${secret} and after.`

  test('is found whole, and nothing around it', () => {
    expect(redactedWhole(text, [detection])).toBe(`Before it, [${label}] and after.`)
  })

  test('is found when cut at any place', () => {
    for (let at = 0; at <= text.length; at += 1) {
      expect(piecesThrough(cut(text, [at]), [detection], content).join('')).toBe(
        `Before it, [${label}] and after.`,
      )
    }
    expect(piecesThrough([...text], [detection], content).join('')).toBe(`Before it, [${label}] and after.`)
  })
})

test('a value that is named a secret and looks random is one; a word is not', () => {
  const found = (text: string) => redactedWhole(text, [detection])
  expect(found('password = "q8Zr4Tn1Lw9Xb6Vd"')).toBe('password = "[secret]"')
  expect(found('token: authorization-header')).toBe('token: authorization-header')
  expect(found('the secret: a long and ordinary sentence')).toBe('the secret: a long and ordinary sentence')
  expect(entropyOf('aaaa')).toBe(0)
})

test('the streamed result equals the whole one for every way of cutting', () => {
  const part = fc.oneof(
    fc.constantFrom(...Object.values(secrets), 'BADGE-123456', 'password: ', '\n', ' '),
    fc.string(),
  )
  const text = fc.array(part, { maxLength: 5 }).map((parts) => parts.join(' '))
  fc.assert(
    fc.property(cutText(text), (parts) => {
      expect(piecesThrough(parts, [detection], content).join('')).toBe(
        redactedWhole(parts.join(''), [detection]),
      )
    }),
    { numRuns: 300 },
  )
})

test('ordinary words leave at once: only the last few wait', () => {
  const words = Array.from({ length: 50 }, (_, n) => `word${n} `)
  const pieces = piecesThrough(words, [detection], content)
  expect(pieces.slice(0, 12).join('')).toContain('word5')
})

test('hostile text takes no more than its length in time', () => {
  const text = ['sk-', 'eyJa', 'aws', 'password=', '-----BEGIN ', 'postgres://a:', 'AKIA']
    .map((s) => s.repeat(20_000))
    .join('')
  const began = performance.now()
  findAll(finders, text, 0)
  expect(performance.now() - began).toBeLessThan(20_000)
}, 30_000)

describe('over HTTP', () => {
  let upstream: Upstream
  let gateway: TestGateway
  let client: OpenAI
  const messages = [{ role: 'user' as const, content: 'What is my token?' }]
  const secret = secrets.github_token!

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

  test('a secret is in no log, trace, event or file', async () => {
    const bad = { role: 'user' as const, content: `Use ${secrets.stripe_key} for it` }
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
    for (const text of [secret, secrets.stripe_key!]) {
      expect(seen).not.toContain(text)
      for (const file of await filesBelow(gateway.dataDir)) expect(file.includes(text)).toBe(false)
    }
  })
})

async function filesBelow(folder: string): Promise<Buffer[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return Promise.all(files.map((entry) => readFile(path.join(entry.parentPath, entry.name))))
}
