import { expect, test } from 'vitest'
import { answerKey } from '../../kit/answers/answer-key.ts'
import { callWith, entryOf } from '../../test/chain.ts'
import type { Call } from '../call/call.ts'
import { WholeReply } from '../call/reply.ts'
import { Chain } from './chain.ts'
import type { Entry } from './entry.ts'
import type { Hooks, Stage } from './hooks.ts'

/** The key under which a module of the stage `cache` would keep the answer. */
async function keyOf(others: readonly Entry[], call: Call): Promise<string> {
  let key = ''
  const cache: Hooks = {
    around(seen, next) {
      key = answerKey(seen, 'everyone')
      return next(seen)
    },
  }
  const chain = new Chain([entryOf('cache', cache, { stage: 'cache' }), ...others], async () =>
    WholeReply.of({ choices: [] }),
  )
  await chain.run(call)
  return key
}

const callOf = (tone?: string): Call => callWith({}, { context: { headers: tone ? { 'x-tone': tone } : {} } })
const varies = ({ context }: Call): string | undefined => context.headers['x-tone'] as string | undefined
const module = (hooks: Hooks = { varies }, more: Partial<Entry> = {}, stage: Stage = 'verify'): Entry =>
  entryOf('tone', hooks, { stage, ...more })

test('what modules inside say an answer varies by tells keys apart, and nothing else does', async () => {
  const inside = [module()]
  expect(await keyOf(inside, callOf('dry'))).toBe(await keyOf(inside, callOf('dry')))
  expect(await keyOf(inside, callOf('dry'))).not.toBe(await keyOf(inside, callOf('warm')))
  expect(await keyOf(inside, callOf())).toBe(await keyOf([], callOf('dry')))
})

test('modules outside of the cache are not asked', async () => {
  const outside = [module({ varies }, {}, 'shape'), module({ varies }, {}, 'cache')]
  expect(await keyOf(outside, callOf('dry'))).toBe(await keyOf(outside, callOf('warm')))
})

test('calls to which a module does not apply do not vary by it', async () => {
  const some = [module({ varies }, { when: ({ id }) => (id === 'tr_1' ? undefined : 'users') })]
  const other = callWith({}, { id: 'tr_2', context: { headers: { 'x-tone': 'dry' } } })
  expect(await keyOf(some, other)).toBe(await keyOf([], callOf()))
  expect(await keyOf(some, callOf('dry'))).not.toBe(await keyOf(some, other))
})

test.each([
  () => Promise.resolve('late'),
  () => Promise.reject(new Error('no')).catch(() => 5),
  fail,
] as const)('the answer of a call for which a module cannot say it is nobody else’s (%#)', async (broken) => {
  const open = [module({ varies: broken as never }, { failure: 'open' })]
  expect(await keyOf(open, callOf())).not.toBe(await keyOf(open, callOf()))
  expect(open[0]!.meter.errors).toBe(2)
  const closed = [module({ varies: broken as never }, { failure: 'closed' })]
  await expect(keyOf(closed, callOf())).rejects.toMatchObject({ module: 'tone', status: 500 })
})

function fail(): never {
  throw new Error('no')
}
