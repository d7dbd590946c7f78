import { expect, test } from 'vitest'
import { callWith } from '../../test/chain.ts'
import { priorityOf } from './priority.ts'

const urgencyOf = (said: string | undefined, source = 'proxy') =>
  priorityOf(callWith({}, { context: { source, headers: said === undefined ? {} : { 'x-priority': said } } }))

test.each([
  ['high', 'high'],
  ['Normal', 'normal'],
  ['LOW', 'low'],
  ['', 'normal'],
  [undefined, 'normal'],
])('X-Priority: %j is the priority %s', (said, priority) => {
  expect(urgencyOf(said)).toBe(priority)
})

test('what the gateway does in the background is low, unless it says otherwise', () => {
  for (const source of ['batch', 'replay', 'redteam', 'calibration', 'workflow'])
    expect(urgencyOf(undefined, source)).toBe('low')
  expect(urgencyOf(undefined, 'playground')).toBe('normal')
  expect(urgencyOf('high', 'batch')).toBe('high')
})

test.each(['urgent', '1', 'high, low'])(
  'X-Priority: %s is refused with the values that there are',
  (said) => {
    expect(() => urgencyOf(said)).toThrow('X-Priority must be one of high, normal, low.')
  },
)
