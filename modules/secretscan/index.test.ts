import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import fc from 'fast-check'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Detection } from '#kernel'
import { findAll, lookBehind } from '#kit'
import { content, cut, cutText, piecesThrough, redactedWhole } from '../../test/detection.ts'
import { startGateway, type TestGateway } from '../../test/harness.ts'
import { runs } from '../../test/suite/runs.ts'
import { startUpstream, type Upstream } from '../../test/upstream/index.ts'
import { openFrom, ruleFinder } from './finders.ts'
import { entropyOf, longest, randomText, rules, usualLength } from './rules.ts'
import { Search } from './search.ts'

const base62 = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
const random = (length: number): string =>
  Array.from({ length }, (_, n) => base62[(n * 37 + 11) % 62]).join('')
const hex = (length: number): string =>
  Array.from({ length }, (_, n) => ((n * 7 + 3) % 16).toString(16)).join('')
const pem = (kind: string, body: string): string => `-----BEGIN ${kind}-----\n${body}\n-----END ${kind}-----`

/** Of each kind, in the form its issuer documents; none of them opens anything. */
const secrets: readonly (readonly [string, string])[] = [
  ['anthropic_key', `sk-ant-api03-${random(80)}`],
  ['openai_key', `sk-proj-${random(48)}`],
  ['aws_access_key', 'AKIAIOSFODNN7EXAMPLE'],
  ['google_api_key', `AIza${random(35)}`],
  ['google_oauth_secret', `GOCSPX-${random(28)}`],
  ['github_token', `ghp_${random(36)}`],
  ['github_token', `github_pat_${random(82)}`],
  ['github_token', `ghs_123456_eyJ${random(40)}.${random(3000)}.${random(300)}`],
  ['gitlab_token', `glpat-${random(20)}`],
  ['slack_token', `xoxb-${'1234567890'}-${random(24)}`],
  ['incoming_webhook', `https://hooks.slack.com/services/T${'0'.repeat(8)}/B${'0'.repeat(8)}/${random(24)}`],
  ['sendgrid_key', `SG.${random(22)}.${random(43)}`],
  ['stripe_key', `sk_live_${random(24)}`],
  ['stripe_key', `whsec_${random(32)}`],
  ['twilio_key', `SK${hex(32)}`],
  ['npm_token', `npm_${random(36)}`],
  ['huggingface_token', `hf_${random(34)}`],
  ['telegram_token', `1234567890:AA${random(33)}`],
  ['digitalocean_token', `dop_v1_${hex(64)}`],
  ['gateway_key', `sy_live_${random(43)}`],
  ['jwt', `eyJ${random(30)}.eyJ${random(60)}.${random(43)}`],
  ['jwt', `eyJ${random(600)}.eyJ${random(3000)}.${random(700)}`],
  ['connection_string', 'postgres://admin:hunter2secret@db.internal:5432/main'],
  ['connection_string', 'rediss://:s3cr3t-of-the-cache@cache.internal:6380/0'],
  ['basic_auth', 'https://deploy:hunter2secret@packages.example.net'],
  ['private_key', pem('RSA PRIVATE KEY', `${random(64)}\n${random(64)}`)],
  ['private_key', pem('PRIVATE KEY', `${random(64)}\n`.repeat(50))],
  [
    'private_key',
    pem('RSA PRIVATE KEY', `Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,${hex(32)}\n\n${random(64)}`),
  ],
  ['private_key', pem('PGP PRIVATE KEY BLOCK', `Comment: made-up - by hand\n\n${random(64)}\n=aB3d`)],
  ['private_key', pem('EC PRIVATE KEY', `${random(64)}\n`).replaceAll('\n', '\\n')],
  // What only the library knows.
  ['hashicorp_vault_service_token', `hvs.${random(95)}`],
  ['databricks_personal_access_token', `dapi${hex(32)}`],
  ['shopify_key', `shpat_${random(32)}`],
  ['figma_personal_access_token', `figd_${random(45)}`],
  ['linear_api_token', `lin_api_${random(40)}`],
]

