import { expect, test } from 'vitest'
import { Configurations } from './configurations.ts'

test('of a configuration that is being replaced the later one counts, and the earlier one again when that goes', () => {
  const all = new Configurations<string>()
  const removeFirst = all.add('m', 'first')
  const removeBound = all.add('m/a', 'bound')
  const removeSecond = all.add('m', 'second')
  expect(all.values).toEqual(['second', 'bound'])
  removeSecond()
  removeSecond()
  expect(all.values).toEqual(['first', 'bound'])
  all.add('m', 'third')
  removeFirst()
  removeBound()
  expect(all.values).toEqual(['third'])
})
