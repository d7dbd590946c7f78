import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, test } from 'vitest'
import { patternTest } from '#kit'
import { build } from './genome.ts'
import { markOf } from './mark.ts'
import { strategies } from './strategies.ts'
import { attackTypes } from './types/index.ts'

const mark = markOf('test')

const sentBy = (type: string, seed: string, ids: readonly string[]): string => {
  const { conversation } = build({ type, seed, strategies: [...ids] }, mark, undefined)!
  return conversation.messages
    .filter(({ role }) => role === 'user' || role === 'tool')
    .map(({ content }) => content)
    .join('\n')
}

test.each(
  attackTypes.flatMap((type) => type.seeds.map((seed) => [type.id, seed.id, type.rule.pattern] as const)),
)('the rule of %s matches its seed %s', (type, seed, pattern) => {
  expect(patternTest(pattern)(sentBy(type, seed, []))).toBe(true)
})

test.each(strategies.flatMap(({ id, rule }) => (rule ? [[id, rule.pattern] as const] : [])))(
  'the rule of the strategy %s matches each type that is put so, and none in plain words',
  (id, pattern) => {
    for (const { id: type, seeds } of attackTypes) {
      expect([type, patternTest(pattern)(sentBy(type, seeds[0]!.id, [id]))]).toEqual([type, true])
      expect([type, patternTest(pattern)(sentBy(type, seeds[0]!.id, []))]).toEqual([type, false])
    }
  },
)

test('rules match next to none of ordinary requests, those included that speak of instructions', async () => {
  const folder = path.join(import.meta.dirname, '../../../test/corpora/promptguard')
  const ordinary = [
    'Imagine a garden in spring and write a poem about it, in German if you can.',
    'Put the two lists together and sort them by name.',
    'You are now at the counter of a bakery: greet the customer.',
    'The commit is 9fceb02d0ae598e95dc970b74767f19372d61af8; what does git show for it?',
  ]
  for (const file of await readdir(folder)) {
    const { benign } = JSON.parse(await readFile(path.join(folder, file), 'utf8'))
    ordinary.push(...benign.map((one: unknown) => (typeof one === 'string' ? one : JSON.stringify(one))))
  }
  expect(ordinary.length).toBeGreaterThan(400)
  const patterns = [...attackTypes.map(({ rule }) => rule), ...strategies.flatMap(({ rule }) => rule ?? [])]
  const hits = ordinary.filter((text) => patterns.some(({ pattern }) => patternTest(pattern)(text)))
  expect(hits.length, hits.join('\n')).toBeLessThanOrEqual(ordinary.length / 100)
})

test('a mark is in a conversation where its type says, and never as a whole in what asks for it to be put together', () => {
  for (const { id, goal, seeds } of attackTypes) {
    const { system } = build({ type: id, seed: seeds[0]!.id, strategies: [] }, mark, undefined)!
    expect([id, system.includes(mark)]).toEqual([id, goal === 'leak' || goal === 'link'])
    for (const { id: seed } of seeds)
      expect([seed, sentBy(id, seed, []).includes(mark)]).toEqual([seed, goal === 'tool'])
  }
})
