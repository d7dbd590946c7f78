import { IpRanges, isIpRange, patternTest } from '#kit'
import type { Facts } from './facts.ts'
import type { PolicyRule } from './shapes.ts'

type Read = (facts: Facts) => readonly (string | undefined)[]

/** The test of a rule for a value of the call: that one of its values matches, or, negated, that none does. */
export function valueTest({ field, pattern, negate = false }: PolicyRule): (facts: Facts) => boolean {
  const read = readerOf(field)
  const matches = field === 'ip' && isIpRange(pattern) ? inRange(pattern) : patternTest(pattern)
  return (facts) => read(facts).some((value) => value !== undefined && matches(value)) !== negate
}

/** The same for the name of a model. */
export function modelTest({ pattern, negate = false }: PolicyRule): (facts: Pick<Facts, 'model'>) => boolean {
  const matches = patternTest(pattern)
  return ({ model }) => matches(model) !== negate
}

function readerOf(field: string): Read {
  if (field === 'user.id') return ({ userId }) => [userId]
  if (field === 'ip') return ({ ip }) => [ip]
  if (field === 'tags.*') return ({ tags }) => Object.values(tags)
  const tag = field.slice('tags.'.length)
  return ({ tags }) => (Object.hasOwn(tags, tag) ? [tags[tag]] : [])
}

function inRange(range: string): (address: string) => boolean {
  const ranges = new IpRanges([range])
  return (address) => ranges.has(address)
}
