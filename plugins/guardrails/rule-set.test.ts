import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Detection, GuardrailSpan } from '#kernel'
import { findInTurns, type GuardrailRule, guardrailRule, longestGuardrailMatch, matchesInTurns } from '#kit'
import { content, cutText, piecesThrough, redactedWhole } from '../../test/detection.ts'
import { letsOthersIn } from '../../test/lets-others-in.ts'
import { runs } from '../../test/suite/runs.ts'
import { type CompiledRule, compileInput, type GuardrailSet, guardrailSet } from './compile.ts'

const rule = (fields: Partial<GuardrailRule>): GuardrailRule =>
  guardrailRule.parse({ name: 'a rule', action: 'redact', max_length: 8, ...fields })
const compiled = (...fields: Partial<GuardrailRule>[]): CompiledRule[] => compileInput(fields.map(rule))

/** As the module of the chain has them. */
const detectionOf = (set: GuardrailSet): Detection => ({
  reach: 2 * longestGuardrailMatch,
  scan: (text, place, _call, from) => set.find(text, place, from),
  open: (text, _call, from) => Math.max(from, text.length - set.held),
})

const patterns = ['aa', 'ab+a', 'b{3}', 'a[ab]{2}', 'c\\d', '\\d{2,4}', 'ba|ca', '\\bc', '1+$']
const action = fc.constantFrom('redact', 'warn', 'log', 'block')
const ruleOf = (actions: fc.Arbitrary<string>) =>
  fc
    .record({ pattern: fc.constantFrom(...patterns), action: actions, priority: fc.nat({ max: 2 }) })
    .map((fields) => rule({ ...(fields as Partial<GuardrailRule>), type: 'custom', replacement: '<>' }))
const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', '2', ' '), maxLength: 60 })

test('however a text is cut, its stream says what the whole says', () => {
  fc.assert(
    fc.property(
      fc.array(ruleOf(fc.constantFrom('redact', 'warn', 'log')), { minLength: 1, maxLength: 6 }),
      cutText(text),
      (rules, parts) => {
        const detection = detectionOf(guardrailSet(compileInput(rules)))
        expect(piecesThrough(parts, [detection]).join('')).toBe(redactedWhole(parts.join(''), [detection]))
      },
    ),
    runs(1000),
  )
})

test('however a text is cut, the same matches count', () => {
  fc.assert(
    fc.property(fc.array(ruleOf(action), { minLength: 1, maxLength: 6 }), cutText(text), (rules, parts) => {
      const set = guardrailSet(compileInput(rules))
      const countedBy = (cut: readonly string[]): string[] => {
        const hits: string[] = []
        const detection: Detection = {
          ...detectionOf(set),
          found: (span) => hits.push(...(span as GuardrailSpan).hits.map(({ ruleId }) => ruleId)),
        }
        piecesThrough(cut, [detection], content, undefined, () => '')
        return hits
      }
      expect(countedBy(parts)).toEqual(countedBy([parts.join('')]))
    }),
    runs(500),
  )
})

test('every character of a match that redacts or blocks is in a span, wherever matches overlap', () => {
  fc.assert(
    fc.property(fc.array(ruleOf(action), { minLength: 1, maxLength: 6 }), text, (rules, text) => {
      const all = compileInput(rules)
      const spans = guardrailSet(all).find(text, content, 0)
      const isIn = (at: number, actions: readonly string[]): boolean =>
        spans.some((span) => span.start <= at && at < span.end && actions.includes(span.action))
      for (const { find, action } of all) {
        if (action === 'warn' || action === 'log') continue
        for (let at = 0; at < text.length; at += 1) {
          const found = find(text, at)
          if (found?.start !== at) continue
          for (let i = found.start; i < found.end; i += 1)
            expect(isIn(i, action === 'block' ? ['block'] : ['block', 'replace'])).toBe(true)
        }
      }
    }),
    runs(500),
  )
})

