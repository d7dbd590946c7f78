import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../../test/suite/runs.ts'
import { findAll } from '../detection/find-all.ts'
import { ruleFinder } from './finders.ts'
import { Library } from './library.ts'
import { type Rule, randomText, rules } from './rules.ts'
import { SecretSearch } from './search.ts'
import { surveyed } from './survey.ts'

const all: readonly Rule[] = [...rules, randomText]
const budget = { ms: 600_000 }

const library = new Library()
const everywhere = all.map(({ sign: _, ...rule }) => ruleFinder(rule))

/** Every rule over the whole text, and the library over every word that it says anything about. */
function lookedAtAll(text: string, from: number) {
  const words = [...text.matchAll(/[!-~]+/g)].map(({ 0: word, index }) => {
    return { start: index, end: index + word.length }
  })
  const suspects = words.filter(({ start, end }) => {
    const word = text.slice(start, end)
    return end > from && word.length >= 10 && /\d|:\/\/|[a-z][A-Z]|[A-Z]{3}/.test(word)
  })
  const survey = { suspects: suspects.length > 0 ? [suspects] : [], mayHold: true }
  return findAll([...everywhere, library.finder(survey, budget)], text, from)
}

/** Strings that a rule matches, as short as possible or longer; lookarounds are left to chance. */
const matching = ({ after, pattern }: Rule): fc.Arbitrary<string> => {
  const said = (form: RegExp | undefined): fc.Arbitrary<string> => {
    if (!form) return fc.constant('')
    const bare = form.source.replace(/\(\?(?:=|!|<=|<!)[^()]*\)|\\b/g, '')
    return fc.stringMatching(new RegExp(`^(?:${bare})$`), { size: '-1' })
  }
  return fc.tuple(said(after), said(pattern)).map((parts) => parts.join(''))
}

/** Those whose expressions the generator reads. */
const readable = all.filter(({ pattern }) => !pattern.flags.includes('v'))
const made = fc.oneof(...readable.map(matching))

const bits = fc.constantFrom(
  ...[
    'sk-',
    'AKIA',
    'eyJ',
    'ghp_',
    'xoxb-',
    'npm_',
    'hf_',
    'SG.',
    'Bearer ',
    'password: ',
    'pwd=',
    'token=',
    'api_key: ',
  ],
  ...[
    'postgres://',
    'mongodb+srv://',
    'https://',
    'ftp://',
    'a:b',
    '@',
    'host.io',
    'Authorization: Basic ',
    '_authToken=',
  ],
  ...[
    'a',
    'abcdefghij',
    'Zq8',
    '1234567890',
    'Ab1!',
    '_',
    '-',
    '.',
    ':',
    '=',
    '/',
    '"',
    ' ',
    '\n',
    '密',
    '😀',
  ],
  ...['-----BEGIN ', 'PRIVATE KEY-----', 'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9w'],
  ...['q8Zr4!n1Lw', 'f9a8K2mQ7xLp0VtR5wZc', 'qwertyuiopasdfghjklzxcvbnmqwertyuiopasdf', 'gracious'],
)
const texts = fc
  .array(fc.oneof({ weight: 4, arbitrary: bits }, { weight: 1, arbitrary: made }), {
    maxLength: 14,
    size: 'max',
  })
  .map((parts) => parts.join(''))

test('what is left out costs no finding', () => {
  const search = new SecretSearch({ entropy: 'any' })
  let found = 0
  fc.assert(
    fc.property(texts, fc.nat({ max: 30 }), (text, from) => {
      const expected = lookedAtAll(text, from)
      found += expected.length
      expect(search.secretsIn(text, from, budget)).toEqual(expected)
    }),
    runs(4000),
  )
  expect(found).toBeGreaterThan(1000)
}, 120_000)

test('whatever has the form of a credential is in a text that may hold one', () => {
  for (const rule of readable.filter(({ anywhere }) => !anywhere)) {
    const find = ruleFinder(rule)
    fc.assert(
      fc.property(matching(rule), (text) => {
        if (find(text, 0)) expect(surveyed(text, 0).mayHold, text).toBe(true)
      }),
      runs(100),
    )
  }
})

test.each([
  ['anthropic_key', 'sk-ant-qwertyuiopasdfghjklz'],
  ['connection_string', 'mongodb+srv://:qwerty@host'],
  ['connection_string', 'ftp://:ab@c'],
  ['basic_credentials', 'Authorization: Basic qwertyuiopas'],
  ['aws_secret_key', 'aws-secret: qwertyuiopasdfghjklzxcvbnmqwertyuiopasdf'],
  ['slack_token', 'xoxb-qwertyuiop'],
  ['npm_token', '_authToken=qwertyui'],
  ['password', 'pwd is Ab1!Ab1!'],
])('what looks least like one is found: %s', (label, text) => {
  expect(new SecretSearch({ entropy: 'any' }).secretsIn(text, 0, budget)).toMatchObject([{ label }])
})

test('ordinary text is not looked at any further', () => {
  const plain =
    'The quick report, no. 000012345, says: "responsibilities" are well-known; see Figure 12 (page 7).'
  expect(surveyed(plain, 0)).toEqual({ suspects: [], mayHold: false })
})

test('words are surveyed from the one around the place on, in parts that no word is cut by', () => {
  expect(surveyed('token-12345 token-67890', 15)).toEqual({
    suspects: [[{ start: 12, end: 23 }]],
    mayHold: false,
  })
  const { suspects } = surveyed('token-12345 '.repeat(20_000), 0)
  expect(suspects.length).toBeGreaterThan(2)
  expect(suspects.flat().every(({ start, end }) => end - start === 11)).toBe(true)
})
