import { expect, test } from 'vitest'
import type { Principal } from '../../kernel/call/call.ts'
import { callWith } from '../../test/chain.ts'
import { compileWhen, type When, whenSchema } from './when.ts'

/** Of a user, on a plan. */
const { principal } = callWith()
const context = { project: 'docs', tags: { team: 'a', tier: '1' } }
const call = callWith({ model: 'GPT-4o-mini' }, { principal, context })

test.each<[When, string | undefined]>([
  [{ projects: ['docs'] }, undefined],
  [{ projects: ['other', 'docs'] }, undefined],
  [{ projects: ['other'] }, 'projects'],
  [{ projects: [] }, 'projects'],
  [{ users: ['usr_1'] }, undefined],
  [{ users: ['usr_2'] }, 'users'],
  [{ keys: ['key_1'] }, undefined],
  [{ keys: ['key_2'] }, 'keys'],
  [{ plans: ['free'] }, undefined],
  [{ plans: ['team'] }, 'plans'],
  [{ models: ['gpt-4o-mini'] }, undefined],
  [{ models: ['claude-*', 'gpt-*'] }, undefined],
  [{ models: ['claude-*'] }, 'models'],
  [{ models: ['*-4O-*', 'gpt'] }, undefined],
  [{ tags: { team: 'a' } }, undefined],
  [{ tags: { team: 'a', tier: '1' } }, undefined],
  [{ tags: { team: 'a', tier: '2' } }, 'tags'],
  [{ tags: { none: 'a' } }, 'tags'],
  [{ percent: 100 }, undefined],
  [{ percent: 0 }, 'percent'],
  [{ projects: ['docs'], users: ['usr_2'], keys: ['key_2'] }, 'users'],
  [{ percent: 0, tags: { team: 'b' } }, 'tags'],
])('of %j a call does not meet: %s', (when, condition) => {
  expect(compileWhen(whenSchema.parse(when))?.(call)).toBe(condition)
})

test('a share of nothing takes not even the first id, and one of a hundredth takes it alone', () => {
  const takes = (percent: number, id: string) => compileWhen({ percent })!(callWith({}, { id })) === undefined
  expect([takes(0, 'tr_0000'), takes(0.01, 'tr_0000'), takes(0.01, 'tr_0001')]).toEqual([false, true, false])
})

test('without conditions there is nothing to ask', () => {
  expect(compileWhen(undefined)).toBeUndefined()
  expect(compileWhen({})).toBeUndefined()
})

test('who has no user and no plan meets no condition on them', () => {
  const { userId: _, plan: __, ...admin } = principal
  const other = callWith({}, { principal: { ...admin, type: 'admin' } as Principal, context })
  for (const when of [{ users: ['usr_1'] }, { plans: ['free'] }])
    expect(compileWhen(when)?.(other)).toBe(Object.keys(when)[0])
})

test.each([
  [{ projects: [''] }],
  [{ percent: -1 }],
  [{ percent: 101 }],
  [{ tags: { a: 1 } }],
  [{ project: ['docs'] }],
])('%j is no condition', (when) => {
  expect(whenSchema.safeParse(when).success).toBe(false)
})

test('a share takes as many calls as it says, the same ones always, and a larger one those of a smaller', () => {
  const made = callWith()
  const calls = Array.from({ length: 1000 }, (_, n) => {
    const random = ((n * 7919) % 32 ** 4).toString(32).padStart(4, '0')
    return Object.create(made, { id: { value: `tr_${random}` } }) as typeof made
  })
  const taken = (percent: number): Set<string> => {
    const unmet = compileWhen({ percent })!
    return new Set(calls.filter((call) => unmet(call) === undefined).map(({ id }) => id))
  }
  for (const percent of [1, 25, 50, 99.9]) {
    expect(taken(percent).size / calls.length).toBeCloseTo(percent / 100, 1)
    expect(taken(percent)).toEqual(taken(percent))
  }
  expect([...taken(25)].every((id) => taken(50).has(id))).toBe(true)
})
