import fc from 'fast-check'
import { expect, test } from 'vitest'
import { content } from '../../test/detection.ts'
import { runs } from '../../test/suite/runs.ts'
import { patternFinder } from './pattern.ts'
import { Reach } from './rule-reach.ts'
import { RuleSet } from './rule-set.ts'
import type { TextRule } from './text-rule.ts'

const ruleOf = (source: string, longest: number): TextRule => ({
  id: 'rule',
  type: 'custom',
  severity: 'low',
  action: 'redact',
  priority: 0,
  isShadow: false,
  source,
  longest,
  replacement: '',
  find: patternFinder(source, longest + 1),
  looksAt: () => true,
})

test('reaches as far as the match that goes furthest, of all that begin before', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'a', 'a', 'b', ' '), maxLength: 200 })
  const sources = fc.constantFrom('a[ab]{2,40}', '[ab]+', 'b[ab ]{0,44}a', 'a{3}', '\\ba+b', '(?s).*')
  const steps = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 })
  fc.assert(
    fc.property(sources, text, steps, (source, text, steps) => {
      const rule = ruleOf(source, 45)
      const ends = Array.from(text, (_, from) => {
        const found = rule.find(text, from)
        return found?.start === from ? found.end : 0
      })
      const reach = new Reach(rule, 0)
      let at = 0
      for (const step of steps) {
        at = Math.min(text.length, at + step)
        expect(reach.before(text, at)).toBe(Math.max(0, ...ends.slice(0, at)))
      }
    }),
    runs(500),
  )
})

test('looks at the last places only, where matches are nearly as long as they can be', () => {
  let searches = 0
  const rule = ruleOf('\\bsk-[\\w-]{20,180}', 200)
  const find: TextRule['find'] = (text, from) => {
    searches += 1
    return rule.find(text, from)
  }
  const text = 'sk-'.repeat(1000)
  const reach = new Reach({ ...rule, find }, 0)
  for (let at = 183; at < 2600; at += 183) expect(reach.before(text, at)).toBe(at - 3 + 183)
  expect(searches).toBeLessThan(300)
})

test('searches a text that is full of matches about once from each place, also for rules that others outweigh', () => {
  let searches = 0
  const rule = ruleOf('a', 200)
  const find: TextRule['find'] = (text, from) => {
    searches += 1
    return rule.find(text, from)
  }
  const set = new RuleSet(
    [
      { ...rule, find },
      { ...ruleOf('[a-z]+', 200), id: 'other' },
    ],
    () => 'hit',
  )
  expect(set.find('a'.repeat(1000), content, 0).length).toBeGreaterThan(0)
  expect(searches).toBeLessThan(1500)
})
