import fc from 'fast-check'
import { expect, test } from 'vitest'
import { letsOthersIn } from '../../../test/lets-others-in.ts'
import { StepFault } from '../steps/fault.ts'
import { Places } from '../steps/places.ts'
import { condition, holds } from './condition.ts'
import { definition } from './definition.ts'
import { checkPatterns } from './patterns.ts'
import { checkReferences } from './references.ts'
import { valued } from './value.ts'

const never = new AbortController().signal

/** Steps that wait for each other as the pairs of numbers say, by their tags or by what they say. */
const steps = (count: number, waits: readonly (readonly [number, number, boolean])[]) =>
  definition.parse({
    steps: Array.from({ length: count }, (_, n) => {
      const mine = waits.filter(([from]) => from === n)
      return {
        id: `s${n}`,
        type: 'transform',
        depends_on: mine.filter(([, , isSaid]) => isSaid).map(([, to]) => `s${to}`),
        config: { value: mine.filter(([, , isSaid]) => !isSaid).map(([, to]) => `{{s${to}.output}}`) },
      }
    }),
  })

/** Whether steps can be taken away one by one, each when it waits for none that is left. */
function ends(count: number, waits: readonly (readonly [number, number, boolean])[]): boolean {
  let left = Array.from({ length: count }, (_, n) => n)
  for (;;) {
    const next = left.filter((n) => waits.some(([from, to]) => from === n && left.includes(to)))
    if (next.length === left.length) return left.length === 0
    left = next
  }
}

test('a workflow is refused for a circle if and only if its steps could not all end', async () => {
  const number = fc.nat({ max: 7 })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(number, number, fc.boolean()), { maxLength: 12 }), async (waits) => {
      const check = checkReferences(steps(8, waits))
      if (ends(8, waits)) await check
      else await expect(check).rejects.toThrow(/wait for each other/)
    }),
  )
})

const asks = (pattern: string, n = 0) => ({ value: '{{input}}', op: 'matches', pattern: `${pattern}${n}` })
const asking = (...all: object[]) =>
  definition.parse({
    steps: [
      { id: 's', type: 'transform', config: { value: 1 }, when: { any: all.map((one) => ({ all: [one] })) } },
    ],
  })

test('others have their turn while the tags and the patterns of a workflow are read', async () => {
  const values = Array.from({ length: 20 }, () => '{{s.output}} {{s.output}} '.repeat(700))
  const tags = definition.parse({
    steps: [
      { id: 's', type: 'transform', config: { value: 1 } },
      { id: 't', type: 'transform', config: { value: values } },
    ],
  })
  expect(await letsOthersIn(checkReferences(tags))).toBe(true)
  const patterns = Array.from({ length: 20 }, (_, n) => asks('\\PL'.repeat(50), n))
  expect(await letsOthersIn(checkPatterns(asking(...patterns)))).toBe(true)
})

test('the patterns of a workflow take a bounded number of steps, and each is named by its place', async () => {
  const some = Array.from({ length: 19 }, (_, n) => asks('a{1000}', n))
  await checkPatterns(asking(...some))
  const refusal = (at: string, message: string) => ({
    param: `steps.0.when.any.${at}.pattern`,
    message: expect.stringContaining(message),
  })
  await expect(checkPatterns(asking(...some, asks('a{1000}')))).rejects.toMatchObject(
    refusal('19.all.0', 'may take 20000 steps'),
  )
  await expect(checkPatterns(asking(some[0]!, asks('(')))).rejects.toMatchObject(refusal('1.all.0', 'RE2'))
})

test('of a condition the first thing that is wrong is told, however much is', () => {
  const many = (depth: number): unknown => ({
    all: Array.from({ length: 20 }, () => (depth === 0 ? { value: 1, op: 'near' } : many(depth - 1))),
  })
  const { error } = condition.safeParse({ any: ['{{input}}', many(2)] })
  expect(error?.issues).toMatchObject([{ path: ['any', 1, 'all', 0, 'all', 0, 'all', 0, 'op'] }])
  for (const [wrong, path] of [
    [{ all: [] }, ['all']],
    [{ all: ['{{x}}'], not: '{{x}}' }, ['value']],
    [{ not: { not: '' } }, ['not', 'not']],
    [{ value: 1, op: 'exists', than: 2 }, []],
  ] as const)
    expect(condition.safeParse(wrong).error?.issues[0]?.path).toEqual(path)
})

test('values pass as they are: what a tag shows is never read as a template', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (given, text) => {
      const input = JSON.parse(JSON.stringify(given))
      const scope = { input, text: `{{input}}${text}` }
      fc.pre(input !== undefined)
      expect(valued({ whole: ['{{input}}'], text: '<{{text}}>' }, scope)).toEqual({
        whole: [input],
        text: `<{{input}}${text}>`,
      })
    }),
  )
})

test('a condition that is accepted holds or not, or lacks a value, whatever it is asked about', () => {
  const op = fc.constantFrom('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'contains')
  const one = fc.record({ value: fc.constantFrom('{{input}}', '{{none}}', 3), op, than: fc.jsonValue() })
  const any = fc.letrec((tie) => ({
    question: fc.oneof(
      { depthSize: 'small' },
      one,
      fc.constant('{{input}}'),
      fc.record({ not: tie('question') }),
      fc.record({ all: fc.array(tie('question'), { minLength: 1, maxLength: 3 }) }),
      fc.record({ any: fc.array(tie('question'), { minLength: 1, maxLength: 3 }) }),
    ),
  })).question
  fc.assert(
    fc.property(any, fc.jsonValue(), (said, given) => {
      const question = JSON.parse(JSON.stringify(said))
      fc.pre(!/\{\{(?!input\}\}|none\}\})/.test(JSON.stringify(question)))
      const asked = condition.parse(question)
      const scope = { input: JSON.parse(JSON.stringify(given)) }
      try {
        const answer = holds(asked, scope, 100_000)
        expect(holds({ not: asked }, scope, 100_000)).toBe(!answer)
      } catch (error) {
        expect(error).toBeInstanceOf(StepFault)
      }
    }),
  )
})

test('no more than so many have a place at a time, and all get one', async () => {
  const places = new Places(3)
  let now = 0
  let most = 0
  const use = async () => {
    now += 1
    most = Math.max(most, now)
    await Promise.resolve()
    now -= 1
  }
  await Promise.all(Array.from({ length: 20 }, () => places.use(never, use)))
  expect(most).toBe(3)
  const gone = AbortSignal.abort(new Error('over'))
  await expect(places.use(gone, use)).rejects.toThrow('over')
  await Promise.all(Array.from({ length: 4 }, () => places.use(never, use)))
})

test('patterns take no longer than half a second of steps for one condition, however many there are', () => {
  const matches = (pattern: string) => ({ value: '{{input.text}}', op: 'matches' as const, pattern })
  const scope = { input: { text: `${'ab'.repeat(15_000)}c` } }
  expect(holds(matches('^[ab]+c$'), scope, 1_000_000)).toBe(true)
  expect(() => holds(matches('(?:a|b|ab){900}c$'), scope, 1_000_000)).toThrow('take too long')
  const several = { any: Array.from({ length: 20 }, (_, n) => matches(`[ab]{${80 + n}}d|d[ab]{90}`)) }
  expect(() => holds(several, scope, 1_000_000)).toThrow('take too long')
})
