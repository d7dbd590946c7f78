import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import type { DangerKind } from './danger.ts'
import { Examination } from './examine.ts'
import { examiners, type Language, languages } from './languages.ts'
import { Packages } from './packages.ts'

interface Labelled {
  readonly dangerous: readonly { readonly kind: DangerKind; readonly code: string }[]
  readonly harmless: readonly string[]
}

const examination = new Examination(await examiners(languages, new Packages([], false)))
const kindsIn = (code: string, language: Language): string[] =>
  examination
    .ofCode(code, [language])
    .filter(({ severity }) => severity !== 'low')
    .map(({ kind }) => kind)

/** How much code of each language the project has labelled: a set that shrinks proves less. */
const counts: Readonly<Record<Language, readonly [dangerous: number, harmless: number]>> = {
  python: [39, 46],
  javascript: [37, 47],
  shell: [54, 59],
  sql: [24, 25],
}

describe.each(languages)('%s', async (language) => {
  const file = new URL(`../../test/corpora/codefence/${language}.json`, import.meta.url)
  const { dangerous, harmless }: Labelled = JSON.parse(await readFile(file, 'utf8'))

  test('what is labelled dangerous is found, as what it is', () => {
    const missed = dangerous.filter(({ kind, code }) => !kindsIn(code, language).includes(kind))
    expect(missed).toEqual([])
    expect(dangerous.length).toBeGreaterThanOrEqual(counts[language][0])
  })

  test('harmless code that looks like it is not', () => {
    const accused = harmless.map((code) => ({ code, kinds: kindsIn(code, language) }))
    expect(accused.filter(({ kinds }) => kinds.length > 0)).toEqual([])
    expect(harmless.length).toBeGreaterThanOrEqual(counts[language][1])
  })
})

test.each([
  ['calls of calls', `f${'()'.repeat(9000)}`],
  ['calls in calls', `${'f('.repeat(190)}x\n`.repeat(40)],
  ['members', `a${'.b'.repeat(9000)}()`],
  ['substitutions', `${'$('.repeat(190)}\n`.repeat(40)],
  ['backticks', '`\\`'.repeat(4000)],
  ['functions', `${'f(){ '.repeat(99)}\n`],
  ['sums', `eval("a"${' + b'.repeat(4000)})`],
  ['assignments', `${'a = '.repeat(4000)}1`],
  ['strings', '"\'`'.repeat(6000)],
  ['deep brackets', 'x = [{"a": '.repeat(2000)],
])('code that nests or breaks off is read all the same, or called unread: %s', (_, code) => {
  for (const label of ['py', 'js', 'sh', 'sql'])
    for (const { start, end } of examination.dangersIn(code, {
      label,
      start: 0,
      end: code.length,
      isClosed: true,
    })) {
      expect(start).toBeGreaterThanOrEqual(0)
      expect(end).toBeLessThanOrEqual(code.length)
    }
})