test('of rules with one action that match together, the priority decides, and every rule counts', () => {
  const set = guardrailSet(
    compiled(
      { pattern: 'key \\d+', replacement: '[low]' },
      { pattern: 'key \\d+', replacement: '[high]', priority: 1 },
      { pattern: 'key', action: 'warn' },
    ),
  )
  const [span] = set.find('my key 123', content, 0)
  expect(span).toMatchObject({
    start: 3,
    end: 10,
    action: 'replace',
    replacement: '[high]',
    ruleId: 'rules[1]',
  })
  expect(span!.hits.map(({ ruleId, preview }) => [ruleId, preview])).toEqual([
    ['rules[1]', 'xxx 000'],
    ['rules[0]', 'xxx 000'],
    ['rules[2]', 'xxx'],
  ])
})

test('a rule in shadow changes nothing, whatever its action', () => {
  const set = guardrailSet(compiled({ pattern: 'x1', action: 'block', mode: 'shadow' }, { pattern: '1y' }))
  expect(set.find('x1y', content, 0)).toMatchObject([
    { start: 0, end: 1, action: 'log', hits: [{ shadow: true, ruleId: 'rules[0]' }] },
    { start: 1, end: 3, action: 'replace', hits: [{ shadow: false, ruleId: 'rules[1]' }] },
  ])
})

test('rules look at the texts that are their targets', () => {
  const set = guardrailSet(
    compiled({ pattern: 'x', targets: ['system'] }, { pattern: 'y', targets: ['tool_args', 'tool_result'] }),
  )
  const foundIn = (
    role: string,
    kind: 'content' | 'arguments' | 'parameter',
    direction: 'request' | 'reply',
  ) => set.find('xy', { role, kind, direction }, 0).map(({ start }) => 'xy'[start])
  expect(foundIn('developer', 'content', 'request')).toEqual(['x'])
  expect(foundIn('user', 'parameter', 'request')).toEqual(['x'])
  expect(foundIn('user', 'content', 'request')).toEqual([])
  expect(foundIn('tool', 'content', 'request')).toEqual(['y'])
  expect(foundIn('assistant', 'arguments', 'reply')).toEqual(['y'])
  expect(foundIn('assistant', 'content', 'reply')).toEqual([])
})

const matchesOf = async (set: GuardrailSet, text: string): Promise<string[]> =>
  (await matchesInTurns(set, text, content, 1000)).first.map(({ start, end }) => text.slice(start, end))

const found = (fields: Partial<GuardrailRule>, text: string): Promise<string[]> =>
  matchesOf(guardrailSet(compiled({ max_length: undefined, ...fields })), text)

test('words are found whole, in any letter case, the longest first', async () => {
  const words = { words: ['cat', 'cat food', 'C++', '.env'] }
  expect(await found(words, 'Cat  food, concatenate, cat; c++ and my .env')).toEqual([
    'Cat  food',
    'cat',
    'c++',
    '.env',
  ])
})

test('a thousand words are searched for at once, and a phrase wins over its own beginning', async () => {
  const letters = 'etaoinshrdlu'
  const word = (n: number): string => Array.from({ length: 6 }, (_, i) => letters[(n * 7 ** i) % 11]).join('')
  const many = Array.from({ length: 990 }, (_, n) => word(n) + n)
  const words = ['c', 'c++', 'C++ language', '#c', '#c sharp', 'ca', 'cat', ...many]
  const [found] = compiled({ words, max_length: 200 })
  const set = guardrailSet([found!])
  expect(await matchesOf(set, `a c++  LANGUAGE, c++x, #c sharp #c, cat cats ca ${many[500]}`)).toEqual([
    'c++  LANGUAGE',
    'c++',
    '#c sharp',
    '#c',
    'cat',
    'ca',
    many[500],
  ])
  const started = performance.now()
  await matchesOf(set, 'The quick brown fox jumps over the lazy dog. '.repeat(2200))
  expect(performance.now() - started).toBeLessThan(3000)
})

test('exact texts can be allowed, and check digits decide on presets', async () => {
  expect(await found({ preset: 'credit_card' }, 'card 4111 1111 1111 1111 or 4111 1111 1111 1112')).toEqual([
    '4111 1111 1111 1111',
  ])
  expect(await found({ preset: 'iban' }, 'DE89 3704 0044 0532 0130 00, DE88 3704 0044 0532 0130 00')).toEqual(
    ['DE89 3704 0044 0532 0130 00'],
  )
  expect(
    await found({ preset: 'email', allow: ['help@example.com'] }, 'help@example.com, ada@example.com'),
  ).toEqual(['ada@example.com'])
  expect(await found({ pattern: 'secret', flags: 'i' }, 'Secret SECRET')).toEqual(['Secret', 'SECRET'])
})

