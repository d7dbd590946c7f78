import { expect, test } from 'vitest'
import { callWith, entryOf } from '../../test/chain.ts'
import type { Candidate } from '../contract/routing.ts'
import type { Hooks } from './hooks.ts'
import { targetHooksOf } from './targets.ts'

const target: Candidate = { provider: 'p', model: 'm' }
const call = callWith()

test('where no module has a word on targets there are no hooks for them, and one is enough', () => {
  expect(targetHooksOf([])).toBeUndefined()
  expect(targetHooksOf([entryOf('other', { request: () => undefined })])).toBeUndefined()
  const judging = targetHooksOf([entryOf('judges', { eligible: () => 'no' })])
  expect(judging?.refusal(target, call)).toEqual({ module: 'judges', reason: 'no' })
  expect(judging?.preference(target, call)).toBe(0)
  const preferring = targetHooksOf([entryOf('prefers', { prefers: () => 2 })])
  expect(preferring?.refusal(target, call)).toBeUndefined()
  expect(preferring?.preference(target, call)).toBe(2)
  const both = targetHooksOf([entryOf('both', { eligible: () => 'no', prefers: () => 2 })])
  expect([both?.refusal(target, call)?.reason, both?.preference(target, call)]).toEqual(['no', 2])
})

test('the first module that refuses a target says why, and preferences add up, of modules for this call', () => {
  const apart = { when: () => 'users' as const }
  const hooks = targetHooksOf([
    entryOf('apart', { eligible: () => 'not for this call', prefers: () => 100 }, apart),
    entryOf('content', { eligible: () => undefined, prefers: ({ provider }) => (provider === 'p' ? 3 : 0) }),
    entryOf('first', { eligible: () => 'first' }),
    entryOf('second', { eligible: () => 'second', prefers: () => -1 }),
  ])
  expect(hooks?.refusal(target, call)).toEqual({ module: 'first', reason: 'first' })
  expect(hooks?.preference(target, call)).toBe(2)
})

const odd: readonly (readonly [string, Hooks, string])[] = [
  ['a number as a reason', { eligible: () => 7 as never }, 'eligible: TypeError'],
  ['null as a reason', { eligible: () => null as never }, 'eligible: TypeError'],
  ['an error over a reason', { eligible: fail }, 'eligible: Error'],
  ['no number as a preference', { prefers: () => Number.NaN }, 'prefers: TypeError'],
  ['a text as a preference', { prefers: () => '7' as never }, 'prefers: TypeError'],
  ['an error over a preference', { prefers: fail }, 'prefers: Error'],
]

function fail(): never {
  throw new Error('out of order')
}

test.each(odd)('%s is a failure, by the policy of the module', (_, hooks, detail) => {
  const open = entryOf('open', hooks, { failure: 'open' })
  const made = targetHooksOf([open])!
  expect([made.refusal(target, call), made.preference(target, call)]).toEqual([undefined, 0])
  expect(open.meter.events.map((event) => event.detail)).toEqual([detail])
  const closed = targetHooksOf([entryOf('closed', hooks, { failure: 'closed' })])!
  expect(() => [closed.refusal(target, call), closed.preference(target, call)]).toThrow(
    expect.objectContaining({ module: 'closed', status: 500 }),
  )
})