const custom = [
  { label: 'badge', pattern: 'BADGE-[0-9]{6}' },
  { label: 'phrase', pattern: 'open sesame(?: [a-z]+)?' },
]
const search = new Search(custom, rules)
const secretsIn = (text: string, from = 0) => search.secretsIn(text, from, { ms: 10_000 })
const detection: Detection = {
  reach: longest,
  context: 2 * usualLength + lookBehind,
  scan: (text, _place, _call, from) =>
    secretsIn(text, from).map((found) => ({ ...found, action: 'replace', replacement: `[${found.label}]` })),
  open: (text, _call, from) => openFrom(text, from, usualLength),
}
/** As it is without custom patterns that go across words. */
const prompt: Detection = { ...detection, open: (text, _call, from) => openFrom(text, from) }
const redacted = (text: string): string => redactedWhole(text, [detection])

describe.each(secrets)('%s', (label, secret) => {
  const text = `Before it, ${secret} and after.`
  const wanted = `Before it, [${label}] and after.`

  test('is found whole, and nothing around it', () => {
    expect(redacted(text)).toBe(wanted)
    expect(redacted(`密钥：${secret}，`).replace(/[a-z_]+/, '')).toBe('密钥：[]，')
  })

  test('is found when cut at any place, or at all places', () => {
    const step = text.length > 1000 ? 97 : 1
    for (let at = 0; at <= text.length; at += step) {
      expect(piecesThrough(cut(text, [at]), [prompt], content).join('')).toBe(wanted)
    }
    expect(piecesThrough([...text], [prompt], content).join('')).toBe(wanted)
  })
})

test.each([
  ['password = "q8Zr4!n1Lw"', 'password = "[password]"'],
  ['Password: Str0ng!Pass9, then log in', 'Password: [password], then log in'],
  ["api_key: 'f9a8K2mQ7xLp0VtR5wZc'", "api_key: '[secret]'"],
  ['{"client_secret":"Zx81kQpL-9aVt_44mNs0"}', '{"client_secret":"[secret]"}'],
  [`AWS_SECRET_ACCESS_KEY=${random(38)}/+`, 'AWS_SECRET_ACCESS_KEY=[aws_secret_key]'],
  [`Authorization: Bearer ${random(40)}`, 'Authorization: Bearer [bearer_token]'],
  ['Authorization: Basic dXNlcjpodW50ZXIyc2VjcmV0', 'Authorization: Basic [basic_credentials]'],
  [`//registry.example.com/:_authToken=${random(12)}`, '//registry.example.com/:_authToken=[npm_token]'],
  [`AccountKey=${random(86)}==;EndpointSuffix`, 'AccountKey=[azure_key];EndpointSuffix'],
])('what its name gives away is found, and the name stays: %s', (text, wanted) => {
  expect(redacted(text)).toBe(wanted)
  expect(piecesThrough([...text], [prompt], content).join('')).toBe(wanted)
})

test.each([
  'token: authorization-header and secret: a long and ordinary sentence',
  'The key sk-learn and sklearn-pipeline-with-standard-scaler are modules; so is disk-space-usage-analyzer.',
  'model = "gpt-4o-mini-2024-07-18", auth: claude-3-5-sonnet-20241022',
  'token=550e8400-e29b-41d4-a716-446655440000',
  'password: <your password>, password=%PASSWORD%, password: ********',
  'postgres://user:{password}@localhost/db and postgres://localhost/db and https://example.com/a:b@c',
  `commit ${hex(40)}, sha256:${hex(64)}`,
  'A file begins with -----BEGIN PRIVATE KEY----- and ends with its END line, see RFC 7468.',
  pem('CERTIFICATE', `${random(64)}\n${random(64)}`),
  pem('PUBLIC KEY', random(64)),
])('ordinary text is left alone: %s', (text) => {
  expect(redacted(text)).toBe(text)
})

test('a private key without its end is found, as far as it goes', () => {
  const text = `-----BEGIN PRIVATE KEY-----\n${random(64)}\n${random(64)}`
  expect(redacted(`${text}…`)).toBe('[private_key]…')
})

test('random text without a name is found when asked for; words, hashes and identifiers are not random', () => {
  const found = (text: string) =>
    findAll([ruleFinder(randomText)], text).map(({ start, end }) => text.slice(start, end))
  expect(found(`a ${random(40)} b`)).toEqual([random(40)])
  expect(found(`${hex(64)} internationalisation_of_words AbstractSingletonProxyFactoryBeanProvider`)).toEqual(
    [],
  )
  expect(entropyOf('aaaa')).toBe(0)
  expect(entropyOf('abcd')).toBe(2)
})