test('many rules find what each finds by itself', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(ruleOf(action), { minLength: 5, maxLength: 12 }), text, async (rules, text) => {
      const all = compileInput(rules)
      const starts = async (set: GuardrailSet): Promise<string[]> =>
        (await matchesInTurns(set, text, content, 1000)).first.map(
          ({ rule, start, end }) => `${start}-${end} ${rule.id}`,
        )
      const alone = await Promise.all(all.map((one) => starts(guardrailSet([one]))))
      expect((await starts(guardrailSet(all))).sort()).toEqual(alone.flat().sort())
    }),
    runs(300),
  )
})

test('a long text says in parts what it says as a whole', async () => {
  const unit = fc.constantFrom('a', 'b', 'c', '1', '2', ' ')
  const long = fc.string({ unit, minLength: 20_000, maxLength: 30_000, size: 'max' })
  const rules = fc.array(ruleOf(action), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(rules, long, async (rules, text) => {
      const all = compileInput(rules)
      const set = guardrailSet(all)
      expect(await findInTurns(set, text, content)).toEqual(set.find(text, content, 0))
      const { first, count } = await matchesInTurns(set, text, content, 50)
      const matches = set.matches(text, content)
      expect(count).toBe(matches.length)
      expect(first).toEqual(matches.slice(0, 50))
    }),
    runs(20),
  )
})

test('others have their turn while a long text is searched', async () => {
  const set = guardrailSet(compiled({ pattern: '[ab]' }, { preset: 'email', max_length: undefined }))
  for (const search of [
    () => findInTurns(set, 'ab'.repeat(50_000), content),
    () => matchesInTurns(set, 'ab'.repeat(50_000), content, 10),
  ])
    expect(await letsOthersIn(search())).toBe(true)
})

test('patterns that make others backtrack take a text of 100 KB in linear time', () => {
  const evil = compiled(
    ...['(a+)+$', '(x+x+)+y', '(?:a|aa)+b', '(.*)*#', '([a-z]+)*!'].map((pattern) => ({ pattern })),
  )
  const set = guardrailSet(evil)
  const ms = ['a'.repeat(100_000), 'x'.repeat(100_000)].map((text) => {
    const started = performance.now()
    set.find(text, content, 0)
    return performance.now() - started
  })
  // Quadratic time would be minutes.
  expect(Math.max(...ms)).toBeLessThan(10_000)
})

test('texts full of matches are searched in linear time, also if other rules match far behind them', () => {
  let searched = 0
  const rules = compiled(
    { pattern: '\\d', max_length: 200 },
    { pattern: 'end', action: 'log' },
    { pattern: 'stop', action: 'block' },
  ).map((rule) => ({
    ...rule,
    find(text: string, from: number) {
      const found = rule.find(text, from)
      searched += (found?.end ?? text.length) - from
      return found
    },
  }))
  const text = `${'7'.repeat(2000)} end stop`
  expect(guardrailSet(rules).find(text, content, 0)).toHaveLength(2002)
  expect(searched).toBeLessThan(20 * text.length)
})

test('a text that matches throughout is not searched anew from each of its characters', () => {
  let searches = 0
  const rules = compiled(
    { pattern: '[\\w-]{20,}', max_length: 200 },
    { pattern: '\\w+', max_length: 200, action: 'block' },
  ).map((rule) => ({
    ...rule,
    find(text: string, from: number) {
      searches += 1
      return rule.find(text, from)
    },
  }))
  const text = 'a'.repeat(4000)
  for (const rule of rules) {
    const spans = guardrailSet([rule]).find(text, content, 0)
    expect(spans.reduce((sum, { start, end }) => sum + end - start, 0)).toBe(text.length)
  }
  expect(searches).toBeLessThan(text.length / 5)
})
