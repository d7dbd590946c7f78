import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { badRequest } from '../../kit/errors.ts'
import { callWith, entryOf } from '../../test/chain.ts'
import { detectionOf } from '../../test/detection.ts'
import type { Call } from '../call/call.ts'
import { WholeReply } from '../call/reply.ts'
import type { Entry } from './entry.ts'
import type { Hooks } from './hooks.ts'
import { inspectRequest } from './inspect.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

const key = detectionOf([{ pattern: /k\d/, replacement: '[key]' }], { reach: 2 })
const slowly = (ms: number): void => void vi.advanceTimersByTime(ms)
const bug = (): never => {
  throw new TypeError('a bug')
}

async function inspected(
  hooks: Hooks,
  request: Record<string, unknown> = { user: 'k1' },
  failure: Entry['failure'] = 'open',
) {
  const call = callWith(request)
  const entry = entryOf('m', hooks, { failure })
  const step = await (async () => inspectRequest(entry, call, () => []))().catch((error: unknown) => error)
  return { call, entry, step, user: (step as Call | undefined)?.request?.user }
}

const hook = (later: boolean, run: (call: Call) => unknown): Hooks =>
  ({ request: later ? async (call: Call) => run(call) : run }) as unknown as Hooks

test.each([false, true])(
  'what it finds is out of the call that its own hook sees, and stays out (later: %s)',
  async (later) => {
    const seen: unknown[] = []
    const watching = hook(later, (call) => void seen.push(call.request.user))
    const { user } = await inspected({ detect: { request: key }, ...watching })
    expect([user, seen]).toEqual(['[key]', ['[key]']])
    const adding = hook(later, (call) => call.withRequest({ user: `${call.request.user}!` }))
    expect((await inspected({ detect: { request: key }, ...adding })).user).toBe('[key]!')
    expect((await inspected({ detect: { request: key } })).user).toBe('[key]')
    expect((await inspected({ detect: { request: key } }, { user: 'none' })).step).toBeUndefined()
  },
)

test('a detection with nothing to look for in the call leaves its request alone', async () => {
  const userOf = async (applies: () => boolean, failure: Entry['failure'] = 'open') => {
    const { user, step } = await inspected({ detect: { request: { ...key, applies } } }, undefined, failure)
    return user ?? step
  }
  expect(await userOf(() => true)).toBe('[key]')
  expect(await userOf(() => false)).toBeUndefined()
  expect(await userOf(bug)).toBeUndefined()
  expect(await userOf(bug, 'closed')).toMatchObject({ code: 'internal_error', module: 'm' })
})

test('a detection may log what it finds without any other effect', async () => {
  const scan = () => [{ start: 0, end: 2, label: 'key', action: 'log' as const, type: 'secret' as const }]
  const { call, step } = await inspected({ detect: { request: { reach: 2, scan } } })
  expect(step).toBeUndefined()
  expect(call.trace.findings).toMatchObject([
    { action: 'log', type: 'secret', severity: 'low', label: 'key', count: 1 },
  ])
})

test.each([false, true])('an answer of its own is the step (later: %s)', async (later) => {
  const answer = WholeReply.of({ choices: [] })
  expect((await inspected({ detect: { request: key }, ...hook(later, () => answer) })).step).toBe(answer)
})

test('a hook that fails later leaves what was found out of the call, and one that fails at once leaves the call', async () => {
  const later = await inspected({ detect: { request: key }, ...hook(true, bug) })
  expect([later.user, later.entry.meter.errors]).toEqual(['[key]', 1])
  const atOnce = await inspected(hook(false, bug))
  expect([atOnce.step, atOnce.entry.meter.errors]).toEqual([undefined, 1])
})

test.each([false, true])(
  'a refusal, or a failure where its policy is to, refuses (later: %s)',
  async (later) => {
    const refusing = (): never => {
      throw badRequest('no')
    }
    expect((await inspected(hook(later, refusing))).step).toMatchObject({ code: 'bad_request', module: 'm' })
    expect((await inspected(hook(later, bug), {}, 'closed')).step).toMatchObject({
      code: 'internal_error',
      module: 'm',
    })
  },
)

test.each<[string, Hooks]>([
  ['at once', { request: () => void slowly(5) as undefined }],
  ['later', { request: async () => void slowly(5) as undefined }],
  [
    'and fails',
    {
      request() {
        slowly(5)
        return bug()
      },
    },
  ],
  [
    'and returns nonsense',
    {
      request() {
        slowly(5)
        return 'nonsense' as never
      },
    },
  ],
  [
    'and fails later',
    {
      async request() {
        slowly(5)
        return bug()
      },
    },
  ],
])('the time that a hook takes %s is one run of it', async (_, hooks) => {
  const { call, entry } = await inspected(hooks)
  expect(call.trace.timings).toEqual([{ module: 'm', hook: 'request', ms: 5 }])
  expect([...entry.meter.hooks]).toEqual([['request', { calls: 1, totalMs: 5 }]])
})