const fragments = fc.constantFrom(
  ...secrets.map(([, secret]) => secret).filter(({ length }) => length < 400),
  ...[
    'BADGE-123456',
    'open sesame now',
    'password: ',
    'token=',
    'q8Zr4!n1Lw9Xb6Vd',
    '-----BEGIN ',
    'PRIVATE KEY-----',
  ],
  ...[
    '-----END ',
    'eyJ',
    'ghs_1_',
    '.',
    ':',
    '=',
    '"',
    '-',
    '\n',
    '\\n',
    ' ',
    '密',
    '😀',
    'sk-',
    'https://a:b',
    'word',
    '@',
  ],
)

test('the streamed result equals the whole one, for every way of cutting', () => {
  const text = fc
    .array(fc.tuple(fragments, fc.nat({ max: 60 }), fc.boolean()), { maxLength: 10 })
    .map((parts) => parts.map(([part, to, short]) => (short ? part.slice(0, to) : part)).join(''))
  fc.assert(
    fc.property(cutText(text), (parts) => {
      expect(piecesThrough(parts, [detection], content).join('')).toBe(redacted(parts.join('')))
    }),
    runs(1500),
  )
}, 60_000)

test('in a stream, words leave when the next one begins; only what began like a key waits longer', () => {
  const parts = [
    'Hello',
    ' world',
    ', this',
    ' is',
    ' 中文',
    '没有空格',
    ' -----BEGIN',
    ' RSA',
    ' nothing`',
    ' more',
  ]
  expect(piecesThrough(parts, [prompt])).toEqual([
    '',
    'Hello ',
    'world, ',
    'this ',
    'is 中文',
    '没有空格',
    ' ',
    '',
    '-----BEGIN RSA ',
    'nothing` ',
    'more',
  ])
})

test('hostile text takes no more than its length in time', () => {
  const hostile = [
    'sk-',
    '-eyJ',
    'aws',
    'password=',
    'token=',
    '-----BEGIN ',
    '-----BEGIN PRIVATE KEY-----',
    'SG.a',
  ]
  hostile.push(
    'postgres://a:',
    'AKIA',
    'https://a:',
    'xoxb-1-a-',
    'ghs_1_',
    `eyJ${'a'.repeat(20)}.`,
    '\\n',
    'A: b\n',
  )
  for (const part of hostile) {
    const text = part.repeat(100_000 / part.length)
    const began = performance.now()
    secretsIn(text)
    openFrom(text, 0)
    expect(performance.now() - began, part).toBeLessThan(3000)
  }
}, 60_000)

test('a text that takes longer than there is time for is refused, not passed', () => {
  const slow = 'ghs_1_'.repeat(200_000)
  expect(() => search.secretsIn(slow, 0, { ms: 20 })).toThrow(expect.objectContaining({ status: 413 }))
})

test('a long text is read in parts, and no secret at their borders is missed', () => {
  const text = Array.from({ length: 3000 }, (_, n) => `${'word '.repeat(n % 9)}lin_api_${random(40)}`).join(
    ' ',
  )
  expect(search.secretsIn(text, 0, { ms: 60_000 })).toHaveLength(3000)
})

