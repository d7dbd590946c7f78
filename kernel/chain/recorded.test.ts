import { describe, expect, test } from 'vitest'
import { callWith, entryOf as moduleOf, oneByOne } from '../../test/chain.ts'
import { detectionOf } from '../../test/detection.ts'
import type { Attempt } from '../call/attempt.ts'
import type { Call } from '../call/call.ts'
import { StreamReply, WholeReply } from '../call/reply.ts'
import type { Detection } from '../detect/detect.ts'
import { looksElsewhere } from './batches.ts'
import { Chain } from './chain.ts'
import type { Entry } from './entry.ts'
import { type Hooks, hooksOf, type Stage } from './hooks.ts'

/** What may be recorded of a call, and what its trace is told on the way. */

const answer = WholeReply.of({ choices: [] })
const entryOf = (id: string, stage: Stage, hooks: Hooks): Entry => moduleOf(id, hooks, { stage })
const adding = (what: string): Hooks => ({
  request: (call) => call.withRequest({ user: `${call.request.user ?? ''}${what}` }),
})

async function recorded(entries: readonly Entry[], call = callWith()) {
  let atProvider: unknown
  const chain = new Chain(entries, async (made) => {
    atProvider = made.trace.request?.user
    return answer
  })
  await chain.run(call)
  return atProvider
}

describe('what is recorded of a request is what the guards have let pass', () => {
  test.each<[string, [Stage, Hooks][], string | undefined]>([
    ['no module', [], undefined],
    ['a guard alone', [['inspect', adding('a')]], undefined],
    [
      'several guards alone',
      [
        ['access', adding('a')],
        ['inspect', adding('b')],
        ['inspect', adding('c')],
      ],
      undefined,
    ],
    [
      'modules behind guards',
      [
        ['access', adding('a')],
        ['inspect', adding('b')],
        ['shape', adding('c')],
      ],
      'ab',
    ],
    [
      'several behind them',
      [
        ['inspect', adding('a')],
        ['route', adding('b')],
        ['deliver', adding('c')],
      ],
      'a',
    ],
    [
      'one that wraps the call among them',
      [
        ['access', { around: (call, next) => next(call) }],
        ['inspect', adding('a')],
        ['shape', { around: (call, next) => next(call) }],
        ['cache', adding('b')],
        ['deliver', adding('c')],
      ],
      'a',
    ],
    [
      'one that only has something for answers',
      [
        ['inspect', adding('a')],
        ['shape', { stream: () => undefined }],
        ['cache', adding('b')],
      ],
      'a',
    ],
  ])('%s', async (_, modules, user) => {
    expect(await recorded(modules.map(([stage, hooks], n) => entryOf(`m${n}`, stage, hooks)))).toBe(user)
  })
})

/** Takes out more each time that it looks. */
const growing = (what: string): Detection =>
  detectionOf([{ pattern: new RegExp(what), replacement: `${what}${what}` }], { reach: 1 })
const blocking = detectionOf([{ pattern: /k/, replacement: '' }], { reach: 1, action: 'block' })

test('of a request that a guard refuses is recorded what the guards behind it that look would have left', async () => {
  const guard = (id: string, request: Detection, more: Partial<Entry> = {}): Entry =>
    moduleOf(id, { detect: { request } }, more)
  const entries = [
    guard('before', growing('1')),
    guard('blocks', blocking),
    moduleOf('other', { detect: { reply: growing('2') } }),
    guard('behind', growing('3')),
    guard('not for this call', growing('4'), { when: () => 'users' }),
  ]
  const call = callWith({ user: '1234k' })
  await expect(recorded(entries, call)).rejects.toMatchObject({ type: 'content_blocked', module: 'blocks' })
  expect(call.trace.request?.user).toBe('112334[blocked: k]')

  const unseen = callWith({ user: '1234k' })
  const elsewhere = moduleOf('far', { request: () => undefined, [looksElsewhere]: true })
  await expect(recorded([...entries, elsewhere], unseen)).rejects.toMatchObject({ module: 'blocks' })
  expect(unseen.trace.request).toBeUndefined()
})

test('an answer that a module gives is noted, and later modules are asked nothing', async () => {
  const call = callWith()
  const asked: string[] = []
  const chain = new Chain(
    [
      entryOf('gives', 'shape', { request: async () => answer }),
      entryOf('behind', 'cache', { request: () => void asked.push('behind') as undefined }),
    ],
    async () => WholeReply.of({ choices: [] }),
  )
  expect(await chain.run(call)).toBe(answer)
  expect(asked).toEqual([])
  expect(call.trace.notes).toEqual([{ module: 'gives', verdict: 'answered' }])
})

test('the attempt whose answer came last is the one that served, and none after that', async () => {
  const call = callWith()
  const attempts = [1, 2].map((n) => ({ n }) as Attempt)
  let asked = 0
  const chain = new Chain(
    [
      entryOf('twice', 'deliver', {
        async around(made, next) {
          await next(made)
          return next(made)
        },
      }),
    ],
    async () => WholeReply.of({ choices: [] }).by(attempts[asked++]!),
  )
  await chain.run(call)
  expect(call.trace.served).toBe(attempts[1])
})

test('what is revealed is revealed by modules that apply to the call, streamed or whole', async () => {
  const reveal = detectionOf([{ pattern: /x/, replacement: 'y' }], { reach: 1 })
  const body = {
    choices: [
      { index: 0, message: { role: 'assistant' as const, content: 'x' }, finish_reason: 'stop' as const },
    ],
  }
  const shown = async (more: Partial<Entry>): Promise<unknown> => {
    const chain = new Chain([moduleOf('masks', { reveal }, more)], async () => answer)
    const reply = await chain.reveal(WholeReply.of(body), callWith())
    return (reply as WholeReply).body.choices?.[0]?.message?.content
  }
  expect(await shown({})).toBe('y')
  expect(await shown({ when: () => 'users' })).toBe('x')
  const nothing = new StreamReply('', oneByOne([]))
  expect(new Chain([], async () => answer).reveal(nothing, callWith())).toBe(nothing)
})

test('the hooks of a module are those that are there, and what it says of them is none', () => {
  const request = (call: Call): Call => call
  expect(hooksOf({ pure: true, request, reply: undefined, stream: 'buffer' })).toEqual(['request', 'stream'])
  expect(hooksOf({})).toEqual([])
})
