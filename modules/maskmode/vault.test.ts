import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Detection } from '#kernel'
import { findAll } from '#kit'
import { cut, cutText, piecesThrough, redactedWhole, toolArguments } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { longest, Vault } from './vault.ts'

const vaultOf = (secret = 'key', said = ''): Vault => new Vault(secret, (code) => said.includes(code))

function revealing(vault: Vault): Detection {
  return {
    reach: longest,
    open: (text, _call, from) => vault.openFrom(text, from),
    scan: (text, _place, _call, from) =>
      findAll([(part: string, at: number) => vault.find(part, at)], text, from).map(({ value, ...span }) => {
        return { ...span, action: 'replace', replacement: value }
      }),
  }
}

const vault = vaultOf()
const email = vault.placeholderFor('email', 'ada@example.com')
const birth = vault.placeholderFor('birth_date', '10 December 1815')
const code = email.slice(-7, -1)
const revealed = (text: string): string => redactedWhole(text, [revealing(vault)])

describe('a placeholder', () => {
  test('names its kind, and is the same for a value in every call of a caller, under one key', () => {
    expect(email).toMatch(/^\[EMAIL_[2-9B-Z]{6}\]$/)
    expect(birth).toMatch(/^\[BIRTHDATE_/)
    expect(vaultOf().placeholderFor('email', 'ada@example.com')).toBe(email)
    expect(vaultOf('other').placeholderFor('email', 'ada@example.com')).not.toBe(email)
    expect(vault.placeholderFor('email', 'bob@example.com')).not.toBe(email)
  })

  test('is never one that the call says itself', () => {
    const said = `The text [EMAIL_${code}] was here before.`
    const careful = vaultOf('key', said)
    const placeholder = careful.placeholderFor('email', 'ada@example.com')
    expect(placeholder).not.toContain(code)
    expect(redactedWhole(`${said} ${placeholder}`, [revealing(careful)])).toBe(`${said} ada@example.com`)
  })
})

const bare = email.slice(1, -1)

test.each([
  ['as it was put', email],
  ['in lower case', email.toLowerCase()],
  ['without brackets', bare],
  ['with a capital', `Email_${code}`],
  ['with a blank', `email ${code}`],
  ['with a hyphen', `[EMAIL-${code}]`],
  ['escaped for Markdown', `\\[EMAIL\\_${code}\\]`],
  ['half escaped', `EMAIL\\_${code}`],
  ['translated', `[CORREO_${code}]`],
  ['as a code alone', code],
  ['as a bracketed code', `[${code}]`],
])('a placeholder is restored %s', (_, written) => {
  for (const [before, after] of [
    ['Write to ', ' now'],
    ['**', '**'],
    ['"', '",'],
    ['', "'s box"],
    ['（', '）。'],
    ['mailto:', '?'],
  ]) {
    expect(revealed(before + written + after)).toBe(`${before}ada@example.com${after}`)
  }
})

test.each([
  [
    'in a link, whose brackets stay',
    `[${bare}](mailto:${bare})`,
    '[ada@example.com](mailto:ada@example.com)',
  ],
  ['in a link of brackets', `[[${bare}](x)`, '[[ada@example.com](x)'],
  ['in brackets that are not its own', `[see ${bare}]`, '[see ada@example.com]'],
  ['encoded for an address', `?to=%5BEMAIL_${code}%5D&x`, '?to=ada%40example.com&x'],
  ['encoded altogether', `?to=%5BEMAIL%5F${code}%5D&x`, '?to=ada%40example.com&x'],
  ['with an ending', `${bare}s`, 'ada@example.coms'],
  ['twice in a row', email + birth, 'ada@example.com10 December 1815'],
])('a placeholder is restored %s', (_, written, wanted) => {
  expect(revealed(written)).toBe(wanted)
})

test('what only looks like a placeholder stays', () => {
  for (const text of [
    '[EMAIL_222222]',
    `x${code}`,
    `EMAIL_${code}7`,
    '[EMAIL_1]',
    'EMAIL',
    `${code.slice(0, 5)} ${code.slice(5)}`,
  ]) {
    expect(revealed(text)).toBe(text)
  }
})

describe('in a stream', () => {
  const parts = fc.constantFrom(
    ...[
      email,
      birth,
      bare,
      code,
      email.toLowerCase(),
      `EMAIL\\_${code}`,
      `%5BEMAIL%5F${code}%5D`,
      'EMAIL ',
      'email',
      'birthdate-',
    ],
    ...[
      '[',
      ']',
      '(',
      '\\',
      '_',
      '%5B',
      '%',
      ' ',
      '-',
      's',
      "'s",
      '中文',
      '😀',
      'word',
      '.',
      code.slice(0, 4),
      'x'.repeat(70),
    ],
  )
  const texts = fc.array(parts, { maxLength: 12 }).map((all) => all.join(''))

  test('the same is restored for every way of cutting', () => {
    fc.assert(
      fc.property(cutText(texts), (pieces) => {
        expect(piecesThrough(pieces, [revealing(vault)]).join('')).toBe(revealed(pieces.join('')))
      }),
      runs(3000),
    )
  })

  test('values with quotes and line ends are restored as JSON in the arguments of a tool', () => {
    const strange = vaultOf()
    const value = 'Ada "Countess"\nLovelace\\'
    const placeholder = strange.placeholderFor('name', value)
    for (const json of [
      JSON.stringify({ to: `<${placeholder}>` }),
      JSON.stringify({ to: `<${placeholder.slice(1, -1)}>` }),
    ]) {
      for (let at = 0; at <= json.length; at += 1) {
        const text = piecesThrough(cut(json, [at]), [revealing(strange)], toolArguments).join('')
        expect(JSON.parse(text)).toEqual({ to: `<${value}>` })
      }
    }
  })

  test('words leave when the next one begins, but for those that placeholders begin with', () => {
    expect(piecesThrough(['Hello', ' world', ' my', ' email', ' is', ' fine'], [revealing(vault)])).toEqual([
      '',
      'Hello ',
      'world ',
      'my ',
      '',
      'email is ',
      'fine',
    ])
  })
})