describe('over HTTP', () => {
  let upstream: Upstream
  let gateway: TestGateway
  let client: OpenAI
  const messages = [{ role: 'user' as const, content: 'What is my token?' }]
  const secret = `ghp_${random(36)}`
  const other = `sk_live_${random(24)}`

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

  test('a secret that stands in two chunks is redacted wherever it is cut', async () => {
    const text = `It is ${secret}.`
    for (let at = 1; at < text.length; at += 1) {
      upstream.reply({ content: [text.slice(0, at), text.slice(at)] })
      const stream = client.chat.completions.stream({ model: 'gpt-4o-mini', messages })
      expect(await stream.finalContent()).toBe('It is [REDACTED:github_token].')
    }
  })

  test('a secret that only what stands before it shows is redacted late in a stream as it is early', async () => {
    const shown = [
      ['aws-production-secret-access-key-of-us": "', random(40), 'aws_secret_key'],
      ['password_of_the_database_passphrase is "', 'q8Zr4!n1Lw9Xb6Vd', 'password'],
      ['"authorization": "Basic ', random(40), 'basic_credentials'],
      ['the credential  =  "', random(32), 'secret'],
    ] as const
    for (const [before, value, label] of shown) {
      for (let length = 180; length <= 420; length += 20) {
        const filler = 'so it is, '.repeat(length).slice(0, length - 1)
        const text = `${filler} ${before}${value}" and no more`
        upstream.reply({ content: [filler, ...text.slice(filler.length)] })
        const said = await client.chat.completions.stream({ model: 'gpt-4o-mini', messages }).finalContent()
        expect(said).toBe(text.replace(value, `[REDACTED:${label}]`))
      }
    }
  })

  test('a request with a secret is refused without a call, and recorded without it', async () => {
    const bad = { role: 'user' as const, content: `Use ${other} for it, and ${secret} too` }
    const refused = await client.chat.completions
      .create({ model: 'gpt-4o-mini', messages: [bad] })
      .catch((e) => e)
    expect(refused).toMatchObject({ status: 400, error: { type: 'content_blocked', module: 'secretscan' } })
    expect(upstream.requests).toHaveLength(0)
    const { body } = await gateway.api('GET', `/api/observe/traces/${refused.headers.get('x-trace-id')}`)
    expect(body.request.messages).toEqual([
      { role: 'user', content: 'Use [blocked: stripe_key] for it, and [blocked: github_token] too' },
    ])
    const { body: stats } = await gateway.api('GET', '/api/proxy/modules/secretscan')
    expect(stats.stats.refusals).toBeGreaterThan(0)
  })

  test('a long conversation is searched again where something new stands in it', async () => {
    const long = 'It is a long and ordinary story. '.repeat(60)
    const ask = (content: string) =>
      client.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] })
    for (const content of [long, long, `${long}.`]) await ask(content)
    await expect(ask(`${long}${secret}`)).rejects.toMatchObject({ status: 400 })
    await expect(ask(`${long}${secret}`)).rejects.toMatchObject({ status: 400 })
    upstream.reply({ content: `${long}${secret}`, times: 2 })
    for (let n = 0; n < 2; n += 1) {
      const { choices } = await ask(long)
      expect(choices[0]!.message.content).toBe(`${long}[REDACTED:github_token]`)
    }
  })

  test('an answer with a secret is refused when so set, in a stream before anything of it', async () => {
    await gateway.module('secretscan', { config: { response: 'block' } })
    upstream.reply({ content: `It is ${secret}.`, times: 2 })
    const plain = client.chat.completions.create({ model: 'gpt-4o-mini', messages })
    await expect(plain).rejects.toMatchObject({ status: 400, error: { type: 'content_blocked' } })
    let seen = ''
    const reading = async (): Promise<void> => {
      const stream = await client.chat.completions.create({ model: 'gpt-4o-mini', messages, stream: true })
      for await (const { choices } of stream) seen += choices[0]?.delta.content ?? ''
    }
    await expect(reading()).rejects.toThrow(/credential/)
    expect(seen).toBe('It is ')
    await gateway.module('secretscan', { config: { response: 'redact' } })
  })

  test('a warning lets the secret pass, and says so in the trace; an allowed value is no secret', async () => {
    const [warned, example] = [`glpat-${random(20)}`, 'AKIAIOSFODNN7EXAMPLE']
    await gateway.module('secretscan', { config: { request: 'warn', allow: [example] } })
    const asked = [{ role: 'user' as const, content: `Use ${warned} or ${example}` }]
    const answer = await client.chat.completions
      .create({ model: 'gpt-4o-mini', messages: asked })
      .asResponse()
    await answer.text()
    expect(upstream.last().rawBody).toContain(warned)
    const { body } = await gateway.api('GET', `/api/observe/traces/${answer.headers.get('x-trace-id')}`)
    expect(body.modules).toContainEqual(
      expect.objectContaining({
        module: 'secretscan',
        verdict: 'flagged',
        detail: expect.objectContaining({ label: 'gitlab_token' }),
      }),
    )
    expect(JSON.stringify(body.modules)).not.toContain('aws')
    await gateway.module('secretscan', { config: { request: 'block', allow: [] } })
  })

  test('a secret is in no log, trace, event or file', async () => {
    const bad = { role: 'user' as const, content: `Use ${other} for it` }
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
    for (const text of [secret, other]) {
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
