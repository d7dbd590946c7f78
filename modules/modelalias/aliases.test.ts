import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Alias, compileAliases, findLoop } from './aliases.ts'

const alias = (model: string, defaults: Alias['defaults'] = {}): Alias => ({ model, defaults })
const modelOf = (aliases: Record<string, Alias>, name: string): string | undefined =>
  compileAliases(aliases)(name)?.model

test('an exact name outweighs a glob, an earlier glob a later one, and case does not count', () => {
  const aliases = { 'gpt-*': alias('first'), 'gpt-4*': alias('second'), 'GPT-4o': alias('exact') }
  expect(modelOf(aliases, 'gpt-4o')).toBe('exact')
  expect(modelOf(aliases, 'Gpt-4.1')).toBe('first')
  expect(modelOf(aliases, 'claude')).toBeUndefined()
})

test('an alias of an alias leads to its end, with the parameters of both, the nearer ones first', () => {
  const aliases = {
    poet: alias('writer', { temperature: 1.2 }),
    writer: alias('openai/gpt-4o', { temperature: 0.7, top_p: 0.9 }),
  }
  expect(compileAliases(aliases)('poet')).toEqual(alias('openai/gpt-4o', { temperature: 1.2, top_p: 0.9 }))
})

test('a glob holds for names that are asked for, not for those that an alias leads to', () => {
  const aliases = { fast: alias('openai/gpt-4o-mini'), '*': alias('openai/gpt-4o') }
  expect(modelOf(aliases, 'fast')).toBe('openai/gpt-4o-mini')
  expect(modelOf(aliases, 'anything')).toBe('openai/gpt-4o')
})

test('a model that leads to itself has parameters, and is the end for others', () => {
  const aliases = { 'gpt-4o': alias('gpt-4o', { temperature: 0 }), smart: alias('GPT-4o', { seed: 1 }) }
  expect(findLoop(aliases)).toBeUndefined()
  expect(compileAliases(aliases)('gpt-4o')).toEqual(alias('gpt-4o', { temperature: 0 }))
  expect(compileAliases(aliases)('smart')).toEqual(alias('gpt-4o', { temperature: 0, seed: 1 }))
})

test('a loop is found and named, from any alias that leads into it', () => {
  expect(findLoop({ a: alias('b'), b: alias('a') })).toEqual(['b', 'a', 'b'])
  expect(findLoop({ x: alias('a'), a: alias('b'), b: alias('C'), c: alias('a') })).toEqual([
    'b',
    'C',
    'a',
    'b',
  ])
  expect(findLoop({ 'x-*': alias('a'), a: alias('b'), b: alias('c') })).toBeUndefined()
})

test('whatever the aliases, either a loop is named or every name leads to an end', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
  fc.assert(
    fc.property(fc.dictionary(name, name), (names) => {
      const aliases = Object.fromEntries(Object.entries(names).map(([key, model]) => [key, alias(model)]))
      const loop = findLoop(aliases)
      if (loop) {
        expect(loop[0]).toBe(loop.at(-1))
        for (const [i, from] of loop.slice(0, -1).entries()) expect(names[from]).toBe(loop[i + 1])
        return
      }
      const resolve = compileAliases(aliases)
      for (const key of Object.keys(names)) {
        const { model } = resolve(key)!
        expect([undefined, model]).toContain(names[model])
      }
    }),
  )
})
