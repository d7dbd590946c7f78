import { afterAll, expect, test } from 'vitest'
import { Schemas } from '#kit'
import { letsOthersIn } from '../../../test/lets-others-in.ts'
import { type Assertion, assertion, checkAssertions } from './assertion.ts'
import { stepsOfSchema } from './patterns.ts'
import { type Check, passes, Scorers } from './score.ts'
import { fromShortForm } from './short-form.ts'

const schemas = new Schemas()
const scorers = new Scorers(schemas)
const scoreOf = (one: object, answer: string, expected?: string) =>
  scorers.score(assertion.parse(one) as Check, answer, expected)

const refusal = async (run: () => unknown) => {
  try {
    await run()
  } catch (error) {
    return (error as { param?: string }).param
  }
  return undefined
}

afterAll(() => schemas.close())

test.each([
  [{ type: 'equals', text: 'Yes' }, ' Yes\n', 1],
  [{ type: 'equals', text: 'Yes' }, 'yes', 0],
  [{ type: 'equals', text: 'Yes', ignore_case: true }, 'yes', 1],
  [{ type: 'equals' }, 'expected', 1],
  [{ type: 'contains', text: 'tea' }, 'A cup of tea.', 1],
  [{ type: 'contains', text: 'Tea' }, 'A cup of tea.', 0],
  [{ type: 'contains', text: 'Tea', ignore_case: true }, 'A cup of tea.', 1],
  [{ type: 'regex', pattern: '^\\d{4}$' }, '2026', 1],
  [{ type: 'regex', pattern: '^\\d{4}$' }, '20260', 0],
  [{ type: 'length', min_chars: 2, max_chars: 3 }, 'abc', 1],
  [{ type: 'length', min_chars: 2, max_chars: 3 }, 'abcd', 0],
  [{ type: 'concise', max_words: 2 }, 'one two', 1],
  [{ type: 'concise', max_words: 2 }, 'one two three four', 0.5],
  [{ type: 'json' }, '{"a": 1}', 1],
  [{ type: 'json' }, 'a', 0],
  [{ type: 'json_schema', schema: { type: 'object', required: ['a'] } }, '{"a": 1}', 1],
  [{ type: 'json_schema', schema: { type: 'object', required: ['a'] } }, '{"b": 1}', 0],
  [{ type: 'json_schema', schema: { type: 'object' } }, 'no json', 0],
  [{ type: 'similarity', text: 'the sky is blue' }, 'The sky is blue.', 1],
])('%j gives %j a score of %d', async (one, answer, score) => {
  expect(await scoreOf(one, answer, 'expected')).toBe(score)
})

test('an answer passes with its threshold, and without one only whole', () => {
  const similar = assertion.parse({ type: 'similarity', text: 'a', threshold: 0.6 })
  const concise = assertion.parse({ type: 'concise', max_words: 3 })
  expect([passes(similar, 0.6), passes(similar, 0.59), passes(concise, 0.9), passes(concise, 1)]).toEqual([
    true,
    false,
    false,
    true,
  ])
})

test('patterns that hang engines with backtracking are done at once, in assertions and in schemas', async () => {
  const answer = `${'a'.repeat(19_000)}!`
  expect(await scoreOf({ type: 'regex', pattern: '^(a+)+$' }, answer)).toBe(0)
  const schema = { type: 'string', pattern: '^(a+)+$' }
  expect(await scoreOf({ type: 'json_schema', schema }, JSON.stringify(answer))).toBe(0)
  expect(await scoreOf({ type: 'regex', pattern: '!$' }, answer)).toBe(1)
  expect(await scoreOf({ type: 'regex', pattern: 'a' }, 'a'.repeat(20_001))).toBe(0)
})

test('what no answer could be held to is refused by its place', async () => {
  const check = (all: object[], expected: (string | undefined)[] = []) =>
    refusal(() =>
      checkAssertions(
        schemas,
        all.map((one): Assertion => assertion.parse(one)),
        expected,
        'evaluators',
      ),
    )
  expect(await check([{ type: 'json' }, { type: 'json' }])).toBe('evaluators.1')
  expect(await check([{ type: 'json' }, { type: 'json', name: 'again' }])).toBeUndefined()
  expect(await check([{ type: 'json_schema', schema: { type: 'nothing' } }])).toBe('evaluators.0.schema')
  expect(await check([{ type: 'length', min_chars: 3, max_chars: 2 }])).toBe('evaluators.0')
  expect(await check([{ type: 'regex', pattern: '(?=a)' }])).toBe('evaluators.0.pattern')
  expect(await check([{ type: 'regex', pattern: 'a{1000}'.repeat(140) }])).toBe('evaluators.0')
  const long = { type: 'regex', pattern: '\\pL{0,400}\\pN', name: 'long' }
  expect(await check([long])).toBeUndefined()
  expect(await check([long, { ...long, name: 'longer' }])).toBe('evaluators.1')
  const deep = { type: 'object', properties: { a: { pattern: '\\pL{0,600}\\pN' } } }
  expect(await check([{ type: 'json_schema', schema: deep }])).toBe('evaluators.0.schema')
  expect(await check([{ type: 'equals' }], ['a', undefined])).toBe('evaluators.0')
  expect(await check([{ type: 'equals' }], ['a'])).toBeUndefined()
})

test('the short form names an assertion and its argument', async () => {
  expect(fromShortForm('contains', 'tea', 'eval')).toMatchObject({ type: 'contains', text: 'tea' })
  expect(fromShortForm('json', undefined, 'eval')).toMatchObject({ type: 'json' })
  expect(fromShortForm('concise', 20, 'eval')).toMatchObject({ max_words: 20 })
  expect(fromShortForm('json_schema', { type: 'object' }, 'eval')).toMatchObject({
    schema: { type: 'object' },
  })
  expect(fromShortForm('judge', { model: 'm', criteria: 'Short.' }, 'eval')).toMatchObject({ model: 'm' })
  expect(await refusal(() => fromShortForm('guess', 'x', 'eval'))).toBe('eval')
  expect(await refusal(() => fromShortForm('regex', '(', 'eval'))).toBe('eval_arg')
  expect(await refusal(() => fromShortForm('regex', undefined, 'eval'))).toBe('eval_arg')
})

test('others have their turn while patterns are read, and no schema has more of them read than it may have', async () => {
  const all = Array.from(
    { length: 20 },
    (_, n): Assertion =>
      assertion.parse({ type: 'regex', name: `${n}`, pattern: `${'\\PL'.repeat(40)}${n}` }),
  )
  expect(await letsOthersIn(checkAssertions(schemas, all, [], 'evaluators'))).toBe(true)
  const properties = Array.from({ length: 100 }, (_, n) => [`p${n}`, { pattern: `a{500}${n}` }])
  const steps = stepsOfSchema({ type: 'object', properties: Object.fromEntries(properties) })
  expect(steps).toBeGreaterThan(1000)
  expect(steps).toBeLessThan(2000)
})
