import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Detection } from '../../kernel/detect/detect.ts'
import { content, cut, cutText, piecesThrough, redactedWhole } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { findAll } from '../detection/find-all.ts'
import { lookBehind } from '../detection/form.ts'
import { ruleFinder, secretOpenFrom } from './finders.ts'
import { entropyOf, randomText, secretReach, usualSecretLength } from './rules.ts'
import { SecretSearch } from './search.ts'

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
const search = new SecretSearch({ custom })
const secretsIn = (text: string, from = 0) => search.secretsIn(text, from, { ms: 10_000 })
const detection: Detection = {
  reach: secretReach,
  context: 2 * usualSecretLength + lookBehind,
  scan: (text, _place, _call, from) =>
    secretsIn(text, from).map((found) => ({ ...found, action: 'replace', replacement: `[${found.label}]` })),
  open: (text, _call, from) => secretOpenFrom(text, from, usualSecretLength),
}
/** As it is without custom patterns that go across words. */
const prompt: Detection = { ...detection, open: (text, _call, from) => secretOpenFrom(text, from) }
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
    secretOpenFrom(text, 0)
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
