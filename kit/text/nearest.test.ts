import { expect, test } from 'vitest'
import { nearest, nearestHint } from './nearest.ts'

test.each([
  ['prot', 'port'],
  ['hots', 'host'],
  ['outputcup', 'outputcap'],
  ['OutputCap', 'outputcap'],
  ['guardrial', 'guardrails'],
  ['ttl', 'ttl_s'],
  ['provider', 'providers'],
  ['models', 'model'],
  ['bodeis', 'bodies'],
])('%s is meant to be %s', (name, meant) => {
  expect(nearest(name, ['zzz', meant, 'something'])).toEqual([meant])
  expect(nearestHint(name, [meant])).toBe(`; the nearest is ${meant}`)
})

test.each([
  ['cat', 'host'],
  ['port', 'host'],
  ['fastcache', 'modelcap'],
  ['ax', 'axiom'],
  ['', 'port'],
  ['greeter', 'retryer'],
])('%s is not meant to be %s', (name, other) => {
  expect(nearest(name, [other])).toEqual([])
  expect(nearestHint(name, [other])).toBe('')
})

test('the nearest come first, three at most', () => {
  const names = ['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4o-nano', 'claude']
  expect(nearest('gpt-4o-min', names)).toEqual(['gpt-4o-mini', 'gpt-4o-nano', 'gpt-4o'])
})
