import { expect, test } from 'vitest'
import { z } from 'zod'
import { explain } from './explain.ts'

test('several failures at once are told with the reason of each, and each reason once', () => {
  const full = new Error('no space left')
  const inner = new AggregateError([full, new Error('a timer is left')], 'the kernel could not end')
  expect(explain(new AggregateError([inner, full], 'the gateway could not end'))).toBe(
    'the gateway could not end: the kernel could not end: no space left; a timer is left; no space left',
  )
  expect(explain(new AggregateError([full, full], 'twice'))).toBe('twice: no space left')
  expect(explain(new AggregateError([full], ''))).toBe('no space left')
})

test('anything thrown is one line', () => {
  expect(explain('as it is')).toBe('as it is')
  expect(explain(z.object({ a: z.string(), b: z.string() }).safeParse({}).error)).not.toContain('\n')
})
