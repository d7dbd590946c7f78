import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Principal } from '../../kernel/call/call.ts'
import { callWith } from '../../test/chain.ts'
import { answerKey, type Circle, circleOf } from './answer-key.ts'

describe('the key of an answer', () => {
  const keyOf = (request: object, circle = 'c'): string => answerKey(callWith(request), circle)

  test('does not depend on the order of fields, and does on everything else', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(object, (fields) => {
        const reversed = Object.fromEntries(Object.entries(fields).reverse())
        expect(keyOf(reversed)).toBe(keyOf(fields))
      }),
    )
    fc.assert(
      fc.property(object, fc.string(), fc.jsonValue(), (fields, name, value) => {
        fc.pre(
          JSON.stringify(fields[name]) !== JSON.stringify(value) &&
            !ignored.has(name) &&
            name !== '__proto__',
        )
        expect(keyOf({ ...fields, [name]: value })).not.toBe(keyOf(fields))
      }),
    )
  })

  const ignored = new Set([
    'stream',
    'stream_options',
    'user',
    'metadata',
    'store',
    'service_tier',
    'safety_identifier',
  ])

  test('tells an object from a list of pairs, and one circle from another', () => {
    expect(keyOf({ a: { b: 1 } })).not.toBe(keyOf({ a: [['b', 1]] }))
    expect(keyOf({}, 'a')).not.toBe(keyOf({}, 'b'))
  })
})

describe('a circle', () => {
  const shares = ['user', 'project', 'tenant', 'everyone'] as const
  const names = fc.constantFrom('a', 'b', 'a a', 'user a', 'tenant a')
  const caller = fc.record({
    userId: fc.option(names, { nil: undefined }),
    keyId: names,
    tenant: fc.option(names, { nil: undefined }),
    project: names,
  })
  type Caller = Pick<Principal, 'userId' | 'keyId' | 'tenant'> & { readonly project: string }
  const circle = ({ project, ...who }: Caller, share: Circle): string =>
    circleOf(callWith({}, { principal: { type: 'user', plan: 'free', ...who }, context: { project } }), share)

  test('is never wider than the tenant, and says what its members have in common', () => {
    const self = (one: Caller): unknown => [
      one.tenant,
      ...(one.userId === undefined ? ['key', one.keyId] : ['user', one.userId]),
    ]
    const common = (one: Caller, share: Circle): unknown => {
      if (share === 'project') return [one.tenant, one.project]
      if (share === 'everyone' || (share === 'tenant' && one.tenant !== undefined)) return [one.tenant]
      return self(one)
    }
    fc.assert(
      fc.property(caller, caller, fc.constantFrom(...shares), (a, b, share) => {
        const same = JSON.stringify(common(a, share)) === JSON.stringify(common(b, share))
        expect(circle(a, share) === circle(b, share)).toBe(same)
      }),
    )
  })
})
